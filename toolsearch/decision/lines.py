"""What a judge on this machine reads of a tool: name, description and names of parameters, in one line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from toolsearch.fields import field_texts
from toolsearch.tool import ToolSpec

MOST_PARAMETERS: Final = 12
CHARACTERS: Final = 2_000
DESCRIPTION: Final = 600
_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
_ASKED: Final = re.compile(
    r"^(?:Name|Tool): (?P<name>.*)\nDescription: (?P<text>.*?)(?:\nParameters: (?P<names>[^\n]*))?(?:\nTOOL>>>)?\Z",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Line:
    """The parts of a tool's line, identifiers as words."""

    name: str
    text: str
    parameters: str = ""

    def joined(self) -> str:
        """The whole line."""
        end = f"; params: {self.parameters}" if self.parameters else ""
        return f"{self.name}: {self.text}{end}" if self.name else f"{self.text}{end}"

    def ends(self) -> tuple[int, int]:
        """Where the name and where the description end in the whole line, in characters."""
        name = len(self.name)
        return name, name + (2 if name else 0) + len(self.text)


def plain(text: str) -> str:
    """A text with identifiers as words: getUserName and get_user_name become "get User Name" and "get user name"."""
    return _CASE.sub(" ", text[:CHARACTERS]).strip()


def tool_line(tool: ToolSpec) -> Line:
    """What a judge reads of a tool."""
    return _line(tool.name, tool.description, ", ".join(field_texts(tool)["parameter names"][:MOST_PARAMETERS]))


def asked_line(question: str) -> Line:
    """The same from a question about a tool that follows a template of `strategies.deciding`; else the question."""
    found = _ASKED.search(question)
    return _line(found["name"], found["text"], found["names"] or "") if found else Line("", plain(question))


def _line(name: str, description: str, names: str) -> Line:
    return Line(plain(name), plain(" ".join(description.split())[:DESCRIPTION]), plain(names))
