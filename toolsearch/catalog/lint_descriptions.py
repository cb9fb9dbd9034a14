"""Descriptions that search and a model can do little with."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Final

from toolsearch.catalog.findings import Rule, Said, Severity
from toolsearch.stopwords import STOP_WORDS
from toolsearch.text import words
from toolsearch.tool import ToolSpec

LONG: Final = 1_024
"""Characters of a description that every client and the usual encoders read; some cut or refuse longer ones."""
FILLERS: Final = "get list fetch return retrieve show all id given specific data information details api endpoint test"
"""Words that say nothing of what a tool does."""
STUFFED: Final = 40
"""Fewest words of a description before it can count as stuffed."""

DESCRIPTION_RULES: Final = {
    "description-missing": Rule(Severity.ERROR, "no description"),
    "description-short": Rule(Severity.WARNING, "a description that says nothing that the name does not"),
    "description-long": Rule(Severity.WARNING, f"a description of more than {LONG} characters"),
    "description-stuffed": Rule(Severity.WARNING, "a word list, or the same words again and again"),
}


def descriptions(spec: ToolSpec) -> Said:
    """What is wrong with a tool's description."""
    text = spec.description.strip()
    if not text:
        yield (
            "description-missing",
            "There is no description, so only names tell what the tool is for; say what it does, and when to use it.",
        )
        return
    if not spec.examples and _fillers().issuperset({*words(text)} - {*words(f"{spec.name} {spec.namespace}")}):
        yield (
            "description-short",
            "The description says nothing that the name does not; say what the tool does, to what, and when to use it.",
        )
    if len(text) > LONG:
        yield (
            "description-long",
            f"The description has {len(text)} characters and some clients cut or refuse more than {LONG}; "
            "say the essential first, and move details to the parameters.",
        )
    if reason := _stuffed(text):
        yield "description-stuffed", f"The description {reason}; write one or two sentences instead."


@cache
def _fillers() -> frozenset[str]:
    return frozenset(words(FILLERS))


def _stuffed(text: str) -> str:
    """Why a text is no prose but made to be found, "" when it is not. Only for texts in Latin letters."""
    found = [word.strip(".,;:!?()'\"") for word in text.lower().split()]
    if len(found) < STUFFED:
        return ""
    counts = Counter(word for word in found if word not in STOP_WORDS["en"] and word.isalpha())
    if not counts:
        return ""
    word, most = counts.most_common(1)[0]
    if counts.total() > 3.5 * len(counts):
        return f"repeats its words {counts.total() / len(counts):.0f} times on average"
    if most >= 10 and most * 6 > len(found):
        return f"says {word[:40]!r} {most} times"
    return ""
