"""Tools of Python files and modules. They are imported, which runs their code: only for sources that you trust."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from toolsearch.catalog.functions import as_tool, tools_from
from toolsearch.catalog.langchain import from_langchain, is_langchain
from toolsearch.catalog.loaded import Collector, Loaded
from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.tool import Tool, ToolSpec


def load_file(path: Path, *, keep_going: bool = False) -> Loaded:
    """The decorated functions of a Python file; their source is `python:FILE:name`.

    Raises:
        InvalidSource: it cannot be run, or nothing in it is decorated.
    """
    name = f"_toolsearch_{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidSource(f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _run(lambda: cast("Any", spec.loader).exec_module(module), path.name)
    collector = Collector(keep_going=keep_going)
    for tool in _tools(module, path.name, collector):
        source = tool.spec.source.replace(f"python:{name}:", f"python:{path.name}:", 1)
        collector.add(Tool(tool.spec.with_(source=source, id=tool.spec.id), tool.execute), path.name)
    return collector.loaded()


def load_module(source: str, *, keep_going: bool = False) -> Loaded:
    """The tools of `module:name`: a function, a class, an object with decorated methods, or a list of these.

    `module:` alone takes the decorated functions of the module. The current folder counts as a place of modules.

    Raises:
        InvalidSource: there is no such module or name, or it is no tool.
    """
    module_name, _, path = source.partition(":")
    if not module_name or not all(part.isidentifier() for part in (*module_name.split("."), *path.split(".")) if part):
        raise InvalidSource(f"there is no file {source[:120]!r}, and it is not written as 'module:name'")
    found: Any = _run(lambda: _imported(module_name), source)
    for name in filter(None, path.split(".")):
        if not hasattr(found, name):
            raise InvalidSource(f"{source[:120]}: {module_name} has no {path[:80]!r}")
        found = getattr(found, name)
    collector = Collector(keep_going=keep_going)
    for tool in _tools(found, source, collector):
        collector.add(tool, source)
    return collector.loaded()


def tools_of(thing: object) -> Iterator[Tool]:
    """The tools that a Python object is or holds; lists are walked in order.

    Raises:
        InvalidTool: it is and holds none.
    """
    if isinstance(thing, list | tuple):
        for one in cast("list[object]", thing):
            yield from tools_of(one)
    elif is_langchain(thing):
        yield from_langchain(thing)
    elif isinstance(thing, Tool | ToolSpec) or (callable(thing) and not isinstance(thing, type)):
        yield as_tool(thing)
    else:
        yield from tools_from(thing)


def _tools(thing: object, where: str, collector: Collector) -> Iterator[Tool]:
    try:
        yield from tools_of(thing)
    except InvalidInput as error:
        collector.fail(where, str(error))


def _imported(name: str) -> ModuleType:
    here = str(Path.cwd())
    added = here not in sys.path and "" not in sys.path
    if added:
        sys.path.append(here)
    try:
        return importlib.import_module(name)
    finally:
        if added:
            sys.path.remove(here)


def _run(code: Callable[[], Any], where: str) -> Any:
    try:
        return code()
    except InvalidInput as error:
        raise InvalidSource(f"{where[:120]}: {error}") from None
    except (Exception, SystemExit) as error:  # somebody's module may raise anything
        raise InvalidSource(f"{where[:120]} cannot be imported: {type(error).__name__}: {str(error)[:200]}") from error
