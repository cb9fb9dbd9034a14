"""Which script and which language a text is in, as far as a few words can tell."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from toolsearch.stopwords import STOP_WORDS

HAN: Final = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA: Final = "\u3031-\u3035\u3041-\u309f\u30a0-\u30ff\u31f0-\u31ff"
HANGUL: Final = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
SOUTH_EAST: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese and Khmer."""
UNSPACED: Final = HAN + KANA + HANGUL + SOUTH_EAST
"""Characters of scripts whose words are not, or not only, parted by spaces; for the inside of [...] in a pattern."""

SCRIPTS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (code, re.compile(f"[{characters}]"))
    for code, characters in (
        ("ja", KANA),
        ("ko", HANGUL),
        ("zh", HAN),
        ("th", "\u0e00-\u0e7f"),
        ("ru", "\u0400-\u052f"),
        ("ar", "\u0600-\u06ff\u0750-\u077f"),
        ("hi", "\u0900-\u097f"),
        ("el", "\u0370-\u03ff\u1f00-\u1fff"),
        ("he", "\u0590-\u05ff"),
    )
)
"""Languages that their characters give away, the first that fits; Japanese before Chinese, for it writes Han too."""

LATIN: Final = tuple(code for code in STOP_WORDS if code != "ru")
"""Languages in Latin letters that are told apart."""
LANGUAGES: Final = (*LATIN, *(code for code, _ in SCRIPTS))
"""Every language that a text is found to be in."""

_LATIN_WORD = re.compile(r"[^\W\d_]+")
_NOT_LATIN = re.compile(r"[\u0370-\u1dff\u2e80-\U0003ffff]")
_MARKS: Final = {
    "de": "ßäöü",
    "es": "ñ¿¡",
    "pt": "ãõ",
    "fr": "êèçœàâîûë",
    "it": "ìò",
}
LOOK: Final = 2000
"""How many characters of a text are looked at."""
SHORT: Final = 200
"""Texts up to this length, such as requests, are asked about several times: their languages are kept for a while."""


def language(text: str) -> str:
    """ISO 639-1 code of the language of a text, "en" when nothing speaks against it.

    A script decides where it can; between languages in Latin letters stop words and accents are counted.
    """
    return _of_short(text) if len(text) <= SHORT else _language(text)


def _language(text: str) -> str:
    seen = text[:LOOK]
    if not seen.isascii() and _NOT_LATIN.search(seen):
        for code, pattern in SCRIPTS:
            if len(pattern.findall(seen)) * 4 >= len(seen.replace(" ", "")):
                return code
    return latin_language(seen)


_of_short = lru_cache(maxsize=1 << 12)(_language)


def latin_language(text: str) -> str:
    """The language of the Latin words in a text, "en" when nothing speaks against it."""
    return _of_short_latin(text) if len(text) <= SHORT else _latin_language(text)


def _latin_language(text: str) -> str:
    found = _LATIN_WORD.findall(text[:LOOK].lower())
    speakers = _speakers()
    votes = Counter(chain.from_iterable(speakers[word] for word in found if word in speakers))
    if not text.isascii():
        votes.update(code for code, marks in _MARKS.items() if any(mark in word for word in found for mark in marks))
    if not votes:
        return "en"
    best, count = max(((code, votes[code]) for code in votes if code != "en"), key=_by_votes, default=("en", 0))
    english = votes["en"]
    return best if count > english and (count >= 2 or (english == 0 and len(found) <= 6)) else "en"


_of_short_latin = lru_cache(maxsize=1 << 12)(_latin_language)


def _by_votes(pair: tuple[str, int]) -> tuple[int, str]:
    return (pair[1], pair[0])


@cache
def _speakers() -> dict[str, tuple[str, ...]]:
    """Each stop word of a language in Latin letters, with the languages that have it."""
    found: dict[str, list[str]] = {}
    for code, words in STOP_WORDS.items():
        for word in words if code != "ru" else ():
            found.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in found.items()}
