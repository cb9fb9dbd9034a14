"""Why a tool is where it is in an answer, or why it is not in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

from toolsearch.protocols import Reason, ToolView
from toolsearch.strategies.ranking import Ranked, Ranker, total
from toolsearch.text import cut_request, field_terms, request_terms
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolsearch.protocols import RowSet

DEPTH: Final = 1_000
"""How far down a rank is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One tool and one request: pure data; `text` writes it out.

    `rank` counts from 1, None when the tool is not ranked. The points of `reasons` add up to `score`. `words` gives
    each word of the request that the tool has with the fields it stands in; `missing` the words it has not.
    `obstacle` says why the tool cannot be found, None when it can.
    """

    need: str
    tool_id: str
    k: int
    rank: int | None = None
    score: float | None = None
    cut: float | None = None
    reasons: tuple[Reason, ...] = ()
    words: tuple[tuple[str, tuple[str, ...]], ...] = ()
    missing: tuple[str, ...] = ()
    obstacle: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether the tool is among the first k."""
        return self.obstacle is None and self.rank is not None and self.rank <= self.k

    def text(self) -> str:
        """The explanation in lines."""
        lines = [f"{self.tool_id} for {self.need.strip()[:120]!r}: {self._verdict()}"]
        lines += [f"  {reason.points:+8.3f}  {reason.kind}  {reason.detail}".rstrip() for reason in self.reasons]
        if self.score is not None:
            lines.append(f"  {self.score:8.3f}  score")
        lines += [f"  word {word!r}: in {', '.join(fields)}" for word, fields in self.words]
        if self.missing:
            lines.append(f"  words that the tool has not: {', '.join(self.missing)}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _verdict(self) -> str:
        if self.obstacle is not None:
            return f"not found, {self.obstacle}"
        if self.rank is None:
            return f"not found, {self._unranked()}"
        if self.found:
            return f"found, rank {self.rank}"
        behind = "" if self.cut is None or self.score is None else f", {self.cut - self.score:.3f} points short"
        return f"not found, rank {self.rank} is below the first {self.k}{behind}"

    def _unranked(self) -> str:
        if self.words:
            return f"it is not among the first {DEPTH}"
        likeness = next((reason.detail for reason in self.reasons if reason.kind == "similarity"), "")
        return f"no word of it matches, and it is too unlike ({likeness})" if likeness else "no word of it matches"


def explain_best(ranker: Ranker, needs: Sequence[str], view: ToolView, tool_id: str, k: int) -> Explanation:
    """The explanation for that of several needs which serves the tool best; a note says which one that is."""
    told = [explain(ranker, need, view, tool_id, k) for need in needs]
    best = min(range(len(told)), key=lambda place: (told[place].rank or DEPTH + 1, place))
    if len(needs) == 1 or told[best].rank is None:
        return told[best]
    note = f"need {best + 1} of {len(needs)}; in the answer to all, each need has its turn"
    return replace(told[best], notes=(*told[best].notes, note))


def explain(ranker: Ranker, need: str, view: ToolView, tool_id: str, k: int) -> Explanation:
    """Why the tool is where it is for a need, or why it is not found.

    A tool that the caller may not see is explained in the words for one that does not exist.
    """
    row = view.corpus.row(tool_id)
    if row is None or not view.allows(row):
        return Explanation(need=need, tool_id=tool_id, k=k, obstacle="there is no tool with this id")
    ranked = ranker.rank(need, view, DEPTH)
    place = _place(ranked, row)
    spec = view.corpus.tool(row)
    met = _fields(spec, need)
    reasons = ranked.reasons(row)
    return Explanation(
        need=need,
        tool_id=tool_id,
        k=k,
        rank=None if place is None else place + 1,
        score=total(reasons) if reasons else None,
        cut=float(ranked.scores[k - 1]) if len(ranked.scores) >= k else None,
        reasons=reasons,
        words=tuple(met.items()),
        missing=tuple(word for word in request_terms(cut_request(need)) if word not in met),
        obstacle=_obstacle(view, row),
        notes=(*ranked.notes, *(_way(view) if any(one.kind == "similarity" for one in reasons) else ())),
    )


def _way(view: ToolView) -> tuple[str, ...]:
    """How similarity was searched, where the corpus can tell."""
    tell = cast("Callable[[RowSet], str] | None", getattr(view.corpus.dense, "plan", None))
    return () if tell is None else (tell(view.allowed),)


def _place(ranked: Ranked, row: int) -> int | None:
    rows: Sequence[int] = ranked.rows.tolist()
    return rows.index(row) if row in rows else None


def _obstacle(view: ToolView, row: int) -> str | None:
    if row in view.excluded:
        return "it is left out on purpose (already shown, or excluded by the caller)"
    if view.kept is not None and not bool(view.kept[row]):
        return "the filter leaves it out"
    return None


def _fields(spec: ToolSpec, need: str) -> dict[str, tuple[str, ...]]:
    """Each word of the request that the tool has, with the fields it stands in."""
    wanted = request_terms(cut_request(need))
    found: dict[str, list[str]] = {}
    for field, term, _ in field_terms(spec):
        if term in wanted:
            found.setdefault(term, []).append(field)
    return {term: tuple(found[term]) for term in wanted if term in found}
