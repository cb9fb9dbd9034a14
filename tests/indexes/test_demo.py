"""The demo catalog keeps its promises: ids, schemas, variety, simulators."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from toolsearch.index.definition import Definition
from toolsearch.index.executors import Executors
from toolsearch.testing.samples import sample_arguments
from toolsearch.testing.simulators import simulator
from toolsearch.tool import ToolSpec

DEMO = Path(__file__).parent.parent.parent / "indexes" / "demo"
FILES = sorted((DEMO / "tools").glob("*.jsonl"))


def read(file: Path) -> list[ToolSpec]:
    return [ToolSpec.from_json(line) for line in file.read_text("utf-8").splitlines()]


TOOLS = [tool for file in FILES for tool in read(file)]


def test_lines_are_canonical() -> None:
    """A line is what `to_json` writes, so that a change of one tool is a change of one line."""
    lines = [line for file in FILES for line in file.read_text("utf-8").splitlines()]
    assert lines == [tool.to_json() for tool in TOOLS]


def test_the_catalog_is_large() -> None:
    """At least 500 tools with distinct ids in at least 35 namespaces, one file each."""
    assert len({tool.id for tool in TOOLS}) == len(TOOLS) >= 500
    assert [file.stem for file in FILES] == sorted({tool.namespace for tool in TOOLS})
    assert len(FILES) >= 35


def test_names_come_in_many_styles() -> None:
    """snake_case, kebab-case, dotted and camelCase names, and equal names in several namespaces."""
    names = [tool.name for tool in TOOLS]
    assert all(any(sign in name for name in names) for sign in "_-.")
    assert any(name[0].islower() and name != name.lower() for name in names)
    assert any(name[0].isupper() for name in names)
    shared = Counter(names)
    assert shared["list_users"] >= 4
    assert shared["search"] >= 3


def test_other_languages_are_there() -> None:
    """Tools described in Chinese, German, Spanish and Japanese."""
    count = Counter(tool.namespace for tool in TOOLS)
    assert count["erp_cn"] >= 20
    assert all(count[name] >= 8 for name in ("gebaeude", "reservas", "keihi"))


def test_some_tools_are_for_members_only() -> None:
    """Several groups exist, and most tools are for everybody."""
    grouped = [tool for tool in TOOLS if tool.groups]
    assert len({group for tool in grouped for group in tool.groups}) >= 5
    assert 20 <= len(grouped) <= len(TOOLS) // 4


def test_tools_that_only_read_destroy_nothing() -> None:
    """No tool is marked read-only and destructive at once."""
    for tool in TOOLS:
        assert not (tool.annotations.get("readOnlyHint") and tool.annotations.get("destructiveHint")), tool.id


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_schemas_are_valid(file: Path) -> None:
    """Parameters and results are JSON Schema 2020-12, and required names exist."""
    for tool in read(file):
        for schema in (tool.parameters, tool.output_schema or {}):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert set(schema.get("required", [])) <= set(schema.get("properties", {})), tool.id


@pytest.mark.parametrize("optional", [True, False], ids=["all arguments", "required arguments"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_tool_can_be_called(file: Path, optional: bool) -> None:
    """Arguments made from its schema are taken; the answer is stable and fits the result's schema."""
    for tool in read(file):
        arguments = sample_arguments(tool, optional=optional)
        jsonschema.validate(arguments, tool.parameters)
        run = simulator(tool)
        answer = run(arguments)
        assert json.dumps(answer) == json.dumps(simulator(tool)(arguments, None))
        jsonschema.validate(answer, tool.output_schema or {})


def test_the_definition_allows_the_simulators() -> None:
    """Opened as an index, the catalog runs its own tools."""
    definition = Definition.read(DEMO)
    assert definition.python == ("toolsearch.testing.simulators",)
    tool = next(tool for tool in TOOLS if tool.id == "payments/refund_payment")
    run = Executors(definition.python, DEMO).find(tool)
    assert run is not None
    assert run({"payment_id": "pay_42"})["payment_id"] == "pay_42"
