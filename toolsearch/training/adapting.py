"""A team's own data: a linear map of requests' vectors, fitted from what its searches led to.

Only the side of the requests changes, so a catalog's vectors stay valid. Nothing but numpy is needed. The requests are
taken in the order of the file, which is that of time: the last ones are never learnt from, and the map is kept only
when it wins on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.encoders.adapted import Adaptation, AdaptedEncoder
from toolsearch.engines.postings import offsets
from toolsearch.errors import InvalidInput
from toolsearch.evaluation.comparison import Difference, compare
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.runs import run
from toolsearch.strategies.corpus import MemoryCorpus
from toolsearch.strategies.corpus import view as make_view
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.strategies.segment import dense_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toolsearch.index.tool_index import ToolIndex
    from toolsearch.protocols import Encoder, Floats, Rows, ToolView

LEAST: Final = 40
"""Requests below which nothing can be learnt and tested."""
HELD_OUT: Final = 0.3
"""Share of the requests, the latest ones, that a map is tested on."""
TRIED: Final = 0.2
"""Share of the others, again the latest, by which the number of steps is chosen."""
TEMPERATURE: Final = 0.05
RATES: Final = (2e-4, 1e-3, 2e-2)
PULL: Final = 1e-4
STEPS: Final = 80
EVERY: Final = 5
STRANGERS: Final = 600
"""Tools from anywhere in the catalog that are learnt against, besides the nearest ones."""
NEAR: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Requests and tools as vectors: queries (n, d), tools (m, d); right (n, m) is true where a tool is right."""

    queries: Floats
    tools: Floats
    right: NDArray[np.bool_]

    def some(self, chosen: slice) -> Judged:
        """Some of the requests."""
        return Judged(queries=self.queries[chosen], tools=self.tools, right=self.right[chosen])


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapted:
    """A map and what it is worth: NDCG@10 with it minus that without, on the requests held out."""

    adaptation: Adaptation
    learnt: int
    tested: int
    gain: Difference

    @property
    def kept(self) -> bool:
        """Whether the gain is more than luck: its 95 % interval lies above 0."""
        return self.gain.low > 0


def adapt(queries: Sequence[JudgedQuery], index: ToolIndex) -> Adapted:
    """A map for an index, and its test against the index without one. Nothing is written.

    Raises:
        InvalidInput: the requests are too few, or the index's encoder cannot be adapted.
        MissingExtra: `ir-measures` is not installed.
    """
    view = index.view()
    corpus = view.corpus
    encoder = corpus.encoder.plain if isinstance(corpus.encoder, AdaptedEncoder) else corpus.encoder
    if encoder is None or not isinstance(corpus, MemoryCorpus):
        raise InvalidInput("this index has no vectors that it can use, so there is nothing to adapt")
    if hasattr(encoder, "for_others"):
        raise InvalidInput(f"{encoder.id[:40]!r} holds two readings of a text; only an encoder with one can be adapted")
    early, late = parted(_usable(queries, view))
    found = fitted(_gathered(early, corpus, encoder), encoder.id)
    sides = (encoder, AdaptedEncoder(encoder, found))
    views = [make_view(corpus.asked_by(side), None, None, ()) for side in sides]
    return Adapted(adaptation=found, learnt=len(early), tested=len(late), gain=_gain(late, views))


def _usable(queries: Sequence[JudgedQuery], view: ToolView) -> list[JudgedQuery]:
    """Requests whose right tools are there, in order."""
    found = [one for one in queries if one.query.strip() and any(view.get(tool) for tool in one.relevant)]
    if len(found) < LEAST:
        raise InvalidInput(
            f"{len(found)} requests with a tool of this catalog; {LEAST} are needed to learn and to test"
        )
    return found


def parted(queries: Sequence[JudgedQuery]) -> tuple[list[JudgedQuery], list[JudgedQuery]]:
    """The earlier requests, to learn from, and the latest, to test on; none of the latter is asked in the former."""
    split = round(len(queries) * (1 - HELD_OUT))
    early, late = list(queries[:split]), list(queries[split:])
    known = {" ".join(one.query.lower().split()) for one in early}
    return early, [one for one in late if " ".join(one.query.lower().split()) not in known]


def _gathered(queries: Sequence[JudgedQuery], corpus: MemoryCorpus, encoder: Encoder) -> Judged:
    """Vectors of the requests, of their right tools, of the tools nearest to them, and of some others."""
    vectors = encoder.encode([one.query for one in queries], "query")
    rows = corpus.rows(corpus.everyone())
    tools = _vectors(corpus, rows)
    place = {int(row): number for number, row in enumerate(rows)}
    known = [[corpus.row(tool) for tool in one.relevant] for one in queries]
    right = [[place[row] for row in one if row in place] for one in known]
    near = np.argsort(-(vectors @ tools.T), axis=1)[:, :NEAR]
    some = np.random.default_rng(0).permutation(len(rows))[:STRANGERS]
    chosen = np.unique(np.concatenate([near.ravel(), some, *map(np.array, right)]).astype(np.int64))
    marked = np.zeros((len(queries), len(rows)), np.bool_)
    for row, places in enumerate(right):
        marked[row, places] = True
    return Judged(queries=vectors, tools=tools[chosen], right=marked[:, chosen])


def _vectors(corpus: MemoryCorpus, rows: Rows) -> Floats:
    """The vectors of tools as the index keeps them, (len(rows), dimension) float32."""
    parts = [one.vectors for one in dense_of(corpus.segments)]
    if not parts:
        raise InvalidInput("this index has no vectors, so there is nothing to adapt")
    found = np.zeros((len(rows), parts[0].shape[1]), np.float32)
    for (start, end), part in zip(offsets(len(one) for one in parts), parts, strict=True):
        here = (rows >= start) & (rows < end)
        found[here] = part[rows[here] - start]
    return found


def fitted(judged: Judged, encoder: str) -> Adaptation:
    """The map, at the rate and after the steps that served the latest of the requests best; no step is possible too."""
    split = round(len(judged.queries) * (1 - TRIED))
    early, tried = judged.some(slice(0, split)), judged.some(slice(split, None))
    best = _found(Adaptation(encoder, _zero(judged)), tried), 0.0, 0
    for rate in RATES:
        for done, change in enumerate(_descent(early, rate), 1):
            if done % EVERY == 0 and (value := _found(Adaptation(encoder, change), tried)) > best[0]:
                best = value, rate, done
    *_, change = (_zero(judged), *islice(_descent(judged, best[1]), best[2]))
    return Adaptation(encoder, change)


def _zero(judged: Judged) -> Floats:
    return np.zeros((judged.queries.shape[1],) * 2, np.float32)


def _descent(judged: Judged, rate: float) -> Iterator[Floats]:
    """The map after each step: gradient descent (Adam) on the cross-entropy of the right tools, pulled to no change."""
    change = _zero(judged)
    first, second = np.zeros_like(change), np.zeros_like(change)
    wanted = judged.right / judged.right.sum(axis=1, keepdims=True)
    for step in range(1, STEPS + 1):
        logits = (judged.queries + judged.queries @ change) @ judged.tools.T / TEMPERATURE
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        slope = judged.queries.T @ ((chances - wanted) @ judged.tools) / (TEMPERATURE * len(wanted)) + PULL * change
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        moment = first / (1 - 0.9**step), second / (1 - 0.999**step)
        change = (change - rate * moment[0] / (np.sqrt(moment[1]) + 1e-8)).astype(np.float32)
        yield change


def _found(one: Adaptation, judged: Judged) -> float:
    """Mean reciprocal rank of the best right tool."""
    scores = one.moved(judged.queries) @ judged.tools.T
    best = np.where(judged.right, scores, -np.inf).max(axis=1, keepdims=True)
    return float((1 / (1 + (scores > best).sum(axis=1))).mean())


def _gain(queries: Sequence[JudgedQuery], views: Sequence[ToolView]) -> Difference:
    """NDCG@10 of the second view minus that of the first."""
    pairs = [(one.id, one.query) for one in queries]
    retriever = open_retriever("hybrid")
    before, after = (measure(queries, list(run(retriever, view, pairs)), ["nDCG@10"])["nDCG@10"] for view in views)
    return compare(before, after)
