"""No answer depends on a tool that the caller may not see, nor on whether it exists."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.decision.servers import serving as judging
from tests.server import running
from toolsearch import ToolIndex
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.state import StateFile
from toolsearch.tool import ToolSpec

WORDS = ["refund", "refunds", "payment", "invoice", "customer", "weather", "forecast", "cancel", "order", "zebra"]
TYPOS = ["refnud", "paymnet", "zebar", "forcast", "unknownword"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
queries = st.lists(st.sampled_from(WORDS + TYPOS), min_size=1, max_size=4).map(" ".join)
ids = st.sampled_from([f"{space}/t{number}" for space in ("a", "b", "c") for number in range(6)] + ["no/such"])


@st.composite
def catalogs(draw: st.DrawFn) -> tuple[list[ToolSpec], list[ToolSpec]]:
    """Tools that everybody or the caller's group may see, and a mixture with tools of another group."""
    everything: list[ToolSpec] = []
    for space in ("a", "b", "c"):
        for number in range(draw(st.integers(1, 5))):
            groups = draw(st.sampled_from([(), ("mine",), ("mine", "other"), ("other",), ("other", "third")]))
            everything.append(
                ToolSpec(
                    name=f"t{number}",
                    namespace=space,
                    description=draw(texts),
                    aliases=(draw(st.sampled_from(WORDS)),),
                    tags=(draw(st.sampled_from(["x", "y", "z"])),),
                    groups=groups,
                    search=draw(st.sampled_from(["searchable", "always_visible"])),
                    parameters={"type": "object", "properties": {draw(st.sampled_from(WORDS)): {"type": "string"}}},
                )
            )
    return [spec for spec in everything if not spec.groups or "mine" in spec.groups], everything


searches = st.fixed_dictionaries(
    {"query": queries, "k": st.integers(1, 6), "strategy": st.sampled_from(["hybrid", "lexical", "simple", "vector"])},
    optional={
        "filter": st.sampled_from(["tags = x", "not namespace = a", "namespace in (a, b) and exists tags"]),
        "exclude": st.lists(ids, max_size=3),
        "visible": st.lists(ids, max_size=3),
        "explain": st.just(True),
        "schemas": st.sampled_from(["none", "full"]),
        "max_tokens": st.integers(1, 300),
        "min_confidence": st.sampled_from(["low", "high"]),
    },
)
preselections = st.fixed_dictionaries(
    {},
    optional={
        "judge": st.just(True),
        "shortlist": st.integers(1, 6),
        "always": st.lists(ids, max_size=3),
        "called": st.lists(ids, max_size=3),
        "selected": st.lists(ids, max_size=3),
        "min_confidence": st.sampled_from(["none", "high"]),
        "max_tokens": st.integers(1, 300),
    },
)
needs = st.one_of(
    st.fixed_dictionaries({"query": queries}),
    st.fixed_dictionaries({"needs": st.lists(queries, min_size=1, max_size=3)}),
)
rules = st.sampled_from(["", "?limit=2", "?rule=description-missing", "?tool=a/t0", "?tool=b/t1", "?tool=no/such"])
CLOSED = [
    "/v1/lint/reach", "/v1/sources", "/v1/sources/a", "/v1/jobs/x", "/v1/jobs/x/events",
    "/v1/usage/judged", "/v1/gateway", "/metrics", "/v1/sessions/none",
]  # fmt: skip
"""What only others may read, or what is not there."""
REFUSED = ["/v1/sources/a/sync", "/v1/sources/a/approve", "/v1/indexes/shop/reload", "/v1/gateway/approve"]
"""What only others may do."""
reranks = st.one_of(
    st.fixed_dictionaries({"query": queries, "tools": st.lists(ids, min_size=1, max_size=2, unique=True)}),
    st.fixed_dictionaries({"query": queries, "documents": st.lists(texts, min_size=1, max_size=3)}),
)
Call = tuple[str, str, Any]


def _of_needs(search: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in search.items() if name != "query"}


calls = st.one_of(
    st.tuples(st.just("POST"), st.just("/v1/search"), searches),
    st.tuples(st.just("POST"), st.just("/v1/explain"), st.fixed_dictionaries({"query": queries, "tool": ids})),
    st.tuples(st.just("POST"), st.just("/v1/search"), st.builds(dict.__or__, searches.map(_of_needs), needs)),
    st.tuples(st.just("POST"), st.just("/v1/preselect"), st.builds(dict.__or__, preselections, needs)),
    st.tuples(st.just("GET"), ids.map("/v1/tools/{}".format), st.none()),
    st.tuples(st.just("GET"), ids.map("/v1/tools/{}?format=mcp".format), st.none()),
    st.tuples(st.just("PUT"), ids.map("/v1/tools/{}".format), st.just({"name": "x"})),
    st.tuples(st.just("DELETE"), ids.map("/v1/tools/{}".format), st.none()),
    st.tuples(st.just("GET"), st.sampled_from(["/v1/facets", "/v1/indexes", "/v1/tools", "/v1/me"]), st.none()),
    st.tuples(st.just("GET"), st.just("/v1/tools?limit=2&filter=tags+%3D+x"), st.none()),
    st.tuples(st.just("POST"), st.just("/v1/rerank"), reranks),
    st.tuples(st.just("GET"), rules.map("/v1/lint{}".format), st.none()),
    st.tuples(st.just("PUT"), st.just("/v1/sources/a"), st.just({"kind": "openapi", "url": "https://example.com/a"})),
    st.tuples(st.just("POST"), st.sampled_from(REFUSED), st.just({})),
    st.tuples(st.just("POST"), st.just("/v1/calls"), st.fixed_dictionaries({"tool": ids})),
    st.tuples(st.just("POST"), st.just("/v1/tools/batch"), st.just({"upsert": [{"name": "t0", "namespace": "a"}]})),
    st.tuples(st.just("GET"), st.sampled_from(CLOSED), st.none()),
)


def answers(folder: Path, tools: Sequence[ToolSpec], asked: Sequence[Call], encoder: str = "") -> list[Any]:
    """What a member of "mine" is answered, every page that cursors lead to, and what the judge is asked for it."""
    ToolIndex.build(folder / "shop", tools, encoder=encoder).close()
    with ExitStack() as stack:
        url, heard = stack.enter_context(judging(_judged))
        chosen = running.settings(folder / "shop", judge=f"systemone:{url}#m", usage="plain")
        state = StateFile(chosen.state_file)
        _, token = Keys(state).create("me", Role.SEARCH, ["mine"])
        state.close()
        client = stack.enter_context(running.serving(chosen))
        client.headers.update({"X-API-Key": token, "X-Request-Id": "same"})
        found = [_told(client.request(method, path, json=body)) for method, path, body in asked]
        return [*found, *_pages(client), *_session(client, asked), heard]


def _judged(body: dict[str, Any], number: int) -> tuple[int, Any, dict[str, str]]:
    """Chances that depend on the text of each question and on nothing else."""
    del number
    chances = {name: len(str(one["instructions"])) % 10 / 10 for name, one in body["questions"].items()}
    return 200, {"model": "m", "answers": {name: {"type": "noul", "noul": one} for name, one in chances.items()}}, {}


def _told(answer: httpx2.Response) -> Any:
    kept = {name: value for name, value in answer.headers.items() if name != "date"}
    body = json.loads(answer.content) if answer.content else None
    return answer.status_code, kept, _without_marks(body)


def _without_marks(body: Any) -> Any:
    """Versions and cursors are made under a secret of each service; they are looked at by another test."""
    if isinstance(body, dict):
        marks = ("version", "next_cursor", "expires_at", "key")
        return {key: bool(value) if key in marks else _without_marks(value) for key, value in body.items()}
    return [_without_marks(one) for one in body] if isinstance(body, list) else body


def _pages(client: httpx2.Client) -> list[Any]:
    found, query = [], "/v1/tools?limit=2"
    while query:
        page = client.get(query).json()
        found.append([page["total"], [tool["id"] for tool in page["tools"]]])
        query = f"/v1/tools?limit=2&cursor={page['next_cursor']}" if page["next_cursor"] else ""
    return found


def _session(client: httpx2.Client, asked: Sequence[Call]) -> list[Any]:
    path = f"/v1/sessions/{client.post('/v1/sessions').json()['id']}"
    bodies = [body for _, place, body in asked if place == "/v1/search"]
    told = [_told(client.post(f"{path}/search", json=body)) for body in bodies]
    told += [client.get(path).json()["found"], client.post(f"{path}/reset").json()["found"]]
    return [*told, *(_told(client.post(f"{path}/search", json=body)) for body in bodies[:2])]


@pytest.mark.slow
@settings(max_examples=5, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(catalogs(), st.lists(calls, min_size=8, max_size=20), st.sampled_from(["builtin", "builtin", ""]))
def test_answers_are_those_of_a_catalog_without_the_hidden_tools(
    worlds: tuple[list[ToolSpec], list[ToolSpec]], asked: list[Call], encoder: str
) -> None:
    """Random catalogs, groups and calls, words or vectors: ranks, scores, sizes, hints and errors are the same."""
    seen, everything = worlds
    with tempfile.TemporaryDirectory() as folder:
        without = answers(Path(folder) / "without", seen, asked, encoder)
        assert answers(Path(folder) / "with", everything, asked, encoder) == without


def test_versions_and_cursors_say_nothing_of_hidden_tools(tmp_path: Path) -> None:
    """A mark stays when only hidden tools change, and a cursor does not tell how many lie before it."""
    chosen = running.settings(running.build(tmp_path / "shop", running.TOOLS))
    state = StateFile(chosen.state_file)
    keys = Keys(state)
    writer = {"X-API-Key": keys.create("w", Role.WRITE, None)[1]}
    groups = {"X-API-Key": keys.create("r", Role.SEARCH, [])[1]}
    state.close()
    with running.serving(chosen) as client:
        before = client.get("/v1/tools?limit=1", headers=groups).json()
        hidden = {"name": "hidden", "groups": ["other"], "description": "refund payment weather"}
        assert client.put("/v1/tools/hidden", json=hidden, headers=writer).status_code == 201
        assert client.get("/v1/tools?limit=1", headers=groups).json() == before
        assert client.put("/v1/tools/shown", json={"name": "shown"}, headers=writer).status_code == 201
        after = client.get("/v1/tools?limit=1", headers=groups).json()
        assert after["version"] != before["version"]
        assert len(after["next_cursor"]) == 32
