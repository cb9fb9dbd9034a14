"""The gateway beside the service: the same keys and groups, signed tokens beside them, and the usage log."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx2
import pytest

from tests.mcp.support import SOON, described, names, run, search, server, text, until
from tests.mcp.test_http import connected
from tests.mcp.test_issuer import issuing, token
from tests.server.running import build, serving, settings
from tests.server.test_operating import defined, followed
from toolsearch import ToolIndex
from toolsearch.cli.gateway import beside
from toolsearch.server.application import Mounted
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.state import StateFile


def key(path: Path, *groups: str) -> str:
    state = StateFile(path)
    try:
        return Keys(state).create(f"agent of {groups}", Role.SEARCH, list(groups))[1]
    finally:
        state.close()


def test_a_service_tells_how_the_servers_behind_it_are(tmp_path: Path) -> None:
    """Which are there and which are down; one is listed again, and a changed tool is let in, by request."""
    place, listing = build(tmp_path / "shop"), tmp_path / "far.json"
    servers = {"far": server(listing, described("radar", "Shows rain")), "gone": {"command": str(tmp_path / "no")}}
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers, "toolsearch": {"changes": "hold"}}))
    gateway = beside(place, config)
    mounted = Mounted(app=gateway, running=gateway.running, behind=gateway.gateway)
    with serving(settings(place), mounted) as service:
        asyncio.run(until(lambda: "starting" not in service.get("/v1/gateway").text))
        told = service.get("/v1/gateway").json()["sources"]
        assert [(one["name"], one["state"], one["tools"]) for one in told] == [("far", "ready", 1), ("gone", "down", 0)]
        server(listing, described("radar", "Shows something else"))
        assert service.post("/v1/gateway/sources/far/sync").json()["state"] == "ready"
        [change] = service.get("/v1/gateway").json()["changes"]
        assert (change["id"], change["held"]) == ("far/radar", True)
        assert "something else" in change["diff"]
        assert service.post("/v1/gateway/approve", json={}).json()["changes"] == []
        service.post("/v1/gateway/sources/far/sync")
        assert service.get("/v1/tools/far/radar").json()["description"] == "Shows something else"
        assert service.post("/v1/gateway/sources/none/sync").status_code == 422


def test_service_and_gateway_work_with_one_index(tmp_path: Path) -> None:
    """It is opened once, and a reload reaches both."""
    place = build(tmp_path / "shop")
    gateway = beside(place)
    own = gateway.gateway.index
    mounted = Mounted(app=gateway, running=gateway.running, behind=gateway.gateway, index=own)
    with serving(settings(place), mounted) as service:
        (place / "index.toml").write_text('encoder = ""\nstrategy = "simple"\n')
        assert own.status.strategy == "hybrid"
        assert service.post("/v1/indexes/shop/reload").status_code == 204
        assert own.status.strategy == "simple"
        assert service.post("/v1/search", json={"query": "refund"}).json()["strategy"] == "simple"


@pytest.mark.slow
def test_a_rebuild_leaves_the_gateways_tools_alone(tmp_path: Path) -> None:
    """Those of its servers and those that it reads once; what left the definition leaves."""
    place = defined(tmp_path / "shop", pay="Pays an invoice", old="An old thing")
    ToolIndex.build(place).close()
    code = 'from toolsearch import tool\n\n\n@tool\ndef saw(wood: str) -> str:\n    """Saw wood"""\n    return wood\n'
    (tmp_path / "own.py").write_text(code)
    servers = {"far": server(tmp_path / "far.json", described("radar", "Shows rain"))}
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers, "toolsearch": {"python": ["own.py"]}}))
    gateway = beside(place, config)
    behind = gateway.gateway
    mounted = Mounted(app=gateway, running=gateway.running, behind=behind, index=behind.index)
    with serving(settings(place), mounted) as service:
        asyncio.run(until(lambda: [one.state for one in behind.sources()] == ["ready", "ready"]))
        before = {tool["id"] for tool in service.get("/v1/tools").json()["tools"]}
        defined(place, pay="Pays an invoice", fresh="A fresh thing")
        job = service.post("/v1/indexes/shop/rebuild").json()["id"]
        assert followed(service, job)[-1][0] == "done"
        after = {tool["id"] for tool in service.get("/v1/tools").json()["tools"]}
    assert (len(before), before - after, after - before) == (4, {"old"}, {"fresh"})


def test_keys_and_tokens_open_the_gateway(tmp_path: Path) -> None:
    """Each sees what its groups see; what is neither is refused, and told where tokens come from."""
    place = build(tmp_path / "shop")
    state = tmp_path / "service.sqlite"
    finance, other = key(state, "finance"), key(state)

    async def inside() -> None:
        async with issuing() as url:
            config = tmp_path / "mcp.json"
            config.write_text(json.dumps({"toolsearch": {"issuer": {"url": url, "audience": "gateway"}}}))
            gateway = beside(place, config)
            mounted = Mounted(app=gateway, running=gateway.running, tokens=gateway.challenge)
            with serving(settings(place, state=state), mounted) as service:
                address = f"{service.base_url}".rstrip("/") + "/mcp"
                for bearer, sees in (
                    (finance, True), (other, False), (token(url, groups=["finance"]), True), (token(url), False),
                ):  # fmt: skip
                    async with connected(address, Authorization=f"Bearer {bearer}") as client:
                        assert ("payments__void_refund" in names(await search(client, "voids a refund"))) is sees
                        answer = await run(client, "payments__void_refund")
                        assert ("there is no tool" in text(answer)) is not sees
                async with httpx2.AsyncClient(timeout=SOON) as http:
                    for bad in ("none", "a.b.c", "tsk_no", token("http://127.0.0.1:1")):
                        refused = await http.post(address, json={}, headers={"Authorization": f"Bearer {bad}"})
                        assert refused.status_code == 401
                        challenge = refused.headers["www-authenticate"]
                        about = challenge.partition('resource_metadata="')[2].rstrip('"')
                        assert (await http.get(about)).json()["authorization_servers"] == [url]
                    tools = await http.get(
                        f"{address[:-4]}/v1/tools", headers={"Authorization": f"Bearer {token(url)}"}
                    )
                    assert tools.status_code == 401

    asyncio.run(inside())
