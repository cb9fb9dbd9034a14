"""Answers needs with hits: checks what is asked, ranks each need, and makes one list that covers them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final, NamedTuple

from toolsearch.errors import InvalidInput, LimitExceeded
from toolsearch.protocols import Hit, Reason, SearchResult, ToolView
from toolsearch.strategies.confidence import BANDS, Bands, band
from toolsearch.strategies.explain import Explanation, explain_best
from toolsearch.strategies.ranking import Ranked, Ranker

MAX_NEEDS: Final = 20
MAX_HITS: Final = 1_000


class _Place(NamedTuple):
    need: int
    row: int
    score: float
    lift: float


@dataclass(frozen=True, slots=True)
class RankedRetriever:
    """A retriever made of any ranking.

    Several needs are answered by turns: the first choices for each need, then the second ones, each tool once. A
    reason of kind "need" carries what a turn adds to the score, so that scores fall along the list.
    """

    ranker: Ranker
    bands: Bands = BANDS

    def search(self, needs: Sequence[str], view: ToolView, k: int) -> SearchResult:
        """At most k tools of the view for the needs, best first.

        Raises:
            InvalidInput: k is not positive, there is no need, or one is blank.
            LimitExceeded: k is above MAX_HITS, or there are more needs than MAX_NEEDS.
        """
        asked = checked(needs, k)
        return answer(asked, [self.ranker.rank(need, view, k) for need in asked], view, k, self.bands)

    def explain(self, need: str | Sequence[str], view: ToolView, tool_id: str, k: int = 5) -> Explanation:
        """Why a tool is where it is for a need, or why it is not among the first k; of several, for the best need.

        Raises:
            InvalidInput: k is not positive, or a need is blank.
        """
        return explain_best(self.ranker, checked([need] if isinstance(need, str) else need, k), view, tool_id, k)


def answer(asked: Sequence[str], ranked: Sequence[Ranked], view: ToolView, k: int, bands: Bands) -> SearchResult:
    """One list of at most k hits from a ranking for each need; of a single one, a hit says which clause it serves."""
    places = _by_turns(ranked)[:k] if len(ranked) > 1 else _alone(ranked[0])[:k]
    hits = tuple(_hit(place, ranked[place.need], view) for place in places)
    if len(ranked) == 1 and ranked[0].clauses:
        hits = tuple(replace(hit, need=ranked[0].serves(place.row)) for hit, place in zip(hits, places, strict=True))
    confidence = _confidence(ranked)
    return SearchResult(
        hits=hits,
        confidence=confidence,
        band=band(confidence, bands) if hits else "none",
        shortfall=k - len(hits),
        generation=view.corpus.generation,
        notes=tuple(dict.fromkeys(note for one in ranked for note in one.notes)) + _unmet(asked, ranked, bands),
        needs=tuple(asked) if len(asked) > 1 else ranked[0].clauses or tuple(asked),
    )


def checked(needs: Sequence[str], k: int) -> list[str]:
    """The needs, when there is something to do.

    Raises:
        InvalidInput: k is not positive, there is no need, or one is blank.
        LimitExceeded: k is above MAX_HITS, or there are more needs than MAX_NEEDS.
    """
    asked = [needs] if isinstance(needs, str) else list(needs)
    if k < 1:
        raise InvalidInput(f"k is {k}; ask for 1 tool or more")
    if k > MAX_HITS:
        raise LimitExceeded(f"k is {k}; a search returns at most {MAX_HITS} tools, list the catalog for more")
    if len(asked) > MAX_NEEDS:
        raise LimitExceeded(f"{len(asked)} needs in one search; the bound is {MAX_NEEDS}")
    if not asked or any(_is_blank(need) for need in asked):
        raise InvalidInput("the request is empty; say in a few words what the tool should do")
    return asked


def _is_blank(need: str) -> bool:
    """Whether nothing of it shows: blanks, also those of no width."""
    return not any(letter.isprintable() and letter != " " for letter in need)


def _alone(ranked: Ranked) -> list[_Place]:
    pairs = zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True)
    return [_Place(0, row, score, 0.0) for row, score in pairs]


def _by_turns(ranked: Sequence[Ranked]) -> list[_Place]:
    """First choices of all needs best first, then second choices, each row once; lifted to fall along the list."""
    taken: set[int] = set()
    rounds: list[list[_Place]] = []
    for choices in zip_longest(*(_alone(one) for one in ranked)):
        offered = [choice._replace(need=need) for need, choice in enumerate(choices) if choice is not None]
        fresh: dict[int, _Place] = {}
        for place in sorted(offered, key=lambda place: -place.score):
            if place.row not in taken:
                fresh.setdefault(place.row, place)
        taken.update(fresh)
        rounds.append(list(fresh.values()))
    return _lifted([places for places in rounds if places])


def _lifted(rounds: Sequence[Sequence[_Place]]) -> list[_Place]:
    """From the last round to the first, each is lifted above the next one where it is not already."""
    floor: float | None = None
    found: list[_Place] = []
    for places in reversed(rounds):
        lift = 0.0 if floor is None else max(0.0, floor - places[-1].score)
        found = [place._replace(lift=lift) for place in places] + found
        floor = places[0].score + lift
    return found


def _hit(place: _Place, ranked: Ranked, view: ToolView) -> Hit:
    reasons = ranked.reasons(place.row)
    if place.lift:
        reasons = (*reasons, Reason("need", place.lift, f"a turn for need {place.need + 1}"))
    return Hit(tool=view.corpus.tool(place.row), score=place.score + place.lift, reasons=reasons, need=place.need)


def _confidence(ranked: Sequence[Ranked]) -> float | None:
    """That of the need that is met best."""
    known = [one.confidence for one in ranked if one.confidence is not None]
    return max(known) if known else None


def _unmet(asked: Sequence[str], ranked: Sequence[Ranked], bands: Bands) -> tuple[str, ...]:
    if len(asked) < 2:
        return ()
    pairs = zip(asked, ranked, strict=True)
    return tuple(
        f"nothing seems to fit the need {need.strip()[:80]!r}"
        for need, one in pairs
        if one.confidence is not None and band(one.confidence, bands) == "none"
    )
