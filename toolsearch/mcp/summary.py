"""A short, stable word on what is behind a gateway: where its tools come from and what they are about.

It is a pure function of what the caller may see, so it tells nothing of other tools and is the same on every worker.
Only names go in, as plain words: they are what a server can least abuse.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Final

from toolsearch.stopwords import STOP_WORDS
from toolsearch.tool import ToolSpec

MAX_TOOLS: Final = 20_000
"""Tools that are looked at."""
MAX_SOURCES: Final = 40
"""Sources that are named."""
DETAILED: Final = 12
"""Up to so many sources, words say what each is about."""
WORDS: Final = 4
MAX_NAME: Final = 40
_CASE: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def summary(tools: Iterable[ToolSpec], places: Iterable[str] = ()) -> str:
    """The sources of the tools in order of names, with words when there are few; "" when there is nothing.

    `places` are sources that are named whether they have tools or not.
    """
    sources: dict[str, Counter[str]] = {_plain(place): Counter() for place in places}
    for spec in islice(tools, MAX_TOOLS):
        place = _plain(spec.namespace) or "others"
        sources.setdefault(place, Counter()).update(_words(spec.name))
    names = sorted(sources)
    if len(names) <= DETAILED:
        return "; ".join(_told(name, sources[name]) for name in names)
    more = len(names) - MAX_SOURCES
    return ", ".join(names[:MAX_SOURCES]) + (f" and {more} more" if more > 0 else "")


def _told(name: str, counts: Counter[str]) -> str:
    own = set(_words(name))
    best = sorted((word for word in counts if word not in own), key=lambda word: (-counts[word], word))
    return f"{name} ({', '.join(best[:WORDS])})" if best else name


def _words(name: str) -> set[str]:
    found = {word.lower() for word in _CASE.findall(name[:200])}
    return {word for word in found if 2 < len(word) <= 20 and word not in STOP_WORDS["en"]}


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", " ", name[: 2 * MAX_NAME]).strip()[:MAX_NAME]
