"""What a request most likely means where no tool has its words: short forms, other endings, typing errors.

All of it looks only at the words of the caller's view. Terms are only added, and corrected ones weigh less, so that a
tool with the very word stays above.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast
from weakref import WeakKeyDictionary

from toolsearch.engines.views import Recent
from toolsearch.fields import field_texts
from toolsearch.language import language, latin_language
from toolsearch.protocols import Corpus, Encoder, ToolView
from toolsearch.stemming import STEMMERS
from toolsearch.stopwords import STOP_WORDS
from toolsearch.strategies.abbreviations import ABBREVIATIONS, LONG_FORMS
from toolsearch.strategies.settings import Settings
from toolsearch.text import known_term, request_terms, spaced, term, terms_of, words

SHORTEST: Final = 4
"""Words of fewer letters are never corrected."""
LONGEST: Final = 24
MOST: Final = 3
"""How many words of one request are corrected."""
TRIED: Final = 5
"""Stems near a word that are looked at, those of most tools first."""
LOOKED: Final = 5
"""Tools of a stem whose words are looked at."""
KEPT: Final = 512
"""Readings that are kept of a corpus."""
LONG: Final = 5_000
"""What is read of one text for it."""
_LATIN: Final = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC: Final = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
_WORD = re.compile(r"[^\W\d_]+(?:[0-9]+[^\W\d_]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A request as it is searched: its weighted terms, its text for the encoder, and what was read differently.

    `length` counts the distinct terms as written.
    """

    text: str
    terms: Mapping[str, float]
    length: int
    notes: tuple[str, ...] = ()


def read(text: str, view: ToolView, settings: Settings) -> Reading:
    """The reading of one request in one view; the last ones of each corpus are kept."""
    kept = _kept.get(view.corpus)
    if kept is None:
        kept = _kept.setdefault(view.corpus, Recent(KEPT))
    return kept.get((text, view.allowed.key, settings), lambda: _read(text, view, settings))


_kept: Final = WeakKeyDictionary[Corpus, Recent[Reading]]()


def _read(text: str, view: ToolView, settings: Settings) -> Reading:
    written = request_terms(text)
    if not settings.corrections or not written:
        return Reading(text=text, terms=written, length=len(written))
    terms = dict(written)
    _, counts = view.corpus.frequencies(written, view.allowed)
    spelt: list[str] = _WORD.findall(text.lower())
    short = {} if ABBREVIATIONS.keys().isdisjoint(spelt) else _short_forms(text, spelt)
    for extra in _other_forms(spelt, short, counts):
        terms.setdefault(extra, settings.corrected)
    read_as = _WORD.sub(partial(_long_form, short), text) if short else text
    notes: list[str] = []
    doubtful = _unknown(text, counts) if len(written) <= settings.corrected_terms else ()
    for word in list(doubtful)[:MOST]:
        foreign = _in_other_languages(word, view)
        terms.update(dict.fromkeys(foreign, 1.0))
        near = None if foreign or not _may_be_a_slip(word, text, view) else _nearest(word, view)
        if near:
            terms.setdefault(term(near, latin_language(text)), settings.corrected)
            read_as = re.sub(rf"\b{word}\b", near, read_as)
            notes.append(f"no tool has {word!r}; read as {near!r}")
    return Reading(text=read_as, terms=terms, length=len(written), notes=tuple(notes))


def _short_forms(text: str, spelt: Sequence[str]) -> dict[str, str]:
    """Short forms in a text and what they stand for; a small word of its language, as Spanish "del", is none.

    One that begins the text says nothing of the language.
    """
    spoken = latin_language(text.strip().partition(" ")[2] if spelt[0] in ABBREVIATIONS else text)
    small = STOP_WORDS.get(spoken, ())
    return {word: ABBREVIATIONS[word] for word in spelt if word in ABBREVIATIONS and word not in small}


def _other_forms(spelt: Sequence[str], short: Mapping[str, str], counts: Mapping[str, int]) -> Iterator[str]:
    """Terms of what short forms stand for; and the short form of a word that no tool has."""
    for word in spelt:
        if word in short:
            yield from words(short[word], "en")
        elif word in LONG_FORMS and not counts.get(known_term(word, "en"), 1):
            yield from words(LONG_FORMS[word], "en")


def _unknown(text: str, counts: Mapping[str, int]) -> Iterator[str]:
    """Words of plain letters in lower case that no tool has, long enough to be corrected."""
    spoken = latin_language(text)
    for word in dict.fromkeys(_WORD.findall(text)):
        plain = SHORTEST <= len(word) <= LONGEST and word.islower() and word.isalpha()
        if plain and counts.get(known_term(word, spoken), 1) == 0:
            yield word


def _long_form(short: Mapping[str, str], word: re.Match[str]) -> str:
    return short.get(word.group().lower(), word.group())


def _may_be_a_slip(word: str, text: str, view: ToolView) -> bool:
    """Not when the encoder knows the word, or cannot judge it because the text is in another language."""
    encoder = view.corpus.encoder
    if encoder is None:
        return True
    return reads(encoder, language(text)) and not _known(word, view)


def reads(encoder: Encoder, spoken: str) -> bool:
    """Whether an encoder was made for a language; one that does not name its `languages` (ISO 639-1) reads all."""
    known = cast("Sequence[str] | None", getattr(encoder, "languages", None))
    return known is None or spoken in known


def _in_other_languages(word: str, view: ToolView) -> list[str]:
    """Stems of the word by the rules of other languages that tools of the view have."""
    _, counts = view.corpus.frequencies({known_term(word, spoken) for spoken in STEMMERS}, view.allowed)
    return sorted(stem for stem, count in counts.items() if count)


def _nearest(word: str, view: ToolView) -> str | None:
    """The word one slip away that most tools of the view have."""
    spoken = latin_language(word)
    forms: dict[str, list[str]] = {}
    first, *others = _slips(word)
    for form, stem in zip((first, *others), (term(first, spoken), *terms_of(others, spoken)), strict=True):
        forms.setdefault(stem, []).append(form)
    _, counts = view.corpus.frequencies(forms, view.allowed)
    known = sorted(((count, stem) for stem, count in counts.items() if count), reverse=True)
    for _, stem in known[:TRIED]:
        real = _written(stem, view, spoken)
        for form in forms[stem]:
            if form in real or form.removesuffix("s") in real or _known(form, view):
                return form
    return None


def _written(stem: str, view: ToolView, spoken: str) -> set[str]:
    """Words of this stem as some tools of the view write them: a stem is often no word, nor is every form of one."""
    rows = view.corpus.lexical.score_many([{stem: 1.0}], view.allowed)[0].top(LOOKED).rows
    texts = (text for row in rows for field in field_texts(view.corpus.tool(int(row))).values() for text in field)
    found = {word for text in texts for word in spaced(text[:LONG]).split()}
    return {word for word in found if term(word, spoken) == stem}


def _known(word: str, view: ToolView) -> bool:
    knows = cast("Callable[[str], bool] | None", getattr(view.corpus.encoder, "knows", None))
    return knows is not None and knows(word)


def _slips(word: str) -> Iterator[str]:
    """Every word that differs by two neighbours swapped, or one letter missing, wrong or too many; the first stays."""
    letters = _CYRILLIC if "\u0400" <= word[0] <= "\u04ff" else _LATIN
    yield word[1] + word[0] + word[2:]
    for place in range(1, len(word)):
        head, tail = word[:place], word[place:]
        if len(tail) > 1 and tail[0] != tail[1]:
            yield head + tail[1] + tail[0] + tail[2:]
        yield head + tail[1:]
        for letter in letters:
            yield head + letter + tail
            if letter != tail[0]:
                yield head + letter + tail[1:]
    yield from (word + letter for letter in letters)
