"""Requests made up from the service's own description: none makes it fail, and every answer is as described."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.server import running

schemathesis = pytest.importorskip("schemathesis")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service."""
    folder: Path = tmp_path_factory.mktemp("described")
    with running.serving(running.settings(running.build(folder / "shop"))) as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture(scope="module")
def schema(base: str) -> Any:
    """The description, as the service tells it."""
    return schemathesis.openapi.from_dict(httpx2.get(f"{base}/openapi.json", trust_env=False).json())


def test_made_up_requests_never_break_the_service(base: str, schema: Any) -> None:
    """Good and bad values for every operation."""
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path.endswith("/events"):
            continue

        @settings(max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
        @given(operation.as_strategy())
        def check(case: Any) -> None:
            answer = case.call(base_url=base, timeout=20)
            assert answer.status_code < 500 or answer.status_code in (501, 502), answer.text

        check()
