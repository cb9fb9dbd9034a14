"""What a user might pick instead, on the same made-up tools: peers that run in this environment."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from benchmarks.scale.catalog import PerturbedEncoder, Recipes
from toolsearch.errors import MissingExtra

K: Final = 5
ASKED: Final = 10


def asked_of_others(names: Sequence[str], recipes: Recipes, count: int, requests: Sequence[str]) -> dict[str, float]:
    """CPU seconds to build and median CPU ms a request of each peer of `benchmarks/peers`, by its name.

    Those that take vectors get the perturbed ones.

    Raises:
        MissingExtra: a peer's package is not installed here.
    """
    rows = [(spec.name, spec.description, spec.parameters) for spec in recipes.tools(0, count)]
    encoder = PerturbedEncoder(recipes)

    def embed(texts: list[str]) -> list[list[float]]:
        return encoder.encode(texts, "query" if texts[0] in requests else "tool").tolist()

    found: dict[str, float] = {}
    for name in names:
        before = time.process_time()
        ask = _built(name, rows, embed)
        found[f"{name}, build s"] = time.process_time() - before
        times: list[float] = []
        for request in requests[:ASKED]:
            list(ask(request, K))
            before = time.thread_time()
            list(ask(request, K))
            times.append((time.thread_time() - before) * 1e3)
        found[name] = float(np.median(times))
    return found


def _built(name: str, rows: list[Any], embed: Any) -> Any:
    module = import_module(f"benchmarks.peers.{name}")
    try:
        return module.build(rows, embed)
    except ImportError:
        raise MissingExtra(name, " ".join(module.REQUIREMENTS)) from None
