"""Definitions: what `index.toml` may say, and building from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.catalogs import catalog, ids
from toolsearch.catalog.sources import load
from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.index.definition import Definition
from toolsearch.index.tool_index import ToolIndex


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "index.toml").write_text(text, "utf-8")
    return folder


def test_a_definition_builds_an_index(tmp_path: Path) -> None:
    """Sources are read relative to the file, patterns in order of names, and tools keep their order."""
    root = write(tmp_path / "i", 'sources = ["*.jsonl", "../more"]\nencoder = ""\nstrategy = "lexical"\n')
    (tmp_path / "more").mkdir()
    for file, start in (("i/b.jsonl", 5), ("i/a.jsonl", 0), ("more/c.jsonl", 20)):
        lines = [spec.to_json() for spec in catalog(3, start=start)]
        (tmp_path / file).write_text("\n".join(lines), "utf-8")
    with ToolIndex.build(root) as index:
        assert ids(index) == [f"tool_{n}" for n in (0, 1, 2, 5, 6, 7, 20, 21, 22)]
        assert index.status.encoder == ""
    (root / "b.jsonl").write_text(catalog(1, start=5)[0].to_json(), "utf-8")
    with ToolIndex.build(root) as again:
        assert again.changes.removed == ("tool_6", "tool_7")
        assert again.changes.unchanged == 7


def test_executors_come_from_listed_files(tmp_path: Path) -> None:
    """A Python file that the definition lists may run tools; another may not."""
    root = write(tmp_path / "i", 'encoder = ""\npython = ["run.py"]\n')
    (root / "run.py").write_text("def greet(arguments, context):\n    return 'hello ' + arguments['who']\n")
    (root / "other.py").write_text("raise SystemExit('never imported')\n")
    tools = [
        catalog(1)[0].with_(name="greet", source="python:run.py:greet"),
        catalog(1)[0].with_(name="other", source="python:other.py:greet"),
        catalog(1)[0].with_(name="absent", source="python:run.py:absent"),
    ]
    with ToolIndex.build(root, tools) as index:
        run = index.executor("greet")
        assert run is not None
        assert run({"who": "you"}, None) == "hello you"
        for name in ("other", "absent"):
            with pytest.raises(InvalidSource, match=name):
                index.executor(name)


def test_functions_and_class_methods_run(tmp_path: Path) -> None:
    """Functions get their arguments checked; methods of a class run, those of objects say why not."""
    root = write(tmp_path / "i", 'encoder = ""\nsources = ["run.py"]\npython = ["run.py"]\n')
    (root / "run.py").write_text(
        "from toolsearch import tool\n\n"
        "@tool\ndef add(a: int, b: int = 1) -> int:\n    return a + b\n\n"
        "def plain(a: int) -> int:\n    return a\n\n"
        "class Desk:\n"
        "    @tool\n    @staticmethod\n    def twice(a: int) -> int:\n        return 2 * a\n\n"
        "    @tool\n    def own(self) -> int:\n        return 1\n"
    )
    places = {"plain": "plain", "twice": "Desk.twice", "own": "Desk.own"}
    tools = [
        *load(root / "run.py").tools,
        *(catalog(1)[0].with_(name=n, source=f"python:run.py:{p}") for n, p in places.items()),
    ]
    with ToolIndex.build(root, tools) as index:
        for name, given, result in (("add", {"a": "2"}, 3), ("plain", {"a": 4}, 4), ("twice", {"a": 3}, 6)):
            execute = index.executor(name)
            assert execute is not None
            assert execute(given, None) == result
        with pytest.raises(InvalidSource, match="bind one of them"):
            index.executor("own")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("sources = [", "TOML"),
        ("sources = 5", "sources"),
        ("sources = [5]", "sources"),
        ("colour = 'red'", "colour"),
        ("name = ['x']", "name"),
        ("\ufeffname = 'x' = 'y'", "TOML"),
    ],
)
def test_a_wrong_definition_is_named(tmp_path: Path, text: str, word: str) -> None:
    """What does not belong into a definition is named, with the file."""
    root = write(tmp_path / "i", text)
    with pytest.raises(InvalidSource, match=word) as caught:
        ToolIndex.build(root)
    assert "index.toml" in str(caught.value)


def test_missing_sources_are_named(tmp_path: Path) -> None:
    """A pattern or a file that matches nothing is an error, and no index is made."""
    for source in ("*.jsonl", "none.jsonl"):
        root = write(tmp_path / "i", f"sources = ['{source}']\nencoder = ''\n")
        with pytest.raises(InvalidInput, match=r"jsonl"):
            ToolIndex.build(root)
        assert not (root / "data" / "truth.sqlite").exists()


def test_a_missing_definition_is_named(tmp_path: Path) -> None:
    """Reading a definition that is not there names the path."""
    with pytest.raises(InvalidSource, match="none"):
        Definition.read(tmp_path / "none.toml")
