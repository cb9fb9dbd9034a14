"""Makes each peer's environment from its pinned packages and runs it over a task."""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.tasks import Task
from toolsearch import ToolSpec
from toolsearch.evaluation.runs import Answer, tokens_of

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / "envs"
LIMIT = 1800
"""Seconds that one peer may take for one task."""


def requirements(peer: str) -> list[str]:
    """The pinned packages that a peer's file names, read without running it."""
    for node in ast.parse((HERE / f"{peer}.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "REQUIREMENTS":
            return list(ast.literal_eval(node.value))
    raise ValueError(f"{peer} pins no packages")


def environment(peer: str) -> Path:
    """The peer's Python, installed at first use; peers with equal packages share one."""
    wanted = requirements(peer)
    folder = ENVIRONMENTS / hashlib.sha256(" ".join(wanted).encode()).hexdigest()[:12]
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], check=True)
        (folder / "ready").touch()
    return python


@contextmanager
def encoder() -> Iterator[str]:
    """The shared encoder's address while the block runs."""
    command = [sys.executable, "-m", "benchmarks.peers.encoder"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent.parent)
    try:
        if process.stdout is None:
            raise RuntimeError("the encoder has no output")
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1/embeddings"
    finally:
        process.terminate()
        process.wait(timeout=30)


def ask(peer: str, task: Task, tools: list[ToolSpec], url: str) -> tuple[list[Answer], float]:
    """The peer's answers to a task's requests, and seconds of CPU it took to build.

    Raises:
        subprocess.SubprocessError: the peer failed or ran past LIMIT.
    """
    sizes = {tool.id: tokens_of(tool.to_json()) for tool in tools}
    with TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("tools.jsonl", "queries.jsonl", "out.jsonl")]
        rows = [{"id": t.id, "name": t.name, "description": t.description, "parameters": t.parameters} for t in tools]
        _lines(files[0], rows)
        _lines(files[1], [{"id": query.id, "query": query.query} for query in task.queries])
        command = [str(environment(peer)), str(HERE / "harness.py"), peer, *map(str, files), url]
        subprocess.run(command, check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)
        first, *lines = files[2].read_text("utf-8").splitlines()
    return [_answer(json.loads(line), sizes) for line in lines], float(json.loads(first)["build"])


def _lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _answer(body: dict[str, object], sizes: dict[str, int]) -> Answer:
    hits = tuple((str(hit["id"]), float(hit["score"])) for hit in body["hits"])  # type: ignore[attr-defined, index]
    tokens = sum(sizes[tool] for tool, _ in hits)
    return Answer(id=str(body["id"]), hits=hits, cpu=float(str(body["cpu"])), tokens=tokens)
