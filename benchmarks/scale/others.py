"""What a user might pick instead, on the same made-up tools: peers that rank by words, each in its own environment."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from benchmarks.peers.environments import HERE, environment
from benchmarks.scale.catalog import Recipes

ASKED: Final = 5
LOOK: Final = 0.2
"""Seconds between two looks at whether a peer has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a peer may take: `seconds` of CPU; `environments` holds ready ones."""

    seconds: int = 300
    environments: Path | None = None


def asked_of_others(
    names: Sequence[str], recipes: Recipes, count: int, requests: Sequence[str], bound: Bound
) -> dict[str, Any]:
    """CPU seconds to build, median CPU ms a request and peak memory of each peer of `benchmarks/peers`, by its name.

    A peer that is not done in its time is named as such.
    """
    with TemporaryDirectory() as folder:
        tools, queries = Path(folder) / "tools.jsonl", Path(folder) / "queries.jsonl"
        with tools.open("w", encoding="utf-8") as file:
            for spec in recipes.tools(0, count):
                told = {"id": spec.id, "name": spec.name, "description": spec.description}
                file.write(json.dumps({**told, "parameters": spec.parameters}) + "\n")
        asked = [{"id": str(number), "query": request} for number, request in enumerate(requests[:ASKED])]
        queries.write_text("".join(json.dumps(one) + "\n" for one in asked), "utf-8")
        found: dict[str, Any] = {}
        for name in names:
            found |= _asked(name, (tools, queries, Path(folder) / f"{name}.jsonl"), bound)
    return found


def _asked(name: str, files: tuple[Path, Path, Path], bound: Bound) -> dict[str, Any]:
    python = str(environment(name, bound.environments))
    command = [python, str(HERE / "harness.py"), name, *map(str, files), str(bound.seconds)]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=one_thread)
    spent, memory = _watched(process, bound.seconds)
    lines = files[2].read_text("utf-8").splitlines() if files[2].is_file() else []
    first, *rows = [json.loads(line) for line in lines] or [{}]
    figures: dict[str, Any] = {f"{name}, build s": first.get("build"), f"{name}, memory MB": memory}
    times = [row["cpu"] for row in rows if "cpu" in row]
    figures[name] = float(np.median(times)) if times else f"not done in {spent:.0f} s of CPU"
    return figures


def _watched(process: subprocess.Popen[bytes], seconds: int) -> tuple[float, float]:
    """Waits until it has ended or used its CPU, then ends it; gives CPU seconds and peak memory in MB."""
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3
        if _cpu(process.pid) > seconds:
            process.kill()
        time.sleep(LOOK)


def _cpu(pid: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
