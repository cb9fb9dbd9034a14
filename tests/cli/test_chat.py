"""A chat in the terminal, against a local server that answers from a script."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agent.conftest import SERVER, service
from tests.agent.test_sourced import SHOP
from tests.cli.conftest import Run, write
from tests.wire.server import Vendor, serving
from toolsearch.agent.exposing import exposed

TOOLS: list[dict[str, Any]] = [
    {"name": f"gauge_{number}", "description": f"Read gauge number {number}"} for number in range(30)
] + [
    {
        "name": "refund",
        "namespace": "pay",
        "description": "Give money back to a customer",
        "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
        "source": "python:runs.py:refund",
        "annotations": {"destructiveHint": True},
    },
    {"name": "look", "namespace": "pay", "description": "Show an order", "source": "python:runs.py:look"},
]
RUNS = """
def refund(arguments, context):
    return f"refunded {arguments['order']}"

def look(arguments, context):
    return "order\\x1b[2J 42: paid"
"""
__all__ = ["service"]
FIND = [("tool_search_tool", {"query": "refund money"})]


@pytest.fixture
def shop(tmp_path: Path, run: Run) -> Path:
    (tmp_path / "index.toml").write_text('sources = ["tools.jsonl"]\nencoder = ""\npython = ["runs.py"]\n')
    (tmp_path / "runs.py").write_text(RUNS)
    write(tmp_path / "tools.jsonl", *TOOLS)
    assert run("index", "build", tmp_path)[0] == 0
    return tmp_path


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lines that a person types."""

    def lines(*said: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{one}\n" for one in said)))

    lines()
    return lines


def model(vendor: Vendor) -> str:
    return f"openai-chat:{vendor.url}/v1#m"


def test_one_message(shop: Path, run: Run) -> None:
    """Searches, finds, calls and the answer are written as they happen; escapes of a result are not."""
    search = [("tool_search_tool", {"query": "show an order"})]
    with serving(search, [(exposed("pay/look"), {})], "It was paid.") as vendor:
        code, out, err = run("chat", "What about", "order 42?", "-i", shop, "--model", model(vendor))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "  search  show an order"
    assert lines[1].startswith("  found   pay/look")
    assert lines[2].startswith("  call    pay_")
    assert lines[3:] == ["  result  order [2J 42: paid", "It was paid."]


@pytest.mark.parametrize(
    ("said", "result"),
    [
        (["y"], "  result  refunded 42"),
        (["not today"], "  error   The user did not approve this call: not today. It was not run."),
        ([], "  error   The user did not approve this call. It was not run."),
    ],
)
def test_a_destructive_call_asks(shop: Path, run: Run, typed: Any, said: list[str], result: str) -> None:
    """It runs when it is approved; otherwise the model is told, with the reason."""
    typed(*said)
    with serving(FIND, [(exposed("pay/refund"), {"order": "42"})], "Done.") as vendor:
        code, out, _ = run("chat", "refund 42", "-i", shop, "--model", model(vendor))
    assert code == 0
    assert '  approve pay/refund - Give money back to a customer\n          order: "42"\n' in out
    assert result in out
    assert out.endswith("Done.\n")


def test_the_sources_of_an_index_run(tmp_path: Path, run: Run, service: tuple[str, list[Any]]) -> None:
    """A server's tool and an operation are called with no more than what index.toml names."""
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    entry = {"command": sys.executable, "args": [str(tmp_path / "server.py")]}
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"depot": entry}}), "utf-8")
    (tmp_path / "shop.yaml").write_text(SHOP, "utf-8")
    (tmp_path / "index.toml").write_text(
        f'sources = ["servers.json", "shop.yaml"]\nencoder = ""\n[http.shop]\nbase = "{service[0]}"\n', "utf-8"
    )
    assert run("index", "build", tmp_path)[0] == 0
    calls = [(exposed("depot/weigh"), {"parcel": "p1"}), (exposed("shop/refund"), {"id": "42"})]
    with serving(calls, "Done.") as vendor:
        code, out, _ = run("chat", "go", "-i", tmp_path, "--model", model(vendor))
    assert code == 0
    assert "  result  p1 weighs 3 kg" in out
    assert '  result  {"ok": true}' in out
    assert service[1] == [("POST", "/v1/orders/42/refund", "", None)]


def test_a_conversation(shop: Path, run: Run, typed: Any) -> None:
    """A line each until the end of the input; what was found stays found; an error does not end the chat."""
    typed("find", "", "again", "and again")
    with serving(FIND, "Found.", 400, "Still here.") as vendor:
        code, out, err = run("chat", "-i", shop, "--model", model(vendor), "--system", "Be short.")
    assert (code, "status 400" in err) == (0, True)
    assert "Found." in out
    assert "Still here." in out
    tools = [[one["function"]["name"] for one in body["tools"]] for body in vendor.bodies]
    assert exposed("pay/refund") in tools[-1]
    assert vendor.bodies[0]["messages"][0]["content"].startswith("Be short.")


def test_the_conversation_can_be_kept(shop: Path, run: Run) -> None:
    """A second chat over the same file goes on where the first one ended."""
    with serving("Hello Ann.", "You are Ann.") as vendor:
        for said in ("I am Ann", "Who am I?"):
            assert run("chat", said, "-i", shop, "--model", model(vendor), "--memory", shop / "talk.db")[0] == 0
    assert [one["content"] for one in vendor.bodies[1]["messages"]][-3:] == ["I am Ann", "Hello Ann.", "Who am I?"]


def test_groups_of_the_caller(shop: Path, run: Run) -> None:
    """They limit what the model can find."""
    write(shop / "tools.jsonl", *TOOLS[:-2], {**TOOLS[-2], "groups": ["finance"]})
    run("index", "build", shop)
    with serving(FIND, "No.") as vendor:
        _, out, _ = run("chat", "refund", "-i", shop, "--model", model(vendor), "--caller", "guests")
    assert "pay/refund" not in out
    assert len(vendor.bodies[1]["tools"]) == 1


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--model", "nothing"], "no model 'nothing'"),
        (["--model", "openai:gpt-5.4"], "OPENAI_API_KEY"),
        (["--model", "openai:gpt-5.4", "--show", "loud"], "--show is 'loud'"),
        (["--model", "openai:gpt-5.4", "--strategy", "magic"], "magic"),
        ([], "--model"),
    ],
)
def test_what_is_refused(shop: Path, run: Run, monkeypatch: pytest.MonkeyPatch, more: list[str], told: str) -> None:
    """A wrong option or a missing key is one line and exit 2, before anything is asked."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, _, err = run("chat", "hi", "-i", shop, *more)
    assert code == 2
    assert told in err
