"""The house rules: which room may import which, and how large things may grow."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "toolsearch"
LEVELS = {
    "ground": 0,
    **dict.fromkeys(["catalog", "engines", "encoders", "decision", "llm"], 1),
    "strategies": 2,
    **dict.fromkeys(["index", "agent", "evaluation"], 3),
    **dict.fromkeys(["server", "mcp", "cli", "adapters", "training", "web"], 4),
    "testing": 3.5,
}
MAX_MODULE, MAX_FUNCTION, MAX_PARAMETERS, MAX_CLASS = 300, 50, 6, 200
MODULES = sorted(PACKAGE.rglob("*.py"))


def names(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def room(parts: tuple[str, ...]) -> str:
    """The room of a module given by its path below the package; files at the top are the ground, but for one door."""
    if parts == ("__main__.py",):
        return "cli"
    return parts[0] if parts and parts[0] in LEVELS else "ground"


def imports(tree: ast.AST) -> list[tuple[str, ...]]:
    """Absolute imports of this package, as paths below it."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [tuple(name.split(".")[1:]) for name in found if name.split(".")[0] == "toolsearch"]


def allowed(importer: str, imported: str) -> bool:
    """Arrows point down; rooms of the first level and faces do not import each other; cli may start faces."""
    if importer == imported or LEVELS[imported] < LEVELS[importer]:
        return True
    return importer == "cli" and LEVELS[imported] == 4 and imported != "cli"


@pytest.mark.parametrize("path", MODULES, ids=names)
def test_imports_point_down(path: Path) -> None:
    """A module imports its own room and rooms below it, nothing else."""
    here = room(path.relative_to(PACKAGE).parts)
    if path == PACKAGE / "__init__.py":
        pytest.skip("the front door resolves its names lazily; another test watches what it loads")
    for target in imports(ast.parse(path.read_text("utf-8"))):
        assert allowed(here, room(target)), f"{here} must not import {'.'.join(target)}"


@pytest.mark.parametrize("path", MODULES, ids=names)
def test_sizes_stay_small(path: Path) -> None:
    """Modules, functions, classes and parameter lists stay within the budget; no assert in the package."""
    source = path.read_text("utf-8")
    assert source.count("\n") <= MAX_MODULE
    for node in ast.walk(ast.parse(source)):
        assert not isinstance(node, ast.Assert), f"assert at line {node.lineno}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            given = [a for a in arguments if a.arg not in ("self", "cls")]
            assert len(given) <= MAX_PARAMETERS, f"{node.name} takes {len(given)} parameters"
            assert (node.end_lineno or 0) - node.lineno + 1 <= MAX_FUNCTION, f"{node.name} is too long"
        if isinstance(node, ast.ClassDef):
            assert (node.end_lineno or 0) - node.lineno + 1 <= MAX_CLASS, f"{node.name} is too long"


def test_no_room_is_called_utils() -> None:
    """Every module is named after its one concept."""
    assert not [p for p in MODULES if p.stem in ("utils", "util", "helpers", "common", "misc")]


def test_importing_is_light() -> None:
    """Importing the package loads no engine, no encoder, no SDK and no pydantic."""
    heavy = [
        "numpy",
        "faiss",
        "onnxruntime",
        "tokenizers",
        "pydantic",
        "mcp",
        "fastapi",
        "openai",
        "anthropic",
        "torch",
    ]
    code = f"import sys, toolsearch; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_public_names_are_sorted_and_exist() -> None:
    """`__all__` is sorted, has no strays, and every name resolves."""
    import toolsearch

    assert toolsearch.__all__ == sorted(toolsearch.__all__)
    assert set(toolsearch._LAZY) <= set(toolsearch.__all__)
    for name in toolsearch.__all__:
        assert getattr(toolsearch, name) is not None
