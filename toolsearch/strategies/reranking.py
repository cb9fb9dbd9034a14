"""A judge looks again at what a search found: it puts the best hits in order and says how likely the first is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from toolsearch.errors import DecisionFailed, InvalidInput
from toolsearch.protocols import Reason, Retriever, ToolView
from toolsearch.questions import DecisionModel
from toolsearch.strategies.calibration import Fitted
from toolsearch.strategies.confidence import EXACT
from toolsearch.strategies.deciding import DELIMITED, DELIMITED_WITH_PARAMETERS, Asking, judge
from toolsearch.strategies.exact import named_rows
from toolsearch.strategies.ranking import Ranked, Ranker
from toolsearch.strategies.retriever import RankedRetriever
from toolsearch.strategies.waiting import waited

if TYPE_CHECKING:
    from toolsearch.protocols import Rows

DELIMITING = Asking(template=DELIMITED)
DETAILED = Asking(template=DELIMITED_WITH_PARAMETERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a ranking found: rows that the request names, those that a judge is asked about, and the rest.

    `above` says of each row asked about by how many standard deviations its score is above the mean of them.
    """

    found: Ranked
    named: list[int]
    above: Mapping[int, float]
    unasked: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranked:
    """Any ranking whose first `shortlist` rows a judge puts in order; ties keep the ranking's order.

    A hit's score is the calibrated probability that the tool helps, and so is the confidence in the first one; with a
    fitted `place` the ranking has a say in it, so that a judge who orders worse than the ranking does little harm. Hits
    below `min_probability` are left out, so an empty answer is possible. Tools that the request names stay first
    and are not asked about; tools that the judge refuses to speak about are left out. Never more than `shortlist`
    tools are asked about: further rows follow in the ranking's order with a score of 0. When the judge fails,
    `on_failure` raises its error, or keeps the ranking and notes it.

    Raises:
        InvalidInput: a number is out of range.
    """

    ranker: Ranker
    judge: DecisionModel
    shortlist: int = 20
    min_probability: float = 0.0
    asking: Asking = DELIMITING
    fitted: Fitted = field(default_factory=Fitted)
    on_failure: Literal["error", "shortlist"] = "error"

    def __post_init__(self) -> None:
        if self.shortlist < 1:
            raise InvalidInput(f"shortlist is {self.shortlist}; it must be 1 or more")
        if not 0 <= self.min_probability <= 1:
            raise InvalidInput(f"min_probability is {self.min_probability}; it must be from 0 to 1")

    def rank(self, request: str, view: ToolView, depth: int) -> Ranked:
        """At most `depth` rows, best first.

        Raises:
            DecisionFailed: the judge failed and `on_failure` is error.
        """
        asked = self.asked(request, view, depth)
        if not asked.above:
            return _first(asked.found, depth)
        try:
            chances = self.chances(request, view, asked.above)
        except DecisionFailed as error:
            if self.on_failure == "error":
                raise
            note = f"not checked by the judge ({type(error).__name__}); in the order of the search"
            return _first(asked.found, depth, note)
        return self._ranked(asked, chances, depth)

    def asked(self, request: str, view: ToolView, depth: int) -> Asked:
        """What the ranking finds, and which of it the judge is asked about."""
        found = self.ranker.rank(request, view, max(depth, self.shortlist))
        named = [row for row in named_rows(request, view) if row in found.rows]
        others = [int(row) for row in found.rows if int(row) not in named]
        above = _above(found, others[: self.shortlist])
        return Asked(found=found, named=named, above=above, unasked=others[self.shortlist :])

    def chances(self, request: str, view: ToolView, above: Mapping[int, float]) -> dict[int, float]:
        """Calibrated probabilities by row, in the ranking's order; see `Asked.above`.

        Raises:
            DecisionFailed: the judge failed.
        """
        tools = {view.corpus.tool(row).id: row for row in above}
        specs = [view.corpus.tool(row) for row in above]
        judged, _ = waited(judge(self.judge, request, specs, self.asking))
        rows = [tools[one.tool.id] for one in judged]
        return {row: self.fitted.mixed(one.probability, above[row]) for row, one in zip(rows, judged, strict=True)}

    def _ranked(self, asked: Asked, chances: Mapping[int, float], depth: int) -> Ranked:
        found, named, unasked = asked.found, asked.named, asked.unasked
        first = {row: 2.0 + len(named) - place for place, row in enumerate(r for r in found.rows if r in named)}
        kept = [row for row, chance in chances.items() if chance >= self.min_probability]
        scores = {**first, **{row: chances[row] for row in sorted(kept, key=lambda row: -chances[row])}}
        rest = unasked if self.min_probability == 0 else []
        rows = [*scores, *rest][:depth]
        scores |= dict.fromkeys(rest, 0.0)
        return Ranked(
            rows=_rows(rows),
            scores=np.array([scores[row] for row in rows], np.float64),
            reasons=partial(_reasons, [int(row) for row in found.rows], first, chances),
            confidence=EXACT if first else max(chances.values(), default=0.0),
            notes=found.notes,
            clauses=found.clauses,
            serves=found.serves,
        )


@dataclass(frozen=True, slots=True)
class FromRetriever:
    """Any retriever as a ranking, so that it can be wrapped by one."""

    retriever: Retriever

    def rank(self, request: str, view: ToolView, depth: int) -> Ranked:
        """At most `depth` rows, best first; other rows have no reasons."""
        result = self.retriever.search([request], view, depth)
        placed = {row: hit for hit in result if (row := view.corpus.row(hit.id)) is not None}
        return Ranked(
            rows=_rows(list(placed)),
            scores=np.array([hit.score for hit in placed.values()], np.float64),
            reasons=lambda row: placed[row].reasons if row in placed else (),
            confidence=result.confidence,
            notes=result.notes,
            clauses=result.needs if len(result.needs) > 1 else (),
            serves=lambda row: placed[row].need if row in placed else 0,
        )


def reranked(retriever: Retriever, judge: DecisionModel, fitted: Fitted | None = None) -> RankedRetriever:
    """Any retriever with a judge behind it; `fitted` is what a calibration knows of the two together."""
    known = fitted or Fitted()
    inner = retriever.ranker if isinstance(retriever, RankedRetriever) else FromRetriever(retriever)
    return RankedRetriever(Reranked(ranker=inner, judge=judge, fitted=known), known.bands)


def _above(found: Ranked, rows: list[int]) -> dict[int, float]:
    """Standard deviations of each row's score above the mean of these rows; 0 for all when they are alike."""
    scores = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    values = np.array([scores[row] for row in rows], np.float64)
    spread = float(values.std()) if rows else 0.0
    return {row: (scores[row] - float(values.mean())) / spread if spread > 1e-9 else 0.0 for row in rows}


def _rows(rows: list[int]) -> Rows:
    return np.array(rows, np.int32)


def _reasons(
    found: list[int], named: Mapping[int, float], chances: Mapping[int, float], row: int
) -> tuple[Reason, ...]:
    if row in named:
        return (Reason("exact", named[row], "the request names it"),)
    if row not in found:
        return (Reason("decision", 0.0, f"not among the first {len(found)} by search, so not asked about"),)
    place = f"number {found.index(row) + 1} by search"
    if row not in chances:
        return (Reason("decision", 0.0, f"{place}, without an answer of the judge"),)
    return (Reason("decision", chances[row], place),)


def _first(found: Ranked, depth: int, *notes: str) -> Ranked:
    """The first rows of a ranking, with more notes."""
    return replace(found, rows=found.rows[:depth], scores=found.scores[:depth], notes=(*found.notes, *notes))
