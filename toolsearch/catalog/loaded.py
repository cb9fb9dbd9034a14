"""What reading a source gives: tools, and what was wrong with the others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from toolsearch.errors import InvalidInput, InvalidSource, LimitExceeded
from toolsearch.tool import Tool

MAX_FILE: Final = 2_000_000_000
"""Bytes of one file that is read line by line, or item by item."""
MAX_DOCUMENT: Final = 100_000_000
"""Bytes of one JSON document that is read whole, which takes eight times as many in memory."""
MAX_YAML: Final = 40_000_000
"""Bytes of one YAML or TOML document, which is read whole and takes thirty times as many."""
MAX_TOOLS: Final = 2_000_000
"""Tools of one source."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A tool that was left out, or looks wrong: where it stands and what is wrong with it."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Tools in the order of the source, the problems of those left out, and `doubts` about some that were taken."""

    tools: tuple[Tool, ...]
    problems: tuple[Problem, ...] = ()
    doubts: tuple[Problem, ...] = ()


class Collector:
    """Gathers tools; a broken one stops everything, unless `keep_going`, then it becomes a problem."""

    def __init__(self, *, keep_going: bool) -> None:
        self._keep_going = keep_going
        self._tools: dict[str, Tool] = {}
        self._places: dict[str, str] = {}
        self._problems: list[Problem] = []
        self._doubts: list[Problem] = []

    def add(self, tool: Tool, where: str) -> None:
        """Take a tool; a second one with its id is a problem that names both places.

        Raises:
            InvalidSource: the id is taken, and problems are not collected.
            LimitExceeded: there are more than MAX_TOOLS.
        """
        if tool.spec.id in self._tools:
            self.fail(where, f"the id {tool.spec.id[:200]!r} is taken by {self._places[tool.spec.id]}")
            return
        if len(self._tools) >= MAX_TOOLS:
            raise LimitExceeded(f"{where}: a source may hold {MAX_TOOLS} tools")
        self._tools[tool.spec.id] = tool
        self._places[tool.spec.id] = where

    def fail(self, where: str, reason: str) -> None:
        """Note what is wrong with a tool.

        Raises:
            InvalidSource: problems are not collected.
        """
        if not self._keep_going:
            raise InvalidSource(f"{where}: {reason}")
        self._problems.append(Problem(where, reason))

    def doubt(self, where: str, reason: str) -> None:
        """Note what looks wrong with a tool that is taken all the same."""
        self._doubts.append(Problem(where, reason))

    def extend(self, other: Loaded, where: str) -> None:
        """Take everything that another source gave."""
        for tool in other.tools:
            self.add(tool, where)
        for problem in other.problems:
            self.fail(problem.where, problem.reason)
        self._doubts += other.doubts

    def loaded(self) -> Loaded:
        """All that was gathered."""
        return Loaded(tuple(self._tools.values()), tuple(self._problems), tuple(self._doubts))


def read_json(path: Path) -> object:
    """The JSON of a file.

    Raises:
        InvalidSource: it cannot be read, or is not JSON.
        LimitExceeded: it is larger than MAX_DOCUMENT.
    """
    return parse_json(read_text(path, MAX_DOCUMENT), path.name)


def read_text(path: Path, most: int) -> str:
    """The text of a file.

    Raises:
        InvalidSource: it cannot be read, or is not UTF-8.
        LimitExceeded: it is larger than `most` bytes.
    """
    try:
        if path.is_dir():
            raise InvalidSource(f"{str(path)!r} is a folder, not a file")
        if path.stat().st_size > most:
            raise LimitExceeded(f"{path.name} has {path.stat().st_size} bytes; the bound is {most}")
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise InvalidSource(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidSource(f"{path.name} is not UTF-8 text (byte {error.start})") from None


def parse_json(text: str, where: str) -> object:
    """The value of a JSON text; NaN, infinity and equal keys are refused.

    Raises:
        InvalidSource: it is not JSON.
    """
    try:
        return json.loads(text, parse_constant=no_constant, object_pairs_hook=distinct)
    except RecursionError:
        raise InvalidSource(f"{where}: JSON nested too deep") from None
    except ValueError as error:
        raise InvalidSource(f"{where}: not JSON: {str(error)[:160]}") from None


def as_object(value: object, where: str) -> Mapping[str, Any]:
    """The value as a JSON object.

    Raises:
        InvalidInput: it is something else.
    """
    if not isinstance(value, dict):
        raise InvalidInput(f"{where}: expected a JSON object, not {value!r:.60}")
    return cast("Mapping[str, Any]", value)


def no_constant(name: str) -> None:
    """Refuse NaN and infinity.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{name} is not JSON")


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs.

    Raises:
        ValueError: two have one key.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:80]!r} stands twice in one object")
    return found
