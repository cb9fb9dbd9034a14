"""`python -m benchmarks planner INDEX`: where approximate search begins to pay, and what it finds, by size."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
import typer

from toolsearch import ToolIndex
from toolsearch.engines import approximate, dense
from toolsearch.engines.dense import DenseEngine, DenseSegment
from toolsearch.engines.moments import Moments
from toolsearch.engines.nearest import POOL, TEN, Nearest, exact_best
from toolsearch.evaluation.tables import table
from toolsearch.protocols import RowSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

ROUNDS: Final = 3


def planner(
    index: Annotated[Path, typer.Argument(help="An index with vectors; above 16,384 tools, some are left out.")],
    requests: Annotated[Path, typer.Argument(help="JSON lines with a `query` each.")],
    sizes: Annotated[str, typer.Option(help="Numbers of tools, separated by commas.")] = "4096,8192,17330",
    most: Annotated[int, typer.Option(help="Requests, evenly picked.")] = 150,
) -> None:
    """Exact against approximate similarity of real requests: CPU of a search, recall of the exact ten best."""
    lines = [json.loads(line)["query"] for line in requests.read_text("utf-8").splitlines()]
    texts = list(dict.fromkeys(lines[:: max(1, len(lines) // most)]))[:most]
    with ToolIndex.open(index, read_only=True) as opened:
        corpus = opened.view().corpus
        similar, encoder = corpus.dense, corpus.encoder
        if encoder is None or similar is None:
            raise typer.BadParameter("the index has no vectors")
        asked = np.concatenate([encoder.encode([text], "query") for text in texts])
        segments: Sequence[DenseSegment] = getattr(similar, "_segments")  # noqa: B009 - measured from outside
        vectors = np.array(max(segments, key=len).vectors)
    vectors = vectors[np.random.default_rng(0).permutation(len(vectors))]
    head = ["tools", "exact ms", "approximate ms", "cells", "cells looked into", "refined a row", "recall"]
    wanted = sorted({min(int(one), len(vectors)) for one in sizes.split(",")})
    print(table([*head, "on its own sample"], [_row(vectors[:count], asked) for count in wanted]))


def _row(vectors: Vectors, asked: Vectors) -> list[str]:
    segment = DenseSegment.of(vectors)
    exact = _spent(asked, DenseEngine([segment]))
    nearest = Nearest.trained(segment.vectors)
    if nearest is None:
        return [f"{len(vectors):,}", f"{exact:.2f}", *["none good enough"] + [""] * 5]
    moments = Moments.of(segment.vectors, np.arange(len(vectors)))
    near = DenseSegment(segment.vectors, segment.missing, nearest, moments)
    best = exact_best(segment.vectors, asked)
    with _no_bound():
        engine = DenseEngine([near])
        spent = _spent(asked, engine)
        found = [_found(engine, request)[:TEN] for request in asked]
    share = np.mean([len(np.intersect1d(one, other)) / TEN for one, other in zip(found, best, strict=True)])
    effort = nearest.effort
    cells = [f"{nearest.cells}", f"{effort.probes}", f"{effort.factor}"]
    return [f"{len(vectors):,}", f"{exact:.2f}", f"{spent:.2f}", *cells, f"{share:.3f}", f"{nearest.recall:.3f}"]


@contextmanager
def _no_bound() -> Iterator[None]:
    """Few rows are searched approximately too, to see what that would cost."""
    before = dense.EXACT, approximate.EXACT
    dense.EXACT = approximate.EXACT = 0  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        dense.EXACT, approximate.EXACT = before  # pyright: ignore[reportAttributeAccessIssue]


def _found(engine: DenseEngine, request: Any) -> NDArray[np.int32]:
    scores = engine.score(request, RowSet("everyone"))
    _ = scores.mean, scores.std
    return scores.top(POOL).rows


def _spent(asked: Vectors, engine: DenseEngine) -> float:
    """Median CPU ms of scores, statistics and the best rows."""
    times: list[float] = []
    for turn in range(ROUNDS):
        for request in asked:
            before = time.thread_time()
            _found(engine, request)
            times += [(time.thread_time() - before) * 1e3] if turn else []
    return float(np.median(times))
