"""Words to stems, each in its language (Snowball), and letters to their plain form."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import Stemmer  # pyright: ignore[reportMissingImports]

STEMMERS: Final[Mapping[str, str]] = {
    "en": "english",
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "pt": "portuguese",
    "it": "italian",
    "ru": "russian",
    "ar": "arabic",
    "el": "greek",
}
_ALPHABETS: Final = (("\u0370", "\u03ff", "el"), ("\u0400", "\u052f", "ru"), ("\u0600", "\u06ff", "ar"))
_ACCENTS = re.compile("[\u0300-\u036f]")
_LOCAL = threading.local()
"""Stemmers are not safe to share between threads."""


def word_language(word: str, spoken: str) -> str:
    """The language of one word: its script decides, then the language of the Latin words around it."""
    if word[0] < "\u0370":
        return spoken
    return next((code for first, last, code in _ALPHABETS if first <= word[0] <= last), "")


def stem(word: str, spoken: str) -> str:
    """The stem of a word in lower case; the word itself in a language without a stemmer."""
    if spoken not in STEMMERS:
        return word
    stemmers: dict[str, Any] = _LOCAL.__dict__
    if spoken not in stemmers:
        stemmers[spoken] = Stemmer.Stemmer(STEMMERS[spoken], 0)  # pyright: ignore[reportUnknownMemberType]
    return cast(str, stemmers[spoken].stemWord(word))


def stems(words: Sequence[str], spoken: str) -> Sequence[str]:
    """The stem of each word, as `stem` gives it."""
    if spoken not in STEMMERS or not words:
        return words
    stem(words[0], spoken)
    return cast("Sequence[str]", _LOCAL.__dict__[spoken].stemWords(list(words)))


def fold(word: str) -> str:
    """A word without accents and with sharp s written out; marks that are letters' parts elsewhere stay."""
    if word.isascii():
        return word
    if "\u0400" <= word[0] <= "\u052f":
        return word.replace("ё", "е")
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", word))).replace("ß", "ss")
