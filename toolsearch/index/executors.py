"""What runs a tool: bound by hand, or a Python function that the definition allows.

A tool's source is data and may come from anywhere. It alone never makes a module run: only files and modules that
the index's own definition lists are imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, cast

from toolsearch.catalog.functions import tool_in
from toolsearch.catalog.running import Running
from toolsearch.errors import InvalidInput, InvalidSource, InvalidTool
from toolsearch.index.given import tools_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from types import ModuleType

    from toolsearch.index.definition import Definition
    from toolsearch.index.given import Given
    from toolsearch.tool import Executor, ToolSpec

SCHEME: Final = "python:"


class Executors:
    """Executors of one index. `allowed` lists modules and Python files, relative to `folder`.

    `running` says which servers and services run tools of other sources; an agent opens and calls them.
    """

    def __init__(
        self, allowed: tuple[str, ...] = (), folder: Path | None = None, running: Running | None = None
    ) -> None:
        self._allowed, self._folder, self.running = allowed, folder, running or Running()
        self.bound: dict[str, Executor] = {}
        """What was bound, by id."""
        self._modules: dict[str, ModuleType] = {}

    @classmethod
    def of(cls, definition: Definition | None, folder: Path | None) -> Executors:
        """What a definition allows; without one, only what is bound."""
        if definition is None:
            return cls((), folder)
        running = Running(sources=definition.resolved, services=definition.http, folder=definition.folder)
        return cls(definition.python, folder, running)

    def bind(self, executors: Mapping[str, Callable[..., Any]]) -> None:
        """Say what runs tools, by id; this goes before what their source says."""
        self.bound.update(executors)

    def taken(self, tools: Iterable[Given]) -> list[ToolSpec]:
        """Definitions of tools, whose executors are bound when they come with one."""
        given = tools_of(tools)
        self.bind({one.spec.id: one.execute for one in given if one.execute is not None})
        return [one.spec for one in given]

    def find(self, spec: ToolSpec) -> Executor | None:
        """What runs a tool; None when nothing is bound and its source names no Python object.

        The object is a Tool, a function, a static or class method (`Class.name`), a function of `arguments` and
        `context`, or has `for_tool(spec)` that gives one of those.

        Raises:
            InvalidSource: its source names a function that the definition does not allow, or that is not there.
        """
        bound = self.bound.get(spec.id)
        if bound is not None or not spec.source.startswith(SCHEME):
            return bound
        place, _, attribute = spec.source.removeprefix(SCHEME).rpartition(":")
        if place not in self._allowed:
            raise InvalidSource(
                f"tool {spec.id[:200]!r} wants to run {spec.source[:200]!r}, which the index's definition does not "
                f"allow; add {place[:80]!r} to python = [...] in index.toml, or bind an executor"
            )
        try:
            return _executor(self._module(place), attribute, spec)
        except (AttributeError, InvalidInput) as error:
            raise InvalidSource(
                f"tool {spec.id[:200]!r} is run by {spec.source[:200]!r}, which is no function: {str(error)[:200]}"
            ) from None

    def _module(self, place: str) -> ModuleType:
        if place not in self._modules:
            try:
                self._modules[place] = self._loaded(place)
            except (ImportError, OSError, SyntaxError) as error:
                raise InvalidSource(f"{place!r}, which runs tools, cannot be imported: {str(error)[:200]}") from None
        return self._modules[place]

    def _loaded(self, place: str) -> ModuleType:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        path = self._folder / place if self._folder else None
        spec = importlib.util.spec_from_file_location(f"_toolsearch_{abs(hash(path))}", path) if path else None
        if spec is None or spec.loader is None:
            raise ImportError(f"no Python file at {place!r}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module


def _executor(module: ModuleType, path: str, spec: ToolSpec) -> Executor:
    """What runs a tool, from what stands at a place of a module.

    Raises:
        AttributeError: nothing stands there.
        InvalidTool: it cannot run a tool.
    """
    found: Any = getattr(module, path, None)
    if hasattr(found, "for_tool"):
        return cast("Executor", found.for_tool(spec))
    if isinstance(found, FunctionType) and tuple(inspect.signature(found).parameters) == ("arguments", "context"):
        return cast("Executor", found)
    execute = tool_in(module, path).execute
    if execute is None:
        raise InvalidTool(f"{path!r:.120} is a definition without a function")
    return execute
