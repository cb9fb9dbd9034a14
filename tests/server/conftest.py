from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.server.running import build, serving, settings


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A client of a service that nobody changes."""
    with serving(settings(build(tmp_path_factory.mktemp("served") / "shop"))) as found:
        yield found
