"""Mean and deviation of a request's similarity to many vectors, from their sum and their products, without a scan.

For unit vectors v and a request q: mean = q . sum(v) / n, and the mean square = q . sum(v v^T) . q / n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.products import products

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toolsearch.protocols import Floats

    Doubles = NDArray[np.float64]

CHUNK: Final = 8192
"""Vectors that are multiplied at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """count: how many vectors; total: (dimension,) float64 sum; products: (dimension, dimension) float64."""

    count: int
    total: Doubles
    products: Doubles

    @classmethod
    def of(cls, vectors: Floats, rows: NDArray[np.int64]) -> Moments:
        """Those of some rows of vectors, (n, dimension) float32."""
        dimension = vectors.shape[1]
        total, products = np.zeros(dimension), np.zeros((dimension, dimension))
        for start in range(0, len(rows), CHUNK):
            part = vectors[rows[start : start + CHUNK]]
            total += part.sum(axis=0, dtype=np.float64)
            products += part.T @ part
        return cls(len(rows), total, products)

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.count + other.count, self.total + other.total, self.products + other.products)

    def __sub__(self, other: Moments) -> Moments:
        return Moments(self.count - other.count, self.total - other.total, self.products - other.products)

    def spread(self, query: Floats) -> tuple[float, float]:
        """Mean and standard deviation of the inner products with a vector; 0 and 0 when there are no vectors."""
        if self.count <= 0:
            return 0.0, 0.0
        vector = query.astype(np.float64)
        mean = float(self.total @ vector) / self.count
        square = float(vector @ products(self.products, vector)) / self.count
        return mean, math.sqrt(max(square - mean * mean, 0.0))
