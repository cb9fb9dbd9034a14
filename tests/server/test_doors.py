from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from tests.server.running import build, serving, settings
from toolsearch.errors import InvalidInput
from toolsearch.server.application import Mounted
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.running import check_open
from toolsearch.server.state import StateFile


@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1.evil.test", "[::2]", ""])
def test_a_foreign_name_of_the_service_is_refused(client: httpx2.Client, host: str) -> None:
    """A page that points its own name here reads nothing."""
    assert client.get("/v1/me", headers={"Host": host}).status_code in (400, 421)


def test_names_of_loopback_are_known(client: httpx2.Client) -> None:
    """With and without a port."""
    for host in ("localhost", "LOCALHOST:99", "[::1]:1", "127.0.0.1"):
        assert client.get("/v1/me", headers={"Host": host}).status_code == 200


def test_pages_of_other_sites_may_not_call(client: httpx2.Client) -> None:
    """An Origin is the service itself, or the request is refused; no answer allows another one."""
    assert client.get("/v1/me", headers={"Origin": "http://evil.test"}).status_code == 403
    assert client.get("/v1/me", headers={"Origin": "null"}).status_code == 403
    own = client.get("/v1/me", headers={"Origin": str(client.base_url).rstrip("/")})
    assert own.status_code == 200
    assert "access-control-allow-origin" not in own.headers


def test_probes_are_open_under_any_name(client: httpx2.Client) -> None:
    """Whoever watches the process asks by address."""
    for path in ("/livez", "/readyz", "/health"):
        assert client.get(path, headers={"Host": "10.0.0.7"}).json() == {"status": "ok"}


def test_an_id_comes_with_every_answer(client: httpx2.Client) -> None:
    """A given id is kept when it is harmless; another one is made otherwise."""
    assert client.get("/livez", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    made = client.get("/livez", headers={"X-Request-Id": "a b{}"}).headers["x-request-id"]
    assert made != "a b{}"
    assert made


def test_other_addresses_need_keys(tmp_path: Path) -> None:
    """A service that others could reach does not start without a key; one key is enough."""
    chosen = settings(build(tmp_path / "shop"), host="0.0.0.0")
    with pytest.raises(InvalidInput, match="without keys"):
        check_open(chosen)
    state = StateFile(chosen.state_file)
    Keys(state).create("first", Role.SEARCH, [])
    state.close()
    check_open(chosen)


def test_the_gateway_gets_its_path_untouched_and_knows_the_caller(tmp_path: Path) -> None:
    """What is mounted sees /mcp whole, behind the same doors."""
    seen: list[tuple[str, str]] = []

    async def gateway(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((scope["path"], scope["toolsearch"]["role"]))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    with serving(settings(build(tmp_path / "shop")), Mounted(app=gateway)) as client:
        assert client.post("/mcp").status_code == 204
        assert client.post("/mcp", headers={"Origin": "http://evil.test"}).status_code == 403
    assert seen == [("/mcp", "admin")]
