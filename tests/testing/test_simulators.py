"""Simulators answer from the definition alone: echoes, filters, sums, stability, refusals."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.errors import ToolArgumentsError
from toolsearch.testing.simulators import simulator
from toolsearch.tool import ToolSpec

TEXT = {"type": "string"}
ORDERS = ToolSpec(
    name="list_orders",
    namespace="shop",
    parameters={
        "type": "object",
        "properties": {
            "customer_id": TEXT,
            "status": {"type": "string", "enum": ["paid", "sent"]},
            "limit": {"type": "integer", "minimum": 1, "default": 3},
        },
        "required": ["customer_id"],
    },
    output_schema={
        "type": "object",
        "properties": {
            "orders": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "pattern": "^ord_[0-9a-z]{8}$"},
                        "customer_id": TEXT,
                        "status": {"type": "string", "enum": ["paid", "sent"]},
                        "pieces": {"type": "integer", "minimum": 1, "maximum": 4},
                        "price": {"type": "number", "minimum": 1, "maximum": 9},
                        "placed": {"type": "string", "format": "date"},
                    },
                },
            },
            "total": {"type": "number"},
        },
    },
    metadata={"simulate": {"total": {"sum": "orders", "of": ["pieces", "price"]}}},
)


def test_the_same_call_gives_the_same_answer() -> None:
    """Equal arguments in any order give equal JSON; others give another answer."""
    run = simulator(ORDERS)
    first = run({"customer_id": "c1", "status": "paid"})
    assert first == simulator(ORDERS)({"status": "paid", "customer_id": "c1"})
    assert first != run({"customer_id": "c2", "status": "paid"})


def test_filters_hold_for_every_item() -> None:
    """What the call asked for is what the items are."""
    orders = simulator(ORDERS)({"customer_id": "c1", "status": "sent"})["orders"]
    assert orders
    assert {(order["customer_id"], order["status"]) for order in orders} == {("c1", "sent")}


def test_a_limit_is_kept() -> None:
    """No more items than the page size of the call."""
    assert len(simulator(ORDERS)({"customer_id": "c1", "limit": 1})["orders"]) == 1


def test_money_adds_up() -> None:
    """A total is the sum over the items that the answer shows."""
    answer = simulator(ORDERS)({"customer_id": "c1"})
    assert answer["total"] == pytest.approx(sum(order["pieces"] * order["price"] for order in answer["orders"]))


def test_differences_are_right() -> None:
    """What is left is one number minus the other."""
    whole = {"type": "integer", "minimum": 50, "maximum": 99}
    part = {"type": "integer", "minimum": 1, "maximum": 49}
    spec = ToolSpec(
        name="budget",
        output_schema={"type": "object", "properties": {"have": whole, "used": part, "left": {"type": "integer"}}},
        metadata={"simulate": {"left": {"minus": ["have", "used"]}}},
    )
    answer = simulator(spec)({})
    assert answer["left"] == answer["have"] - answer["used"]


def test_a_value_of_another_kind_does_not_come_back() -> None:
    """An argument is echoed only where it fits the result's schema."""
    properties = {"to": {"type": "string"}}
    result = {"to": {"type": "string", "format": "date"}}
    spec = ToolSpec(
        name="forward",
        parameters={"type": "object", "properties": properties},
        output_schema={"type": "object", "properties": result},
    )
    assert simulator(spec)({"to": "Ana"})["to"] != "Ana"
    assert simulator(spec)({"to": "2026-05-01"})["to"] == "2026-05-01"


def test_dates_lie_near_the_dates_of_the_call() -> None:
    """A call about a month is answered with days of that time."""
    spec = ToolSpec(
        name="days",
        parameters={"type": "object", "properties": {"from": {"type": "string", "format": "date"}}},
        output_schema={"type": "object", "properties": {"next": {"type": "string", "format": "date"}}},
    )
    assert simulator(spec)({"from": "2031-07-10"})["next"].startswith("2031-07-1")


def test_a_tool_without_result_schema_says_ok() -> None:
    """There is nothing to make up, and the call is still answered."""
    assert simulator(ToolSpec(name="lock"))({}) == {"ok": True}


def test_wrong_arguments_are_refused() -> None:
    """A missing or misplaced argument is an error that names tool and place."""
    with pytest.raises(ToolArgumentsError, match="shop/list_orders.*customer_id"):
        simulator(ORDERS)({})
    with pytest.raises(ToolArgumentsError, match="limit"):
        simulator(ORDERS)({"customer_id": "c1", "limit": 0})


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30))
def test_any_id_comes_back(name: str) -> None:
    """Whatever the id is, each item carries it."""
    orders = simulator(ORDERS)({"customer_id": name})["orders"]
    assert all(order["customer_id"] == name for order in orders)
