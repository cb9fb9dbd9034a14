"""Products of a matrix and a vector on the path of a search."""

from __future__ import annotations

from typing import Any

import numpy as np


def products(matrix: Any, vector: Any) -> Any:
    """The inner product of each row, (rows,), in the matrix's type.

    Row by row: for all rows at once a BLAS would start threads, which spin beside other searches and cost several times
    the work.
    """
    return np.vecdot(matrix, vector)
