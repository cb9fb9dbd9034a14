"""Names that a provider refuses, that look like another script, or that two tools share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from toolsearch.catalog.findings import Rule, Said, SaidAcross, Severity, listed, named
from toolsearch.catalog.names import RULES as PROVIDER_RULES
from toolsearch.catalog.names import exposed_name
from toolsearch.text import name_key
from toolsearch.tool import ToolSpec

DROPPED: Final = 4
"""From this many names of others on, a description is made to be found for them."""

NAME_RULES: Final = {
    "name-refused": Rule(Severity.WARNING, "a name that a provider refuses"),
    "name-lookalike": Rule(Severity.ERROR, "a name whose words mix Latin letters with ones that look like them"),
    "name-collision": Rule(Severity.WARNING, "two names of one namespace that are equal, case and separators aside"),
    "name-claimed": Rule(Severity.WARNING, "an alias or a title that is another tool's name"),
    "name-dropping": Rule(Severity.WARNING, f"a description that names {DROPPED} or more tools of others"),
}
_PROVIDERS: Final = tuple(name for name in PROVIDER_RULES if name != "portable")
_IDENTIFIER: Final = re.compile(r"\b(?:[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)\b")
"""A name of several words, which no prose holds by chance."""
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_TWINS: Final = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
"""Scripts with letters that look like Latin ones."""


def names(spec: ToolSpec) -> Said:
    """What is wrong with a tool's own name."""
    refusing = [one for one in _PROVIDERS if not PROVIDER_RULES[one].takes(spec.name)]
    if refusing:
        yield (
            "name-refused",
            f"{', '.join(refusing)} {'refuse' if len(refusing) > 1 else 'refuses'} the name {named(spec.name)}, which "
            f"is shown as {named(exposed_name(spec.id))}; use letters, digits, _ and -, at most 64.",
        )
    mixed = [word for word in _LETTERS.findall(spec.name) if not word.isascii() and _mixes(word)]
    if mixed:
        yield (
            "name-lookalike",
            f"{mixed[0][:40]!a} in the name mixes Latin letters with letters that look like them, so it can pass "
            "for another tool; write it in one script.",
        )


def _mixes(word: str) -> bool:
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in word[:200]}
    return "LATIN" in scripts and not scripts.isdisjoint(_TWINS)


def same_names(specs: Sequence[ToolSpec]) -> SaidAcross:
    """Tools whose names cannot be told apart, or that answer to the name of another one."""
    owners: dict[str, ToolSpec] = {}
    spaces: dict[tuple[str, str], ToolSpec] = {}
    for spec in specs:
        key = name_key(spec.name)
        owners.setdefault(key, spec)
        other = spaces.setdefault((spec.namespace, key), spec)
        if other is not spec:
            yield (
                spec,
                "name-collision",
                f"The name is that of {named(other.id)}, case and separators aside; rename one.",
            )
    yield from _claiming(specs, owners)
    yield from _dropping(specs)


def _claiming(specs: Sequence[ToolSpec], owners: dict[str, ToolSpec]) -> SaidAcross:
    for spec in specs:
        claimed = list(dict.fromkeys(_claimed(spec, owners)))
        if claimed:
            yield (
                spec,
                "name-claimed",
                f"Its title or an alias is the name of {listed(claimed)}, so it is found when that is asked for; "
                "choose other words.",
            )


def _dropping(specs: Sequence[ToolSpec]) -> SaidAcross:
    """Descriptions that name many tools of others, and so are found for what those do."""
    homes = {spec.name: _home(spec) for spec in specs if _IDENTIFIER.fullmatch(spec.name)}
    for spec in specs:
        told = dict.fromkeys(_IDENTIFIER.findall(spec.description))
        foreign = [name for name in told if homes.get(name, _home(spec)) != _home(spec)]
        if len(foreign) >= DROPPED:
            yield (
                spec,
                "name-dropping",
                f"The description names tools of others ({listed(foreign)}), so it is found for what they do; "
                "describe only this tool.",
            )


def _home(spec: ToolSpec) -> tuple[str, str]:
    return spec.namespace, spec.source


def _claimed(spec: ToolSpec, owners: dict[str, ToolSpec]) -> Iterable[str]:
    own = name_key(spec.name)
    for text in (spec.title or "", *spec.aliases):
        key = name_key(text)
        if key and key != own and key in owners:
            yield owners[key].id
