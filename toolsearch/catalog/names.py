"""Names that a provider takes: a pure function of a tool's id and the provider's rule, never of its neighbours.

`payments/refund` is exposed as `payments__refund`. Whatever a rule does not take is replaced, and then ten
hexadecimal digits of the id's hash are added, so that two ids never share a name and stored histories stay valid.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from toolsearch.errors import DuplicateTool, InvalidInput

DIGITS: Final = 10
_HASHED: Final = re.compile(rf".*_[0-9a-f]{{{DIGITS}}}")


@dataclass(frozen=True, slots=True)
class Rule:
    """Legal characters after the first, whether the first must be a letter or underscore, and the longest name."""

    characters: str
    length: int
    letter_first: bool = False

    def takes(self, name: str) -> bool:
        """Whether a name is legal."""
        first = "[A-Za-z_]" if self.letter_first else f"[{self.characters}]"
        return bool(re.fullmatch(rf"{first}[{self.characters}]*", name)) and len(name) <= self.length


RULES: Final = {
    "portable": Rule("A-Za-z0-9_-", 64, letter_first=True),
    "openai": Rule("A-Za-z0-9_-", 64),
    "anthropic": Rule("A-Za-z0-9_-", 128),
    "gemini": Rule("A-Za-z0-9_.:-", 128, letter_first=True),
    "ollama": Rule("A-Za-z0-9_-", 64, letter_first=True),
    "mcp": Rule("A-Za-z0-9._-", 128),
}
"""Rules of the providers; `portable` is legal everywhere."""


def exposed_name(tool_id: str, provider: str = "portable") -> str:
    """The name under which a provider is told of a tool.

    Raises:
        InvalidInput: the provider is not known.
    """
    rule = rule_of(provider)
    plain = tool_id.replace("/", "__")
    if "__" not in tool_id and "___" not in plain and rule.takes(plain) and not _HASHED.fullmatch(plain):
        return plain
    digest = hashlib.sha256(tool_id.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
    bare = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    words = re.sub(r"[^A-Za-z0-9_-]+", "_", bare).strip("_-") or "tool"
    start = words if re.match(r"[A-Za-z]", words) else f"t_{words}"
    return f"{start[: rule.length - DIGITS - 1].rstrip('_-')}_{digest}"


def exposed_names(ids: Iterable[str], provider: str = "portable") -> dict[str, str]:
    """Name -> id for all ids: how a call finds its tool again.

    Raises:
        DuplicateTool: two ids have one name; it names both.
    """
    table: dict[str, str] = {}
    for tool_id in ids:
        name = exposed_name(tool_id, provider)
        if table.setdefault(name, tool_id) != tool_id:
            raise DuplicateTool(
                f"{table[name][:120]!r} and {tool_id[:120]!r} would both be called {name!r}; rename one"
            )
    return table


def rule_of(provider: str) -> Rule:
    """The rule of a provider.

    Raises:
        InvalidInput: the provider is not known.
    """
    if provider not in RULES:
        raise InvalidInput(f"no provider {provider[:40]!r}; known are {', '.join(RULES)}")
    return RULES[provider]
