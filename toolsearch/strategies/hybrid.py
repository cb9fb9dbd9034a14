"""The default ranking: words and similarity, for the whole request and for its clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from toolsearch.engines.ranking import distinct
from toolsearch.protocols import Corpus, Reason, ToolView
from toolsearch.strategies.asking import Leaning, is_question
from toolsearch.strategies.confidence import FIT, Evidence, Fit
from toolsearch.strategies.covering import covering
from toolsearch.strategies.likeness import FAR, Likeness
from toolsearch.strategies.prepared import Prepared, prepared
from toolsearch.strategies.ranking import Ranked
from toolsearch.strategies.routing import ballots
from toolsearch.strategies.settings import HYBRID, Settings
from toolsearch.text import MAX_REQUEST, cut_request

if TYPE_CHECKING:
    from toolsearch.protocols import Rows
    from toolsearch.strategies.fusion import Ballot, Count
    from toolsearch.strategies.ranking import Points
    from toolsearch.strategies.routing import RoutedBallot, RoutedCount


LOOKED: Final = 20
"""Reasons of so many of the best rows are looked up at once."""
_NO_PARTS: Final = np.empty((0, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridRanker:
    """Ranks by the fused score of words and similarity (see `fusion` and `Settings`).

    `fit` and `likeness`, judged requests of the catalog, make the confidence.
    """

    settings: Settings = HYBRID
    fit: Fit = FIT
    likeness: Likeness | None = None

    def rank(self, request: str, view: ToolView, depth: int) -> Ranked:
        """At most `depth` rows, best first. Without vectors words decide alone; a failing encoder is noted."""
        text = cut_request(request)
        notes = (
            [] if len(text) == len(request) else [f"only the first and last {MAX_REQUEST // 2} characters were read"]
        )
        asked = prepared(text, view, self.settings)
        notes += asked.notes
        if not asked.readings[0].terms:
            return _nothing((*notes, f"{request.strip()[:80]!r} has no words to search for"))
        voting = ballots(asked.readings, asked.vectors, view, self.settings)
        rows = _pool(voting, view, max(self.settings.pool, depth))
        counts = [ballot.count(rows).wary(self.settings.sure) for ballot in voting]
        floor = self.settings.foreign_floor if voting[0].foreign else self.settings.floor
        near = reduce(np.logical_or, (count.near(floor) for count in counts))
        rows, counts = rows[near], [count.of(near) for count in counts]
        voting = [count.ballot for count in counts]
        scores, parts = self._scores(counts)
        lean = self._leaning(voting, view.corpus)
        scores = scores + lean.of(rows) if lean.points else scores
        lifts = covering(rows, scores, parts, self.settings.covered)
        if lifts:
            scores[np.searchsorted(rows, list(lifts))] += [lift.points for lift in lifts.values()]
        # Rows ascend, so that a stable order by score alone has ties by row.
        order = (-scores).argsort(kind="stable")[:depth]
        for count in counts:
            count.look(order[:LOOKED].tolist())
        evidence = self._evidence(asked, counts[0], int(rows[order[0]])) if len(order) else None
        serves = _Serves(voting[1:], dict(zip(rows[order].tolist(), parts.T[order], strict=True)) if len(parts) else {})
        return Ranked(
            rows=rows[order],
            scores=scores[order],
            reasons=lambda row: (
                *self._reasons(voting, row, serves),
                *lean.reasons(row),
                *((lifts[row],) if row in lifts else ()),
            ),
            confidence=self.fit.of(evidence) if evidence else 0.0,
            evidence=evidence,
            notes=tuple(notes),
            clauses=tuple(ballot.text for ballot in voting[1:]),
            serves=serves.best,
        )

    def _evidence(self, asked: Prepared, count: Count | RoutedCount, row: int) -> Evidence:
        """What is known of the best row."""
        ballot, weights = count.ballot, asked.rarity
        return Evidence(
            cosine=ballot.cosine(row),
            coverage=sum(weights[term] for term in ballot.matched(row)) / (sum(weights.values()) or 1.0),
            terms=len(ballot.terms),
            near=self.likeness.near(asked.vectors[0]) if self.likeness and asked.vectors else FAR,
            foreign=ballot.foreign,
            elsewhere=asked.elsewhere,
            around=count.around(),
        )

    def _scores(self, counts: Sequence[Count | RoutedCount]) -> tuple[Points, Points]:
        """The score of each row, and what each clause alone gives the rows, (clauses, rows)."""
        whole, *clauses = (count.votes() for count in counts)
        if not clauses or not len(whole):
            return whole, _NO_PARTS
        parts, share = np.array(clauses), self.settings.clause_share
        return (1 - share) * whole + share * parts.max(axis=0), parts

    def _leaning(self, ballots: Sequence[Ballot | RoutedBallot], corpus: Corpus) -> Leaning:
        """What a question says of tools; nothing where it is one of several things that are asked."""
        asked = len(ballots) == 1 and is_question(ballots[0].text)
        return Leaning(corpus, self.settings.asked if asked else 0.0)

    def _reasons(self, ballots: Sequence[Ballot | RoutedBallot], row: int, serves: _Serves) -> tuple[Reason, ...]:
        whole, *clauses = ballots
        if not clauses:
            return tuple(whole.reasons(row))
        share, best = self.settings.clause_share, serves.best(row)
        points = share * float(serves.points(row)[best])
        return (*whole.reasons(row, 1 - share), Reason("clause", points, clauses[best].text[:200]))


class _Serves(NamedTuple):
    """What each clause alone gives rows, (clauses,) float64; `known` holds it of those that were ranked."""

    clauses: Sequence[Ballot | RoutedBallot]
    known: dict[int, Points]

    def points(self, row: int) -> Points:
        """That of one row."""
        if row not in self.known:
            one = np.array([row], np.int32)
            self.known[row] = np.array([clause.count(one).votes()[0] for clause in self.clauses])
        return self.known[row]

    def best(self, row: int) -> int:
        """The clause that a row serves best, the first of equals; 0 without clauses."""
        return int(self.points(row).argmax()) if self.clauses else 0


def _nothing(notes: tuple[str, ...]) -> Ranked:
    return Ranked(rows=np.empty(0, np.int32), scores=np.empty(0), reasons=lambda _: (), confidence=0.0, notes=notes)


def _pool(ballots: Sequence[Ballot | RoutedBallot], view: ToolView, most: int) -> Rows:
    """Every row that some voter proposes, ascending, within the view's filter and without its exclusions."""
    found = [rows for ballot in ballots for rows in ballot.proposed(most + len(view.excluded), view.kept)]
    rows = distinct(np.concatenate(found)) if found else np.empty(0, np.int32)
    if view.excluded:
        rows = rows[~np.isin(rows, list(view.excluded))]
    return cast("Rows", rows)
