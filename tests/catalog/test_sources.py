"""Any source is read, and what it is is found out: JSON with comments, YAML, TOML, Python, folders."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.catalog.jsonc import plain_json
from toolsearch.catalog.sources import load
from toolsearch.catalog.yaml_text import parse_yaml
from toolsearch.errors import InvalidSource, LimitExceeded


def write(path: Path, text: str) -> Path:
    """The file with this text."""
    path.write_text(dedent(text), "utf-8")
    return path


def ids(source: str | Path) -> list[str]:
    """Ids of the tools of a source."""
    return [tool.spec.id for tool in load(source).tools]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_comments_and_commas_are_all_that_is_removed(value: object) -> None:
    """JSON keeps its value, also with texts that look like comments."""
    text = json.dumps({"a // b": value, "c": ["/* d */", "e,}"]})
    assert json.loads(plain_json(text)) == json.loads(text)


def test_json_with_comments(tmp_path: Path) -> None:
    """Comments and trailing commas are as editors write them."""
    assert ids(write(tmp_path / "t.json", '// tools\n{"tools": [{"name": "a", /* one */}, ],}')) == ["a"]


@pytest.mark.parametrize("text", ['"' + '\\"' * 400_000, "*/" * 200_000 + "/*" * 200_000], ids=["quotes", "comments"])
def test_a_file_that_is_cut_off_is_read_once(tmp_path: Path, text: str) -> None:
    """Texts and comments without an end are no reason to look for one again and again."""
    with pytest.raises(InvalidSource, match="not JSON"):
        load(write(tmp_path / "t.json", text))


def test_yaml_and_toml(tmp_path: Path) -> None:
    """Definitions may be written in either."""
    yaml = """
        tools:
        - &a {name: a, parameters: {type: object, properties: {on: {type: string, default: no}}}}
        - {<<: *a, name: b}
    """
    assert ids(write(tmp_path / "t.yaml", yaml)) == ["a", "b"]
    assert load(tmp_path / "t.yaml").tools[0].spec.parameters["properties"] == {
        "on": {"type": "string", "default": "no"}
    }
    toml = '[[tools]]\nname = "c"\nnamespace = "n"\n[tools.parameters]\ntype = "object"\n'
    assert ids(write(tmp_path / "t.toml", toml)) == ["n/c"]


def test_yaml_gives_json_values_only() -> None:
    """Dates, sexagesimals and yes are texts, keys are texts, and tags make no objects."""
    assert parse_yaml("a: 2020-01-01\nb: 1:30\nc: yes\n200: true\nd: 0x1F\ne: ~\nf: -1.5e+3\ng: 012\n", "x") == {
        "a": "2020-01-01", "b": "1:30", "c": "yes", "200": True, "d": "0x1F", "e": None, "f": -1500.0, "g": "012"
    }  # fmt: skip
    assert parse_yaml("!!python/object/apply:os.system ['false']", "x") == ["false"]


BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
MERGES = "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 60))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "aliases"),
        (MERGES, "aliases"),
        ("&a [*a]", "own anchor"),
        ("a: 1\na: 2", "line 2.*stands twice"),
        ("{a", "not YAML"),
        ("[" * 100_000, "not YAML|too deep"),
        ("- " * 900 + "x", "too deep"),
        ("? [a]\n: b", "key that is not a text"),
        ("a: 1\n---\nb: 2", "not YAML"),
        ("<<: 3", "merges mappings"),
    ],
)
def test_hostile_yaml(text: str, said: str) -> None:
    """Bombs, circles, equal keys and deep nesting end in one clear line."""
    with pytest.raises((InvalidSource, LimitExceeded), match=said):
        parse_yaml(text, "x.yaml")


PYTHON = """
    from toolsearch import tool

    class Yard:
        @tool
        def launch(self, boat: str) -> str:
            "Put a boat into the water"
            return boat + " floats"

    @tool
    def moor(boat: str) -> str:
        "Tie a boat"
        return boat

    def plain(): ...
    yard = Yard()
    pieces = [moor, yard]
"""


def test_python_files(tmp_path: Path) -> None:
    """Decorated functions of a file are tools that run; their source names the file."""
    tool = load(write(tmp_path / "yard.py", PYTHON)).tools[0]
    assert (tool.spec.id, tool.spec.source) == ("moor", "python:yard.py:moor")
    assert tool.execute is not None


def test_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`module:name` takes functions, objects, lists, and modules; the current folder counts."""
    write(tmp_path / "boatyard_x.py", PYTHON)
    monkeypatch.chdir(tmp_path)
    try:
        assert ids("boatyard_x:moor") == ["moor"]
        assert ids("boatyard_x:pieces") == ["moor", "launch"]
        assert ids("boatyard_x:") == ["moor"]
        assert ids("boatyard_x:yard.launch") == ["launch"]
        assert str(tmp_path) not in sys.path
        for wrong, said in (
            ("boatyard_x:nothing", "has no"),
            ("no_such_module_x:a", "cannot be imported"),
            ("a b:c", "module:name"),
        ):
            with pytest.raises(InvalidSource, match=said):
                load(wrong)
    finally:
        sys.modules.pop("boatyard_x", None)


@pytest.mark.parametrize(
    "text",
    [
        "import no_such_thing_x",
        "1/0",
        "def f(:",
        "raise SystemExit(3)",
        "assert 0",
        "class E(Exception): ...\nraise E",
        "x = 1",
    ],
)
def test_broken_python(tmp_path: Path, text: str) -> None:
    """A file that cannot be run, or has no tools, is named."""
    with pytest.raises(InvalidSource, match=r"bad\.py"):
        load(write(tmp_path / "bad.py", text))


def test_folders_of_all_kinds(tmp_path: Path) -> None:
    """Files in order of names; the index's definition, hidden and underscored files are no sources."""
    write(tmp_path / "b.yaml", "tools: [{name: b}]")
    write(tmp_path / "a.py", PYTHON)
    write(tmp_path / "c.jsonl", '{"name": "c"}\n')
    for name in ("index.toml", "_x.py", ".x.json", "note.txt"):
        write(tmp_path / name, "{nonsense")
    assert ids(tmp_path) == ["moor", "b", "c"]


def test_names_that_no_file_can_have() -> None:
    """Overlong and odd names are refused like any other missing file."""
    for name in ("x" * 5000, "a\0b.json", ""):
        with pytest.raises(InvalidSource):
            load(name or "nowhere.json")


def test_json_rpc_answers(tmp_path: Path) -> None:
    """The answer of `tools/list` can be given as it was received."""
    body = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}}
    assert ids(write(tmp_path / "t.json", json.dumps(body))) == ["a"]
