"""A team's own data: a linear map of requests' vectors, fitted from what its searches led to.

Only the side of the requests changes, so a catalog's vectors stay valid. Nothing but numpy is needed. The requests are
taken in the order of the file, which is that of time: the last ones are never learnt from, and the map is kept only
when it clearly wins on enough of them, over no map and over the one that is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.encoders.adapted import Adaptation, AdaptedEncoder, request_id, without
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

LEAST: Final = 30
"""Different requests that a map must be tested on at least."""
LUCK: Final = 0.05
"""Chance of a gain by luck from which it does not count."""
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
    """A map as its file will hold it, and what it is worth in NDCG@10 on the requests held out.

    `gain` is with it minus without any. `ahead` is with it minus with the map that the index has, `before` with that
    one minus without any; both None where it has none.
    """

    adaptation: Adaptation
    learnt: int
    tested: int
    gain: Difference
    ahead: Difference | None = None
    before: Difference | None = None

    @property
    def kept(self) -> bool:
        """Whether it is clearly better than no map, and than the one that is there."""
        return all(_clear(one) for one in (self.gain, self.ahead) if one is not None)


def _clear(gain: Difference) -> bool:
    """Whether it is more than luck: the 95 % interval lies above 0, and so says the test of random signs."""
    return gain.low > 0 and gain.p < LUCK


def adapt(queries: Sequence[JudgedQuery], index: ToolIndex) -> Adapted:
    """A map for an index, and its test against the index without one and with the one it has. Nothing is written.

    Raises:
        InvalidInput: the requests are too few, or the index's encoder cannot be adapted.
        MissingExtra: `ir-measures` is not installed.
    """
    view = index.view()
    corpus = view.corpus
    encoder = None if corpus.encoder is None else without(corpus.encoder)
    if encoder is None or not isinstance(corpus, MemoryCorpus):
        raise InvalidInput("this index has no vectors that it can use, so there is nothing to adapt")
    if hasattr(encoder, "for_others"):
        raise InvalidInput(f"{encoder.id[:40]!r} holds two readings of a text; only an encoder with one can be adapted")
    early, late = _enough(queries, view)
    found = fitted(_gathered(early, corpus, encoder), encoder.id).as_written()
    sides = [encoder, AdaptedEncoder(encoder, found)]
    if corpus.encoder is not None and request_id(corpus.encoder) != request_id(encoder):
        sides.append(corpus.encoder)
    none, new, *old = [_values(late, make_view(corpus.asked_by(side), None, None, ())) for side in sides]
    ahead, before = (compare(old[0], new), compare(none, old[0])) if old else (None, None)
    gain = compare(none, new)
    return Adapted(adaptation=found, learnt=len(early), tested=len(late), gain=gain, ahead=ahead, before=before)


def _enough(queries: Sequence[JudgedQuery], view: ToolView) -> tuple[list[JudgedQuery], list[JudgedQuery]]:
    """Requests whose right tools are there, parted."""
    found = [one for one in queries if one.query.strip() and any(view.get(tool) for tool in one.relevant)]
    early, late = parted(found)
    if len(late) < LEAST:
        raise InvalidInput(
            f"of {len(found)} requests with a tool of this catalog {len(late)} are left to test on, the latest that "
            f"were not asked before; {LEAST} are needed to test, so collect about {round(LEAST / HELD_OUT)}"
        )
    return early, late


def parted(queries: Sequence[JudgedQuery]) -> tuple[list[JudgedQuery], list[JudgedQuery]]:
    """The earlier requests, to learn from, and the latest, to test on: those not asked before, each once."""
    split = round(len(queries) * (1 - HELD_OUT))
    early, late = list(queries[:split]), list(queries[split:])
    known = {_plain(one) for one in early}
    fresh = {_plain(one): one for one in reversed(late) if _plain(one) not in known}
    return early, list(reversed(fresh.values()))


def _plain(one: JudgedQuery) -> str:
    return " ".join(one.query.lower().split())


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


def _values(queries: Sequence[JudgedQuery], view: ToolView) -> Mapping[str, float]:
    """NDCG@10 of each request, by its id."""
    pairs = [(one.id, one.query) for one in queries]
    return measure(queries, list(run(open_retriever("hybrid"), view, pairs)), ["nDCG@10"])["nDCG@10"]
