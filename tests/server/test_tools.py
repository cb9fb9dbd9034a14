from __future__ import annotations

import httpx2
import pytest


def test_tools_are_listed_page_by_page(client: httpx2.Client) -> None:
    """Cursors lead through the whole catalog, and each page tells how many there are."""
    ids: list[str] = []
    cursor = None
    while True:
        page = client.get("/v1/tools", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        assert page["total"] == 3
        ids += [tool["id"] for tool in page["tools"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert ids == ["payments/refund_payment", "weather/get_forecast", "payments/void_refund"]


def test_a_made_up_cursor_is_refused(client: httpx2.Client) -> None:
    """Only cursors of the service are taken, so places in the catalog cannot be counted out."""
    for cursor in ("2", "AAAA", "A" * 32, "é"):
        assert client.get("/v1/tools", params={"cursor": cursor}).status_code == 422


def test_a_tool_is_shown_whole_and_not_again_when_it_is_known(client: httpx2.Client) -> None:
    """The ETag of a tool spares its body."""
    answer = client.get("/v1/tools/payments/refund_payment")
    assert answer.json()["title"] == "Refund payment"
    assert answer.json()["groups"] == []
    again = client.get("/v1/tools/payments/refund_payment", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    assert again.content == b""


@pytest.mark.parametrize("form", ["openai", "responses", "anthropic", "gemini", "mcp", "ollama"])
def test_a_tool_is_written_for_providers(client: httpx2.Client, form: str) -> None:
    """Each format names the tool and its parameter."""
    text = client.get("/v1/tools/payments/refund_payment", params={"format": form}).text
    assert "refund_payment" in text
    assert "payment_id" in text


def test_an_unknown_tool_is_told_with_near_ones(client: httpx2.Client) -> None:
    """The problem names ids that may have been meant."""
    answer = client.get("/v1/tools/payments/refund_paymnt")
    assert answer.status_code == 404
    assert "payments/refund_payment" in answer.json()["near"]


def test_facets_count_what_can_be_narrowed_by(client: httpx2.Client) -> None:
    """Namespaces and tags come with the number of their tools."""
    found = client.get("/v1/facets").json()
    assert found["namespaces"] == [{"value": "payments", "tools": 2}, {"value": "weather", "tools": 1}]
    assert found["tags"] == [{"value": "money", "tools": 1}]


def test_indexes_tell_their_size_and_strategies(client: httpx2.Client) -> None:
    """The first index is the usual one."""
    [found] = client.get("/v1/indexes").json()["indexes"]
    assert (found["name"], found["default"], found["tools"]) == ("shop", True, 3)
    assert "hybrid" in found["strategies"]


def test_head_is_get_without_its_body(client: httpx2.Client) -> None:
    """The page, probes and the interface answer it, and what is not there is not there."""
    for path, status in (("/", 200), ("/livez", 200), ("/v1/tools", 200), ("/v1/tools/no/such", 404)):
        answer = client.head(path)
        assert (answer.status_code, answer.content) == (status, b"")
        assert answer.headers["content-type"] == client.get(path).headers["content-type"]
