"""What tools return and raise, and what becomes of it."""

from __future__ import annotations

import datetime
import decimal
import pathlib
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

import pytest

from tests.agent.tools import agent, made, texts
from toolsearch.agent.limits import Limits
from toolsearch.agent.results import ToolReturn, content_of
from toolsearch.agent.wrappers import cached, retrying
from toolsearch.conversation import Text
from toolsearch.testing.models import ScriptedModel, call

DAY = datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC)


class Kind(Enum):
    SMALL = "s"


@dataclass
class Order:
    placed: datetime.datetime
    total: decimal.Decimal


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"at": DAY}, '{"at": "2026-01-02T03:04:00Z"}'),
        (Order(DAY, decimal.Decimal("1.50")), '{"placed": "2026-01-02T03:04:00Z", "total": "1.50"}'),
        ([uuid.UUID(int=1), pathlib.Path("a"), b"x", {1}], None),
        (MappingProxyType({1: Kind.SMALL}), '{"1": "s"}'),
        (OrderedDict(a=(1, 2)), '{"a": [1, 2]}'),
    ],
    ids=["date", "dataclass", "mixed", "mapping", "ordered"],
)
def test_values_that_have_a_usual_form_in_json(value: object, shown: str | None) -> None:
    """A tool that did its work is not told as failed for returning a date."""
    expected = shown or '["00000000-0000-0000-0000-000000000001", "a", "x", [1]]'
    assert content_of(value) == (Text(expected),)


@pytest.mark.parametrize("value", [object(), {"a": float("nan")}, [open], {"a": range(2)}], ids=repr)
def test_values_that_have_none_are_told(value: object) -> None:
    """By the name of their type, to the model."""
    told = texts(agent(ScriptedModel(call("t"), "ok"), [made("t", run=lambda a, c: value)], search=None).run_sync("?"))
    assert f"the tool returned a {type(value).__name__}, which cannot be shown" in told[0]


def test_a_tools_own_timeout_is_its_error() -> None:
    """It is not told as one that did not answer in the run's time."""

    def locked(arguments: Any, context: Any) -> None:
        raise TimeoutError("database is locked")

    host = agent(ScriptedModel(call("t"), "ok"), [made("t", run=locked)], search=None, limits=Limits(tool_timeout=60))
    assert "did not answer" not in texts(host.run_sync("?"))[0]


def test_an_error_that_is_returned_is_not_kept() -> None:
    """As little as one that is raised."""
    answers = [ToolReturn("down", is_error=True), "up"]
    tool = cached(made("t", run=lambda a, c: answers.pop(0), annotations={"readOnlyHint": True}), ttl=60)
    assert texts(agent(ScriptedModel(call("t"), call("t"), "ok"), [tool], search=None).run_sync("?")) == ["down", "up"]


def test_a_wrapped_function_takes_and_says_what_it_did() -> None:
    """Numbers in texts are taken, and nothing is told as success."""
    seen: list[int] = []

    def keep(n: int) -> None:
        seen.append(n)

    done = agent(ScriptedModel(call("keep", n="5"), "ok"), [retrying(keep)], search=None).run_sync("?")
    assert (texts(done), seen) == (["Success"], [5])
