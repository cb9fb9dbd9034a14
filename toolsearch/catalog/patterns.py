"""How long a text may be before a regular expression from outside is no longer tried on it.

Python's engine goes back and tries again: a repetition inside a repetition takes exponential time, and k of them side
by side take time to the power of k. Patterns of the first kind are never run, others only on texts that are short
enough for WORK steps.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

WORK: Final = 10_000_000
"""Steps that one search may take."""
MAX_PATTERN: Final = 1000
"""Characters of a pattern that is tried at all."""
MAX_OPTIONS: Final = 15
"""Optional parts side by side; each may double the time."""

_PARSER: Final[Any] = import_module("re._parser")
_REPEATS: Final = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


@lru_cache(maxsize=4096)
def longest_text(pattern: str) -> int:
    """Characters of the longest text that a pattern is tried on; 0 when it is not safe, or no Python pattern."""
    if len(pattern) > MAX_PATTERN:
        return 0
    try:
        re.compile(pattern)
        tree: Any = _PARSER.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return 0
    counts = {"long": 0, "short": 0}
    if not _counted(tree, counts, inside=False) or counts["short"] > MAX_OPTIONS:
        return 0
    power = counts["long"] + (0 if pattern.startswith("^") else 1)
    return int(WORK ** (1 / max(power, 1))) if power < 12 else 0


def found(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text; yes where that cannot be tried in bounded time."""
    return len(text) > longest_text(pattern) or re.search(pattern, text) is not None


def _counted(tree: Any, counts: dict[str, int], *, inside: bool) -> bool:
    """Count the repetitions of a tree; False when one stands inside another, or a group is referred to."""
    for operation, argument in tree:
        name = str(operation)
        if name.startswith("GROUPREF") or (name == "BRANCH" and inside):
            return False
        repeats = name in _REPEATS
        if repeats and argument[0] != argument[1]:
            if inside:
                return False
            counts["short" if argument[1] == 1 else "long"] += 1
        deeper = inside or (repeats and argument[1] > 1)
        if not all(_counted(one, counts, inside=deeper) for one in _below(name, argument)):
            return False
    return True


def _below(name: str, argument: Any) -> list[Any]:
    if name in _REPEATS:
        return [argument[2]]
    if name == "BRANCH":
        return list(argument[1])
    if name in ("SUBPATTERN", "ATOMIC_GROUP"):
        return [argument[-1] if name == "SUBPATTERN" else argument]
    return [argument[1]] if name in ("ASSERT", "ASSERT_NOT") else []
