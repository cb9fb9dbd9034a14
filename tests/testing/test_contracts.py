"""The suites for users hold for our own implementations, and notice broken ones; the documented examples run."""

from __future__ import annotations

import asyncio
import doctest
from pathlib import Path
from typing import Any

import pytest

import toolsearch.testing
from toolsearch.agent.stores import MemoryStore, SQLiteStore
from toolsearch.conversation import ToolCall
from toolsearch.strategies.answering import RetrieverStrategy
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.strategies.simple import SimpleStrategy
from toolsearch.testing.contracts import ContractBroken, check_model, check_store, check_strategy
from toolsearch.testing.models import ScriptedModel
from toolsearch.tool import ToolSpec


def test_the_documented_examples_run() -> None:
    """One tool, a loop, end to end."""
    done = doctest.testmod(toolsearch.testing)
    assert done.attempted > 10
    assert done.failed == 0


def test_stores(tmp_path: Path) -> None:
    """Both stores do what the protocol says."""
    check_store(MemoryStore)
    check_store(lambda: SQLiteStore(tmp_path / "c.db"))


class Forgetful(MemoryStore):
    """Keeps nothing."""

    def update(self, memory_id: str, change: Any) -> Any:
        return change(self.load(memory_id))


def test_a_broken_store_is_noticed() -> None:
    """With what is wrong."""
    with pytest.raises(ContractBroken, match="come back"):
        check_store(Forgetful)


def test_models() -> None:
    """The scripted model does what the protocol says; calls without ids are noticed."""
    asyncio.run(check_model(ScriptedModel("hi", "hi", "noon")))

    class NoIds(ScriptedModel):
        def _with_id(self, one: ToolCall) -> ToolCall:
            return one

    with pytest.raises(ContractBroken, match="id"):
        asyncio.run(check_model(NoIds([ToolCall("", "clock")])))


def test_strategies() -> None:
    """Ours hold; one that finds everything is noticed."""
    asyncio.run(check_strategy(SimpleStrategy(), '{"terms": ["parcel"]}'))
    hybrid = RetrieverStrategy(retriever=open_retriever("lexical"))
    asyncio.run(check_strategy(hybrid, '{"query": "parcel"}'))

    class Leaky(SimpleStrategy):
        async def search(self, request: Any) -> Any:
            done = await super().search(request)
            return type(done)(found=("weigh_parcel", "sing"), text=done.text)

    with pytest.raises(ContractBroken, match="searchable"):
        asyncio.run(check_strategy(Leaky(), '{"terms": ["parcel"]}'))
    assert ToolSpec(name="sing").id == "sing"
