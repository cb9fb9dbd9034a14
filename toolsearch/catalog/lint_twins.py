"""Tools that say nearly the same, so that neither search nor a model can tell them apart.

The overlap of two tools is the weight of their common words over the weight of all their words, where a word
weighs the more the fewer tools have it. Candidates share a word among the rarest of each (prefix filtering, exact
for the threshold); looking at no more than MAX_CANDIDATES of them bounds the time in catalogs full of copies. Names of
which each has a word of its own, such as "create" and "delete", tell two tools apart.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from toolsearch.catalog.findings import Rule, SaidAcross, Severity, listed
from toolsearch.fields import field_texts
from toolsearch.text import words
from toolsearch.tool import ToolSpec

OVERLAP: Final = 0.8
"""From this overlap of all words on, two tools are near-duplicates."""
NAMES: Final = 0.6
"""From this overlap of the words of their names on."""
MIN_WORDS: Final = 4
"""Tools with fewer words are not compared."""
MAX_CANDIDATES: Final = 200

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
    weights = _weights(bags)
    names = [frozenset(words(spec.name)) for spec in specs]
    for later, earlier in _pairs(bags, weights):
        close = [one for one in earlier if _overlap(names[later], names[one], weights) >= NAMES]
        if close:
            ids = [specs[one].id for one in close]
            yield (
                specs[later],
                "near-duplicate",
                f"It says nearly the same as {listed(ids)}; merge them or say when to use which.",
            )


def _all_words(spec: ToolSpec) -> Iterator[str]:
    texts = field_texts(spec)
    for field in ("name", "title", "description", "parameter names"):
        for text in texts[field]:
            yield from words(text)


def _weights(bags: Sequence[frozenset[str]]) -> dict[str, float]:
    """What each word weighs: the logarithm of how rare it is, and never nothing."""
    counts = Counter(word for bag in bags for word in bag)
    return {word: math.log1p(len(bags) / count) for word, count in counts.items()}


def _pairs(bags: Sequence[frozenset[str]], weights: dict[str, float]) -> Iterator[tuple[int, list[int]]]:
    """Each tool with the earlier ones that overlap with it enough, the closest first."""
    holders: dict[str, list[int]] = defaultdict(list)
    for place, bag in enumerate(bags):
        if len(bag) < MIN_WORDS:
            continue
        prefix = _prefix(bag, weights)
        candidates = {one for word in prefix for one in holders[word][-MAX_CANDIDATES:]}
        near = [(_overlap(bag, bags[one], weights), one) for one in sorted(candidates)[-MAX_CANDIDATES:]]
        found = [one for overlap, one in sorted(near, key=lambda pair: (-pair[0], pair[1])) if overlap >= OVERLAP]
        if found:
            yield place, found
        for word in prefix:
            holders[word].append(place)


def _prefix(bag: frozenset[str], weights: dict[str, float]) -> list[str]:
    """The rarest words of a bag: two bags that overlap enough have one of them in common."""
    ranked = sorted(bag, key=lambda word: (-weights[word], word))
    left = sum(weights[word] for word in ranked)
    bound = OVERLAP * left
    for place, word in enumerate(ranked):
        if left < bound:
            return ranked[:place]
        left -= weights[word]
    return ranked


def _overlap(one: frozenset[str], other: frozenset[str], weights: dict[str, float]) -> float:
    common = sum(weights[word] for word in one & other)
    every = sum(weights[word] for word in one | other)
    return common / every if every else 0.0
