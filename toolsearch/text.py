"""How a tool and a request become words. The only tokeniser in the project; the same for both.

A text is normalised (NFKC); identifiers are split before case is folded and kept whole too; stop words leave;
words are stemmed (Snowball, in the language of the text) and lose their accents. Chinese, Japanese, Korean and
Thai become overlapping pairs and single characters. Weights of fields: see `toolsearch.fields`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final, NamedTuple

from toolsearch.fields import WEIGHTS, field_texts
from toolsearch.language import UNSPACED, latin_language
from toolsearch.stemming import fold, stem, stems, word_language
from toolsearch.stopwords import STOP_WORDS
from toolsearch.tool import ToolSpec

ANALYSER: Final = "words-4"
"""Name and version of analyser and fields; kept in an index, which is built anew when it differs."""
MAX_REQUEST: Final = 10_000
"""Most characters of a request that are read; of a longer one the middle is left out."""
MAX_TERM: Final = 64
"""Longest term; of longer ones the middle is left out."""
SHORT: Final = 120
"""Texts up to this length, such as names and descriptions of parameters, recur: their terms are kept for a while."""
MAX_PARTS: Final = 12
"""Identifiers of more parts are not kept whole."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u109f\u1780-\u17ff"
)
_WORD = rf"\w[\w{_MARKS}]*"
_RUN = re.compile(rf"{_WORD}(?:[-.]{_WORD})*")
_ASCII_RUN = re.compile(r"[A-Za-z0-9_]+(?:[-.][A-Za-z0-9_]+)*")
_SEPARATORS = re.compile(r"[-._]+")
_NOT_KEY = re.compile(rf"[^\w{_MARKS}]+|_+")
_PIECES = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_CASE = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
"""Where camelCase splits: "parse|XML|Feed", "export|V2|Report"; a plural acronym such as "IDs" stays whole."""


class Run(NamedTuple):
    """The terms of one unbroken run of characters: what counts, the run as a whole, and stop words."""

    content: tuple[str, ...]
    whole: tuple[str, ...]
    stops: tuple[str, ...]


def words(text: str, spoken: str | None = None) -> list[str]:
    """The terms of a text, repeated as often as they occur. Stop words are kept only when there is nothing else.

    `spoken` is the language of its Latin words, guessed when it is not given.
    """
    return list(_short(text, spoken) if len(text) <= SHORT else _words(text, spoken))


def _words(text: str, spoken: str | None) -> Sequence[str]:
    seen = text if text.isascii() else unicodedata.normalize("NFKC", text)
    spoken = spoken or latin_language(seen)
    content: list[str] = []
    whole: list[str] = []
    stops: list[str] = []
    for run in (_ASCII_RUN if seen.isascii() else _RUN).findall(seen):
        found = _analysed(run, spoken) if len(run) <= MAX_TERM else _run(run, spoken)
        content += found.content
        whole += found.whole
        stops += found.stops
    return content + whole if content else whole + stops


_short = lru_cache(maxsize=1 << 11)(_words)


def request_terms(text: str) -> dict[str, float]:
    """Terms of a request with weights: a word said q times weighs 2q / (1 + q), so repeats add little."""
    return {term: 2 * count / (1 + count) for term, count in Counter(words(cut_request(text))).items()}


def cut_request(text: str) -> str:
    """The text itself, or its head and tail when it is longer than MAX_REQUEST; callers say so when it was cut."""
    if len(text) <= MAX_REQUEST:
        return text
    half = MAX_REQUEST // 2
    return f"{text[:half]} {text[1 - half :]}"


def tool_terms(spec: ToolSpec) -> tuple[dict[str, float], float]:
    """Weighted term frequencies of all fields of a tool, and its weighted length: one bag of words."""
    terms: dict[str, float] = {}
    length = 0.0
    for field, term, count in field_terms(spec):
        weight = WEIGHTS[field] * count
        terms[term] = terms.get(term, 0.0) + weight
        length += weight
    return terms, length


def field_terms(spec: ToolSpec) -> Iterator[tuple[str, str, int]]:
    """Every field of a tool with each term in it and how often it occurs there."""
    for field, texts in field_texts(spec).items():
        counts = Counter(chain.from_iterable(map(words, texts)))
        for term, count in counts.items():
            yield field, term, count


def encoder_text(spec: ToolSpec) -> str:
    """What an encoder sees of a tool: "namespace words name words, title, aliases: description, example requests".

    What people call a tool and how they ask for it stands for more of its meaning than a description alone. Encoders
    that read only the start of a text lose examples first.
    """
    name = " ".join(part for part in (spaced(spec.namespace), spaced(spec.name)) if part)
    title = (spec.title or "").strip()
    others = [title] if title and name_key(title) != name_key(spec.name) else []
    called = ", ".join([name, *others, *filter(str.strip, spec.aliases)])
    described = " ".join(filter(None, (spec.description.strip(), ". ".join(spec.examples))))
    return f"{called}: {described}" if described else called


def spaced(identifier: str) -> str:
    """An identifier as plain words in lower case: "createPullRequest" gives "create pull request"."""
    runs = _RUN.findall(unicodedata.normalize("NFKC", identifier))
    return " ".join(part for run in runs for part in identifier_parts(run)).lower()


def name_key(text: str) -> str:
    """The key for exact lookup: equal for one name in any case and separator style.

    "createPullRequest", "create_pull_request" and "Create pull request" have one key. A name without letters and
    digits keeps its characters.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _NOT_KEY.sub("", folded) or "".join(folded.split())


def name_keys(spec: ToolSpec) -> list[str]:
    """Keys of a tool's name, title, aliases and id, without repeats and in this order."""
    keys = (name_key(text) for text in (spec.name, spec.title or "", *spec.aliases, spec.id))
    return list(dict.fromkeys(key for key in keys if key))


def identifier_parts(run: str) -> list[str]:
    """The words of an identifier in their own case: at separators, and at humps of camelCase."""
    return [part for piece in _SEPARATORS.split(run) if piece for part in _humps(piece)]


def _humps(piece: str) -> list[str]:
    if piece.islower() or piece.isupper():
        return [piece]
    cuts = [0, *(found.start() for found in _CASE.finditer(_shape(piece))), len(piece)]
    return [piece[start:end] for start, end in pairwise(cuts) if start < end]


def _shape(piece: str) -> str:
    """The same length, with an ASCII letter for each letter of any script, so that one pattern serves all."""
    if piece.isascii():
        return piece
    return "".join(c if c.isascii() else "A" if c.isupper() else "a" if c.islower() else "0" for c in piece)


def _run(run: str, spoken: str) -> Run:
    if _UNSPACED.search(run):
        return _mixed(run, spoken)
    content: list[str] = []
    stops: list[str] = []
    parts = [part.lower() for part in identifier_parts(run)]
    for part in parts:
        (stops if _is_stop(part, spoken) else content).append(term(part, spoken))
    whole = "".join(parts)
    keep = 1 < len(parts) <= MAX_PARTS and len(whole) <= MAX_TERM and not whole.isdigit()
    return Run(tuple(content), (term(whole, spoken),) if keep else (), tuple(stops))


_analysed = lru_cache(maxsize=1 << 14)(_run)


def _mixed(run: str, spoken: str) -> Run:
    """A run with characters of unspaced scripts: those as pairs and singles, the rest as usual."""
    content: list[str] = []
    stops: list[str] = []
    for piece in _PIECES.findall(run):
        if _UNSPACED.match(piece):
            content += [*piece, *(first + second for first, second in pairwise(piece))]
            continue
        for found in (_run(part, spoken) for part in _RUN.findall(piece)):
            content += found.content
            stops += found.stops
    return Run(tuple(content), (), tuple(stops))


def _is_stop(word: str, spoken: str) -> bool:
    return word in STOP_WORDS["en"] or (word in STOP_WORDS.get(word_language(word, spoken), ()))


def term(word: str, spoken: str) -> str:
    """The term of one word in lower case: its stem without accents, at most MAX_TERM long."""
    return _short_term(fold(stem(word, word_language(word, spoken))))


known_term = lru_cache(maxsize=1 << 12)(term)
"""The same for the words of requests, which recur."""


def terms_of(words: Sequence[str], spoken: str) -> list[str]:
    """The terms of many words whose language is that of the first one's letters."""
    return [_short_term(fold(found)) for found in stems(words, word_language(words[0], spoken))]


def _short_term(found: str) -> str:
    return found if len(found) <= MAX_TERM else found[: MAX_TERM // 2] + found[-MAX_TERM // 2 :]
