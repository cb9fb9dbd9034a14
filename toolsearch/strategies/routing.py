"""Which voters speak for which tools, by the languages of request and tool.

An encoder may be made for some `languages` only; it may have a second reading for all others (`for_others`). Then
tools are put into two groups, those in its languages and the others, and each group has statistics of its own: words
are compared within a group, and a tool in another language than the request is found by the second reading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from toolsearch.engines.views import intersected
from toolsearch.language import LATIN, language
from toolsearch.protocols import Encoder, Reason, RowSet, ToolView
from toolsearch.strategies.corpus import foreign
from toolsearch.strategies.fusion import Ballot, Count, Voter

if TYPE_CHECKING:
    from toolsearch.protocols import Corpus, Floats, Mask, Rows, Scores
    from toolsearch.strategies.corrections import Reading
    from toolsearch.strategies.ranking import Points
    from toolsearch.strategies.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class RoutedCount:
    """A count by each of two ballots; `others` marks the rows for which the second one holds, (rows,) bool."""

    ballot: RoutedBallot
    own: Count
    other: Count
    others: Mask

    def of(self, kept: Mask) -> RoutedCount:
        """The same of some of the rows."""
        return RoutedCount(self.ballot, self.own.of(kept), self.other.of(kept), self.others[kept])

    def wary(self, _: float) -> RoutedCount:
        """The same: what is near in one language says little of the other."""
        return self

    def votes(self) -> Points:
        """The fused score of each row, float64."""
        return np.where(self.others, self.other.votes(), self.own.votes())

    def near(self, floor: float) -> Mask:
        """Which rows share a word with the text or are at least that similar."""
        return np.where(self.others, self.other.near(floor), self.own.near(floor))

    def look(self, places: Sequence[int]) -> None:
        """Keep what the ballots will say of the rows at these places."""
        elsewhere: list[bool] = self.others[places].tolist()
        self.own.look([place for place, there in zip(places, elsewhere, strict=True) if not there])
        self.other.look([place for place, there in zip(places, elsewhere, strict=True) if there])

    def around(self) -> float:
        """The mean of the three best cosines among the rows that the first encoder reads; 0 without vectors."""
        return self.own.of(~self.others).around()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RoutedBallot:
    """A ballot for each of two groups of tools; `others` marks the rows of the second one, (rows,) bool."""

    own: Ballot
    other: Ballot
    others: Mask
    view: RowSet

    @property
    def text(self) -> str:
        """The text that is voted on."""
        return self.own.text

    @property
    def terms(self) -> Mapping[str, float]:
        """Its weighted terms."""
        return self.own.terms

    @property
    def foreign(self) -> bool:
        """Whether the text is in a language that the first encoder cannot read."""
        return self.own.foreign

    def proposed(self, most: int, within: Mask | None) -> list[Rows]:
        """The best rows of each voter within its group."""
        own = self.own.proposed(most, intersected(within, ~self.others))
        return own + self.other.proposed(most, intersected(within, self.others))

    def count(self, rows: Rows) -> RoutedCount:
        """What the voters say of rows."""
        return RoutedCount(self, self.own.count(rows), self.other.count(rows), self.others[rows])

    def matched(self, row: int) -> Sequence[str]:
        """The request's terms that the row has."""
        return self._of(row).matched(row)

    def cosine(self, row: int) -> float | None:
        """The similarity of a row, None when it or the request has no vector."""
        return self._of(row).cosine(row)

    def reasons(self, row: int, factor: float = 1.0) -> list[Reason]:
        """The parts of `factor` times the fused score of a row."""
        return self._of(row).reasons(row, factor)

    def _of(self, row: int) -> Ballot:
        return self.other if self.others[row] else self.own


def understands(encoder: Encoder, spoken: str) -> bool:
    """Whether an encoder gives a request in this language a vector that means something."""
    known = cast("Sequence[str] | None", getattr(encoder, "languages", None))
    return known is None or spoken in known or _others(encoder) is not None


def ballots(
    readings: Sequence[Reading], vectors: Sequence[Floats] | None, view: ToolView, settings: Settings
) -> Sequence[Ballot | RoutedBallot]:
    """A ballot for each reading of one request; `vectors` None leaves all to words."""
    encoder = view.corpus.encoder
    languages = cast("Sequence[str]", getattr(encoder, "languages", ()))
    if vectors is None or encoder is None or not languages:
        return _plain(readings, vectors, view, settings)
    second = _others(encoder)
    if second is None:
        # Only another script is beyond doubt; a tool's few Latin words are too easily taken for another language.
        return _blind(_plain(readings, vectors, view, settings), foreign(view.corpus, (*languages, *LATIN)))
    spoken = language(readings[0].text) in languages
    others = foreign(view.corpus, tuple(languages))
    if others is None:
        return _plain(readings, vectors, view, settings) if spoken else _foreign(readings, vectors, view, settings)
    return _routed(readings, (vectors, second(vectors) if spoken else None), view, others, settings)


def _routed(
    readings: Sequence[Reading],
    vectors: tuple[Sequence[Floats], Sequence[Floats] | None],
    view: ToolView,
    others: Mask,
    settings: Settings,
) -> list[RoutedBallot]:
    """Ballots over both groups; `vectors` for the first encoder's tools and, for its requests, for the others."""
    corpus, allowed = view.corpus, view.allowed
    own = RowSet((allowed.key, "own"), intersected(allowed.mask, ~others))
    rest = RowSet((allowed.key, "other"), intersected(allowed.mask, others))
    main, second = vectors
    if second is not None:
        first = _ballots(readings, view, own, _similar(corpus, main, own), settings.share)
        then = _ballots(readings, view, rest, _similar(corpus, second, allowed), _all)
    else:
        near = _similar(corpus, main, allowed)
        first = _ballots(readings, view, own, near, settings.share)
        then = _ballots(readings, view, rest, near, settings.share)
        first = [replace(one, share=settings.foreign_share, foreign=True) for one in first]
        then = [replace(one, share=settings.local_share, foreign=True) for one in then]
    pairs = zip(first, then, strict=True)
    return [RoutedBallot(own=one, other=other, others=others, view=allowed) for one, other in pairs]


def _foreign(
    readings: Sequence[Reading], vectors: Sequence[Floats], view: ToolView, settings: Settings
) -> list[Ballot]:
    plain = _plain(readings, vectors, view, settings)
    return [replace(one, share=settings.foreign_share, foreign=True) for one in plain]


def _all(_: int) -> float:
    """The share of the similarity where words have no say."""
    return 1.0


def _others(encoder: Encoder) -> Callable[[Sequence[Floats]], list[Floats]] | None:
    return cast("Any", getattr(encoder, "for_others", None))


def _plain(
    readings: Sequence[Reading], vectors: Sequence[Floats] | None, view: ToolView, settings: Settings
) -> list[Ballot]:
    near = _similar(view.corpus, vectors, view.allowed) if vectors is not None else [None] * len(readings)
    return _ballots(readings, view, view.allowed, near, settings.share)


def _blind(plain: Sequence[Ballot], others: Mask | None) -> Sequence[Ballot]:
    """The ballots, in which rows that the encoder cannot read go by their words."""
    if others is None:
        return plain
    return [replace(one, unvectored=others if one.unvectored is None else one.unvectored | others) for one in plain]


def _similar(corpus: Corpus, vectors: Sequence[Floats], rows: RowSet) -> Sequence[Scores | None]:
    return [None] * len(vectors) if corpus.dense is None else corpus.dense.score_many(vectors, rows)


def _ballots(
    readings: Sequence[Reading],
    view: ToolView,
    rows: RowSet,
    near: Sequence[Scores | None],
    share: Callable[[int], float],
) -> list[Ballot]:
    corpus = view.corpus
    words = corpus.lexical.score_many([reading.terms for reading in readings], rows)
    return [
        Ballot(
            text=reading.text,
            terms=reading.terms,
            view=rows,
            words=Voter(said),
            similarity=None if similar is None else Voter(similar),
            share=share(reading.length),
            unvectored=corpus.unvectored,
        )
        for reading, said, similar in zip(readings, words, near, strict=True)
    ]
