from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.server.running import build, serving, settings
from toolsearch.errors import InvalidInput
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.state import StateFile


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keys]:
    state = StateFile(tmp_path / "service.sqlite")
    yield Keys(state)
    state.close()


def test_a_key_is_known_by_its_token_and_kept_as_a_hash(keys: Keys, tmp_path: Path) -> None:
    """The token opens the door; the file does not hold it."""
    key, token = keys.create("agent", Role.SEARCH, ["finance"])
    keys.refresh()
    caller = keys.find(token)
    assert caller is not None
    assert (caller.key, caller.role, caller.groups) == (key.id, Role.SEARCH, {"finance"})
    secret = token.split("_", 2)[2]
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret.encode() not in kept


def test_near_tokens_open_nothing(keys: Keys) -> None:
    """Every character counts."""
    _, token = keys.create("agent", Role.SEARCH, None)
    keys.refresh()
    wrong = [token[:-1], token + "x", token.replace("tsk", "tsx"), token.upper(), "", "tsk__", "tsk_é_é", "x" * 10_000]
    assert [one for one in wrong if keys.find(one)] == []


def test_revoked_and_expired_keys_open_nothing(keys: Keys) -> None:
    """From the next look on."""
    key, token = keys.create("agent", Role.ADMIN, None)
    _, short = keys.create("short", Role.SEARCH, None, days=1e-9)
    keys.refresh()
    assert keys.find(token) is not None
    assert keys.find(short) is None
    assert keys.revoke(key.id) == key
    with pytest.raises(InvalidInput, match="no key"):
        keys.revoke(key.id)
    keys.refresh()
    assert keys.find(token) is None
    assert keys.needed


def test_a_key_is_revoked_by_its_name_too(keys: Keys) -> None:
    """A name stands for one key that works; once it is revoked, another may have the name."""
    first, _ = keys.create("agent", Role.SEARCH, None)
    with pytest.raises(InvalidInput, match="'agent'"):
        keys.create("agent", Role.ADMIN, None)
    assert keys.revoke("agent") == first
    second, _ = keys.create("agent", Role.SEARCH, None)
    assert keys.revoke("agent").id == second.id
    assert not keys.any_works()


def test_the_id_goes_before_a_name(keys: Keys) -> None:
    """Somebody who names a key like the id of another one does not change what an id stands for."""
    first, _ = keys.create("agent", Role.SEARCH, None)
    keys.create(first.id, Role.SEARCH, None)
    assert keys.revoke(first.id).name == "agent"


@pytest.mark.parametrize(
    ("name", "role", "groups", "days"),
    [
        ("", Role.SEARCH, None, None),
        ("a\nb", Role.SEARCH, None, None),
        ("a" * 101, Role.SEARCH, None, None),
        ("a", Role.WRITE, ["x"], None),
        ("a", Role.SEARCH, [""], None),
        ("a", Role.SEARCH, [str(i) for i in range(101)], None),
        ("a", Role.SEARCH, None, 0.0),
    ],
)
def test_keys_have_rules(keys: Keys, name: str, role: Role, groups: list[str] | None, days: float | None) -> None:
    """A key that breaks one is not made."""
    with pytest.raises(InvalidInput):
        keys.create(name, role, groups, days)
    assert keys.list() == []


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    """Neither another version's nor one that is no database is touched."""
    path = tmp_path / "service.sqlite"
    path.write_bytes(b"not a database at all, but long enough to look at" * 50)
    with pytest.raises(InvalidInput, match="cannot be used"):
        StateFile(path)
    other = tmp_path / "other.sqlite"
    StateFile(other).close()
    with sqlite3.connect(other) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    connection.close()
    with pytest.raises(InvalidInput, match="format"):
        StateFile(other)


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx2.Client, dict[str, str]]]:
    """A service with a key of each kind, and their tokens."""
    chosen = settings(build(tmp_path_factory.mktemp("locked") / "shop"))
    state = StateFile(chosen.state_file)
    made = Keys(state)
    tokens = {
        "open": made.create("open", Role.SEARCH, [])[1],
        "finance": made.create("finance", Role.SEARCH, ["finance"])[1],
        "write": made.create("write", Role.WRITE, None)[1],
        "admin": made.create("admin", Role.ADMIN, None)[1],
    }
    state.close()
    with serving(chosen) as client:
        yield client, tokens


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_once_there_are_keys_one_is_needed(locked: tuple[httpx2.Client, dict[str, str]]) -> None:
    """Probes, page and description stay open; everything else asks for a key."""
    client, tokens = locked
    refused = client.get("/v1/me")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert client.get("/v1/me", headers=bearer("tsk_000000000000_guess")).status_code == 401
    assert client.get("/livez").status_code == 200
    assert client.get("/openapi.json").status_code == 200
    assert client.get("/v1/me", headers={"X-API-Key": tokens["open"]}).json()["groups"] == []


def test_roles_say_what_may_be_done(locked: tuple[httpx2.Client, dict[str, str]]) -> None:
    """A role may do what those below it may, and no more."""
    client, tokens = locked
    doors = [
        ("POST", "/v1/tools/batch"),
        ("POST", "/v1/indexes/shop/reload"),
        ("GET", "/metrics"),
        ("GET", "/v1/sources"),
    ]
    found = {
        name: [client.request(method, path, headers=bearer(tokens[name])).status_code == 403 for method, path in doors]
        for name in ("open", "write", "admin")
    }
    assert found == {"open": [True] * 4, "write": [False, True, True, True], "admin": [False] * 4}


def test_a_key_sees_the_tools_of_its_groups(locked: tuple[httpx2.Client, dict[str, str]]) -> None:
    """Search, list, get and counts agree."""
    client, tokens = locked
    for name, sees in (("open", False), ("finance", True), ("write", True)):
        mine = bearer(tokens[name])
        found = client.post("/v1/search", json={"query": "voids a refund"}, headers=mine).json()
        assert ("payments/void_refund" in [hit["id"] for hit in found["hits"]]) is sees
        assert client.get("/v1/tools", headers=mine).json()["total"] == 2 + sees
        assert client.get("/v1/tools/payments/void_refund", headers=mine).status_code == (200 if sees else 404)


def test_an_etag_tells_nothing_of_groups(locked: tuple[httpx2.Client, dict[str, str]]) -> None:
    """Who is not told a tool's groups cannot try names of groups on its ETag, nor see that they changed."""
    client, tokens = locked
    place, mine, all_ = "/v1/tools/payments/void_refund", bearer(tokens["finance"]), bearer(tokens["admin"])
    before = [client.get(place, headers=who) for who in (mine, all_)]
    body = before[1].json()
    assert client.put(place, json={**body, "groups": ["finance", "board"]}, headers=all_).status_code == 200
    after = [client.get(place, headers=who) for who in (mine, all_)]
    assert client.put(place, json=body, headers=all_).status_code == 200
    assert after[0].content == before[0].content
    assert after[0].headers["etag"] == before[0].headers["etag"]
    assert after[1].headers["etag"] != before[1].headers["etag"]


def test_groups_are_told_only_to_those_who_see_all(locked: tuple[httpx2.Client, dict[str, str]]) -> None:
    """A member of one group does not learn of others, nor of generations."""
    client, tokens = locked
    assert "groups" not in client.get("/v1/tools/payments/void_refund", headers=bearer(tokens["finance"])).json()
    assert "groups" in client.get("/v1/tools/payments/void_refund", headers=bearer(tokens["write"])).json()
    answer = client.post("/v1/search", json={"query": "refund"}, headers=bearer(tokens["finance"])).json()
    assert "generation" not in answer


def test_a_running_service_notices_keys(tmp_path: Path) -> None:
    """The first key that is made closes an open service, and a revoked one stops working."""
    chosen = settings(build(tmp_path / "shop"))
    state = StateFile(chosen.state_file)
    made = Keys(state)
    with serving(chosen) as client:
        assert client.get("/v1/me").status_code == 200
        key, token = made.create("late", Role.SEARCH, None)
        assert _becomes(client, {}, 401)
        assert client.get("/v1/me", headers=bearer(token)).status_code == 200
        made.revoke(key.id)
        assert _becomes(client, bearer(token), 401)
    state.close()


def _becomes(client: httpx2.Client, headers: dict[str, str], status: int) -> bool:
    for _ in range(100):
        if client.get("/v1/me", headers=headers).status_code == status:
            return True
        time.sleep(0.1)
    return False
