"""What is wrong with a catalog, tool by tool: texts, names, schemas, twins, and texts that attack the model.

Every rule is in RULES. Nothing is sent or changed, and time is bounded by the size of the catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from toolsearch.catalog.findings import Finding, Rule, Said, SaidAcross, Severity
from toolsearch.catalog.lint_attacks import ATTACK_RULES, attacks
from toolsearch.catalog.lint_descriptions import DESCRIPTION_RULES, descriptions
from toolsearch.catalog.lint_names import NAME_RULES, names, same_names
from toolsearch.catalog.lint_schemas import SCHEMA_RULES, schemas
from toolsearch.catalog.lint_twins import TWIN_RULES, twins
from toolsearch.errors import InvalidInput
from toolsearch.tool import ToolSpec

__all__ = ["RULES", "Finding", "Severity", "lint"]

RULES: Final[dict[str, Rule]] = {**ATTACK_RULES, **DESCRIPTION_RULES, **NAME_RULES, **SCHEMA_RULES, **TWIN_RULES}
"""Name -> rule."""
_EACH: Final[tuple[tuple[dict[str, Rule], Callable[[ToolSpec], Said]], ...]] = (
    (ATTACK_RULES, attacks),
    (DESCRIPTION_RULES, descriptions),
    (NAME_RULES, names),
    (SCHEMA_RULES, schemas),
)
_ACROSS: Final[tuple[tuple[dict[str, Rule], Callable[[Sequence[ToolSpec]], SaidAcross]], ...]] = (
    (NAME_RULES, same_names),
    (TWIN_RULES, twins),
)
_Check = TypeVar("_Check")
_ORDER: Final = {severity: place for place, severity in enumerate(Severity)}


def lint(tools: Iterable[ToolSpec], rules: Iterable[str] | None = None) -> tuple[Finding, ...]:
    """The findings of some rules, or of all; the worst first, then in catalog order.

    Raises:
        InvalidInput: a rule is not known.
    """
    wanted = known_rules(RULES if rules is None else rules)
    specs = list(tools)
    places = {spec.id: place for place, spec in enumerate(specs)}
    found = [_finding(spec.id, said) for spec in specs for check in _wanted(_EACH, wanted) for said in check(spec)]
    for check in _wanted(_ACROSS, wanted):
        found += [_finding(spec.id, (rule, message)) for spec, rule, message in check(specs)]
    kept = (one for one in found if one.rule in wanted)
    return tuple(sorted(kept, key=lambda one: (_ORDER[one.severity], places[one.tool])))


def known_rules(names: Iterable[str]) -> frozenset[str]:
    """The names as a set.

    Raises:
        InvalidInput: one of them is no rule.
    """
    wanted = frozenset(names)
    for name in sorted(wanted - RULES.keys()):
        raise InvalidInput(f"no rule {name[:80]!r}; the rules are {', '.join(RULES)}")
    return wanted


def _wanted(table: Iterable[tuple[dict[str, Rule], _Check]], rules: frozenset[str]) -> list[_Check]:
    return [check for its_rules, check in table if not rules.isdisjoint(its_rules)]


def _finding(tool: str, said: tuple[str, str]) -> Finding:
    rule, message = said
    return Finding(tool=tool, rule=rule, severity=RULES[rule].severity, message=message)
