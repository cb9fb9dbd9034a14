"""Runs peers over tasks, each in its own environment, and keeps what they answer as our own runs are kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.peers.environments import HERE, environment, requirements
from benchmarks.peers.filling import fill
from benchmarks.runner import RUNS, Kept, build, run_one
from benchmarks.tasks import Task
from toolsearch import ToolSpec
from toolsearch.evaluation.runs import Answer, tokens_of

WALL = 10
"""Times the allowed CPU that may pass on the clock, for a machine that others use too."""


LARGE = 10_000
"""A catalog of more tools comes last."""


class TooSlow(Exception):
    """A peer would not be done in the time that it is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Who is asked. `seconds` is the CPU that a peer may take for one task's requests; `made` holds environments.

    With `tools` the first task alone is asked, over its catalog filled up to so many.
    """

    peers: Sequence[str]
    strategies: Sequence[str]
    seconds: int = 600
    made: Path | None = None
    tools: int = 0


def run_peers(tasks: Sequence[Task], order: Order, out: Path) -> list[Path]:
    """Our strategies and the peers over every task, one folder each below `out`.

    Whoever is stopped keeps what is done: small catalogs come first, system by system, and then the large ones.
    """
    ours = {name: Kept(out / name, {"strategy": name, "k": 10, "encoder": "builtin"}) for name in order.strategies}
    theirs = {
        peer: Kept(out / peer, {"strategy": peer, "k": 10, "packages": requirements(peer)}) for peer in order.peers
    }
    filling = fill(tasks[0], order.tools, RUNS) if order.tools else None
    tasks = [filling.task] if filling else tasks
    large = [task for task in tasks if len(task.tools()) > LARGE]
    with encoder(RUNS, filling and filling.file) as url:
        for group in ([task for task in tasks if task not in large], large):
            for task in group if ours else ():
                built = build(task, filling.encoder if filling else "builtin")
                for name, kept in ours.items():
                    kept.add(task, run_one(task, built, name), built)
            for peer, kept in theirs.items():
                for task in group:
                    _peer(peer, task, order, kept, url)
    return [kept.folder for kept in (*ours.values(), *theirs.values())]


def _peer(peer: str, task: Task, order: Order, kept: Kept, url: str) -> None:
    print(f"{task.name} {peer}", file=sys.stderr, flush=True)
    try:
        answers, seconds = ask(peer, task, order, url)
    except (TooSlow, subprocess.SubprocessError) as error:
        kept.miss(task, str(error) if isinstance(error, TooSlow) else type(error).__name__)
        return
    kept.add(task, answers, seconds=seconds)


@contextmanager
def encoder(folder: Path | None = None, made: Path | None = None) -> Iterator[str]:
    """The shared encoder's address while the block runs; in a folder it keeps what it encoded.

    `made` is a file with the vectors of made-up tools.
    """
    given = [str(one) for one in (folder, made) if one]
    command = [sys.executable, "-m", "benchmarks.peers.encoder", *given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent.parent) as process:
        try:
            said = process.stdout.readline() if process.stdout else ""
            yield f"http://127.0.0.1:{int(said)}/v1/embeddings"
        finally:
            process.terminate()


def ask(peer: str, task: Task, order: Order, url: str) -> tuple[list[Answer], float]:
    """The peer's answers to a task's requests, and seconds of CPU it took to build.

    Raises:
        TooSlow: it would take longer than it may.
        subprocess.SubprocessError: it failed, or did not end.
    """
    tools = task.tools()
    sizes = {tool.id: tokens_of(tool.to_json()) for tool in tools}
    with TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("tools.jsonl", "queries.jsonl", "out.jsonl")]
        _lines(files[0], [_definition(tool) for tool in tools])
        _lines(files[1], [{"id": query.id, "query": query.query} for query in task.queries])
        python = str(environment(peer, order.made))
        command = [python, str(HERE / "harness.py"), peer, *map(str, files), str(order.seconds), url]
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run(command, check=True, timeout=WALL * order.seconds, stdout=subprocess.DEVNULL, env=one_thread)
        first, *rows = [json.loads(line) for line in files[2].read_text("utf-8").splitlines()]
    if rows and "over" in rows[-1]:
        raise TooSlow(rows[-1]["over"])
    return [_answer(row, sizes) for row in rows], float(first["build"])


def _definition(tool: ToolSpec) -> dict[str, Any]:
    """What a peer is given; a namespace goes before the name, as clients of several servers do."""
    name = f"{tool.namespace}_{tool.name}" if tool.namespace else tool.name
    return {"id": tool.id, "name": name, "description": tool.description, "parameters": tool.parameters}


def _lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _answer(body: Mapping[str, Any], sizes: Mapping[str, int]) -> Answer:
    hits = tuple((str(hit["id"]), float(hit["score"])) for hit in body["hits"])
    return Answer(id=body["id"], hits=hits, cpu=float(body["cpu"]), tokens=sum(sizes[tool] for tool, _ in hits))
