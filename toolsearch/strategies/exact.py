"""A request that is a tool's name, title, alias or id finds that tool first, in any case and separator style."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from toolsearch.protocols import Reason, ToolView
from toolsearch.stopwords import STOP_WORDS
from toolsearch.strategies.confidence import EXACT
from toolsearch.strategies.prepared import SHORT
from toolsearch.strategies.ranking import Ranked, Ranker, total
from toolsearch.text import MAX_REQUEST, cut_request, identifier_parts, name_key
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


MENTION: Final = 2.0
"""What a tool's score gains when the request holds its name as an identifier, such as "open it with createTicket"."""
MENTIONS: Final = 20
"""How many identifiers of one request are looked up."""
SPOKEN: Final = 8
"""Words of a request, at most, that may be a name with small words between: "cancel my flight" for cancel_flight."""
_RUN = re.compile(r"\w+(?:[._]\w+)*")


@dataclass(frozen=True, slots=True)
class ExactFirst:
    """Any ranking, with the tools that the request names before all others.

    Several such tools are ordered by how literally they are named, then by the inner ranking's score. When the
    request is no name but has one in it, written as an identifier or with small words between its own, that tool's
    score is raised by MENTION.
    """

    inner: Ranker

    def rank(self, request: str, view: ToolView, depth: int) -> Ranked:
        """At most `depth` rows, named tools first."""
        ranked = self.inner.rank(request, view, depth)
        named = named_rows(request, view)
        if named:
            lifts = _above_all(ranked, request, view, named)
            return replace(_lifted(ranked, lifts, request, depth), confidence=EXACT, evidence=None)
        mentioned = mentioned_rows(request, view) if len(ranked.rows) else []
        return _lifted(ranked, dict.fromkeys(mentioned, MENTION), request, depth) if mentioned else ranked


def named_rows(request: str, view: ToolView) -> list[int]:
    """Rows of the view that the request names, in catalog order."""
    if len(request) > MAX_REQUEST:
        return []
    key = _known_key(request) if len(request) <= SHORT else name_key(request)
    return [row for row in view.corpus.named(key) if view.holds(row)] if key else []


def mentioned_rows(request: str, view: ToolView) -> list[int]:
    """Rows of the view whose name, of two words or more, is in the request as an identifier, or all that it says."""
    keys = _known_mentions(request) if len(request) <= SHORT else _mentions(cut_request(request))
    rows = (row for key in keys for row in view.corpus.named(key))
    return sorted({row for row in rows if view.holds(row)})


def _mentions(request: str) -> Sequence[str]:
    """The keys under which names in a request are looked up."""
    found: list[str] = _RUN.findall(request)
    runs = [run for run in found if not _is_plain(run) and len(identifier_parts(run)) > 1]
    keys = dict.fromkeys(name_key(run) for run in (*runs, *_without_small_words(found)))
    return list(keys)[:MENTIONS]


# Requests up to that length recur.
_known_key = lru_cache(maxsize=1 << 11)(name_key)
_known_mentions = lru_cache(maxsize=1 << 11)(_mentions)


def _is_plain(run: str) -> bool:
    """Whether a run is plainly one word: nothing in it parts it."""
    return run.isalnum() and (run.islower() or run.isupper())


def _without_small_words(words: list[str]) -> list[str]:
    """A short request as the name that is left of it without English stop words; nothing where they are all it has."""
    kept = [word for word in words if word.casefold() not in STOP_WORDS["en"]]
    return [" ".join(kept)] if 1 < len(kept) < len(words) <= SPOKEN else []


def _above_all(ranked: Ranked, request: str, view: ToolView, named: list[int]) -> dict[int, float]:
    """What must be added to the score of each named row so that they come first, in their order."""
    own = {row: total(ranked.reasons(row)) for row in named}
    ordered = sorted(named, key=lambda row: (-_literal(view.corpus.tool(row), request), -own[row], row))
    ceiling = max([*own.values(), *map(float, ranked.scores[:1]), 0.0])
    return {row: ceiling + len(ordered) - place - own[row] for place, row in enumerate(ordered)}


def _lifted(ranked: Ranked, lifts: Mapping[int, float], request: str, depth: int) -> Ranked:
    own = {int(row): float(score) for row, score in zip(ranked.rows, ranked.scores, strict=True)}
    for row, lift in lifts.items():
        own[row] = total(ranked.reasons(row)) + lift
    ordered = sorted(own, key=lambda row: (-own[row], row))[:depth]
    return replace(
        ranked,
        rows=np.array(ordered, np.int32),
        scores=np.array([own[row] for row in ordered], np.float64),
        reasons=partial(_reasons, ranked, lifts, request),
    )


def _reasons(ranked: Ranked, lifts: Mapping[int, float], request: str, row: int) -> tuple[Reason, ...]:
    if row not in lifts:
        return ranked.reasons(row)
    return (Reason("exact", lifts[row], request.strip()[:200]), *ranked.reasons(row))


def _literal(spec: ToolSpec, request: str) -> int:
    """2 when the request is the name or id letter by letter, 1 in another case, 0 otherwise."""
    given = request.strip()
    if given in (spec.name, spec.id):
        return 2
    return int(given.casefold() in (spec.name.casefold(), spec.id.casefold()))
