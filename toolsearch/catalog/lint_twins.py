"""Tools that say nearly the same, so that neither search nor a model can tell them apart.

The overlap of two tools is the weight of their common words over the weight of all their words, where a word
weighs the more the fewer tools have it. Candidates share a word among the rarest of each (prefix filtering, exact for
the threshold). Looking at no more than MAX_CANDIDATES of them bounds the time in catalogs full of copies. Names that
differ in more than a version or a word that says nothing tell two tools apart, however alike their descriptions are.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from toolsearch.catalog.findings import Rule, SaidAcross, Severity, listed
from toolsearch.fields import field_texts
from toolsearch.text import spaced, words
from toolsearch.tool import ToolSpec

OVERLAP: Final = 0.8
"""From this overlap of all words on, two tools are near-duplicates."""
NAMES: Final = 0.6
"""From this overlap of the words of their names on."""
MIN_WORDS: Final = 4
"""Tools with fewer words are not compared."""
MAX_CANDIDATES: Final = 50
EMPTY: Final = "get list fetch the a of for all data detail details info api endpoint new old copy test deprecated"
"""Words of names that tell no two tools apart."""

TWIN_RULES: Final = {
    "description-shared": Rule(Severity.WARNING, "a description that another tool has word for word"),
    "near-duplicate": Rule(Severity.WARNING, "a tool that says nearly the same as an earlier one"),
}


def twins(specs: Sequence[ToolSpec]) -> SaidAcross:
    """Tools that are hard to tell from earlier ones."""
    yield from _shared(specs)
    yield from _near(specs)


def _shared(specs: Sequence[ToolSpec]) -> SaidAcross:
    owners: dict[str, list[ToolSpec]] = defaultdict(list)
    for spec in specs:
        key = " ".join(spec.description.lower().split())
        if len(words(key)) >= MIN_WORDS - 1:
            owners[key].append(spec)
    for first, *others in owners.values():
        for spec in others:
            yield (
                spec,
                "description-shared",
                f"The description is word for word that of {listed([first.id])}; say what is different.",
            )


def _near(specs: Sequence[ToolSpec]) -> SaidAcross:
    bags = [frozenset(_all_words(spec)) for spec in specs]
    empty = frozenset(words(EMPTY))
    names = [frozenset(words(spaced(spec.name))) - empty for spec in specs]
    for later, earlier in _pairs(bags, names):
        message = f"It says nearly the same as {listed([specs[one].id for one in earlier])}; "
        yield specs[later], "near-duplicate", f"{message}merge them or say when to use which."


def _all_words(spec: ToolSpec) -> Iterator[str]:
    texts = field_texts(spec)
    for field in ("name", "title", "description", "parameter names"):
        for text in texts[field]:
            yield from words(spaced(text) if field.endswith(("name", "names")) else text)


def _pairs(bags: Sequence[frozenset[str]], names: Sequence[frozenset[str]]) -> Iterator[tuple[int, list[int]]]:
    """Each tool with the earlier ones that overlap with it enough, the closest first."""
    weights = _weights(bags)
    totals = [sum(weights[word] for word in bag) for bag in bags]
    holders: dict[str, list[int]] = defaultdict(list)
    for place, bag in enumerate(bags):
        if len(bag) < MIN_WORDS:
            continue
        prefix = _prefix(bag, weights, totals[place])
        candidates = sorted({one for word in prefix for one in holders[word][-MAX_CANDIDATES:]})[-MAX_CANDIDATES:]
        near: list[tuple[float, int]] = []
        for one in candidates:
            if _same(names[place], names[one]):
                common = sum(weights[word] for word in bag & bags[one])
                near.append((-common / (totals[place] + totals[one] - common), one))
        if found := [one for overlap, one in sorted(near) if -overlap >= OVERLAP]:
            yield place, found
        for word in prefix:
            holders[word].append(place)


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether names differ in nothing, or in a number or version that only one of them has."""
    nested = one <= other or other <= one
    return nested and all(re.fullmatch(r"v?\d*", word) for word in one ^ other)


def _weights(bags: Sequence[frozenset[str]]) -> dict[str, float]:
    """What each word weighs: the logarithm of how rare it is, and never nothing."""
    counts = Counter(word for bag in bags for word in bag)
    return {word: math.log1p(len(bags) / count) for word, count in counts.items()}


def _prefix(bag: frozenset[str], weights: dict[str, float], total: float) -> list[str]:
    """The rarest words of a bag: two bags that overlap enough have one of them in common."""
    ranked = sorted(bag, key=lambda word: (-weights[word], word))
    left = total
    for place, word in enumerate(ranked):
        if left < OVERLAP * total:
            return ranked[:place]
        left -= weights[word]
    return ranked
