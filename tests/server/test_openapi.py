"""Requests made up from the service's own description: none makes it fail, whatever the sender may do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.server import running
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.state import StateFile

schemathesis = pytest.importorskip("schemathesis")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
EXAMPLES = 2
"""Requests of each operation and kind of key."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a service, and a key of each role; the one that only searches has a group."""
    folder: Path = tmp_path_factory.mktemp("described")
    chosen = running.settings(running.build(folder / "shop"), usage="plain")
    state = StateFile(chosen.state_file)
    groups = {Role.SEARCH: ["finance"]}
    keys = {role.value: Keys(state).create(role.value, role, groups.get(role))[1] for role in Role}
    state.close()
    with running.serving(chosen) as client:
        yield str(client.base_url).rstrip("/"), keys


@pytest.fixture(scope="module")
def schema(served: tuple[str, dict[str, str]]) -> Any:
    """The description, as the service tells it."""
    return schemathesis.openapi.from_dict(httpx2.get(f"{served[0]}/openapi.json", trust_env=False).json())


@pytest.mark.parametrize("role", list(Role))
def test_made_up_requests_never_break_the_service(served: tuple[str, dict[str, str]], schema: Any, role: Role) -> None:
    """Good and bad values for every operation; without a judge reranking says so, and sources may be unreachable."""
    base, keys = served
    headers = {"X-API-Key": keys[role]}
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path.endswith("/events"):
            continue

        @settings(
            max_examples=EXAMPLES, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        )
        @given(operation.as_strategy())
        def check(case: Any) -> None:
            answer = case.call(base_url=base, timeout=20, headers=headers)
            assert answer.status_code < 500 or answer.status_code in (501, 502), answer.text

        check()
    assert httpx2.get(f"{base}/v1/me", headers=headers, trust_env=False).json()["role"] == role
