"""No test reads the machine's keys or proxies."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("TOOLSEARCH_") or name == "OPENAI_API_KEY" or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
