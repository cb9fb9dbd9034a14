"""What lint says of a catalog: findings, and the rules that they come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from toolsearch.tool import ToolSpec

MAX_QUOTED: Final = 60
"""Most characters of a catalog's text that a finding repeats."""
MAX_NAME: Final = 120
"""Most characters of a name."""


class Severity(StrEnum):
    """How bad it is: breaks or attacks something, makes search or the model worse, or is good to know."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong with one tool, in a plain sentence with the way out."""

    tool: str
    rule: str
    severity: Severity
    message: str

    def to_json(self) -> dict[str, str]:
        """The finding as a JSON object."""
        return {"tool": self.tool, "rule": self.rule, "severity": self.severity.value, "message": self.message}


@dataclass(frozen=True, slots=True)
class Rule:
    """How bad a rule's findings are, and what it looks for."""

    severity: Severity
    looks_for: str


Said = Iterator[tuple[str, str]]
"""What a check says of one tool: pairs of rule and sentence."""
SaidAcross = Iterator[tuple[ToolSpec, str, str]]
"""What a check over a whole catalog says: tool, rule and sentence."""


def quoted(text: str) -> str:
    """The text in quotes and cut, with every character that cannot be seen written out."""
    shown = text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1]}…"
    return repr(shown)


def named(name: str) -> str:
    """An id or a name in quotes; of a long one the middle is left out."""
    return repr(name if len(name) <= MAX_NAME else f"{name[: MAX_NAME // 2]}…{name[1 - MAX_NAME // 2 :]}")


def listed(names: list[str], most: int = 3) -> str:
    """The first few names, quoted, and how many more there are."""
    shown = ", ".join(named(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
