"""Rebuilds in the background: their progress lies in the service's file, where every worker sees it."""

from __future__ import annotations

import secrets
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio

from toolsearch.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from toolsearch.server.state import StateFile

SILENT: Final = 900.0
"""Seconds without a sign after which a job counts as dead."""
KEPT: Final = 86_400.0
COLUMNS: Final = "id, name, state, stage, done, total, error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A rebuild: `state` is running, done or failed; `done` of `total` things of a stage."""

    id: str
    index: str
    state: str = "running"
    stage: str = "start"
    done: int = 0
    total: int = 0
    error: str = ""


class Jobs:
    """All rebuilds of the last day."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def begin(self, index: str) -> Job:
        """A new rebuild of an index.

        Raises:
            Problem: one is under way.
        """
        now, job = time.time(), Job(id=secrets.token_hex(8), index=index)
        with self._state.writing() as transaction:
            transaction.execute("DELETE FROM jobs WHERE touched < ?", (now - KEPT,))
            running = transaction.execute(
                "SELECT id FROM jobs WHERE name = ? AND state = 'running' AND touched > ?", (index, now - SILENT)
            ).fetchone()
            if running:
                raise Problem(409, f"the index is being rebuilt by the job {running[0]}", {"Retry-After": "5"})
            transaction.execute(
                "INSERT INTO jobs VALUES (?, ?, ?, ?, 0, 0, '', ?)", (job.id, index, job.state, job.stage, now)
            )
        return job

    def get(self, name: str) -> Job:
        """A rebuild.

        Raises:
            Problem: there is no such job.
        """
        rows = self._state.read(f"SELECT {COLUMNS} FROM jobs WHERE id = ?", (name,))  # noqa: S608 - constant
        if not rows:
            raise Problem(404, "there is no such job")
        made, index, state, stage, done, total, error = rows[0]
        return Job(id=made, index=index, state=state, stage=stage, done=done, total=total, error=error)

    def tell(self, job: str, stage: str, done: int, total: int) -> None:
        """Note how far a running job is."""
        self._state.read(
            "UPDATE jobs SET stage = ?, done = ?, total = ?, touched = ? WHERE id = ? AND state = 'running'",
            (stage, done, total, time.time(), job),
        )

    def end(self, job: str, error: str = "") -> None:
        """Note that a running job has ended, well or with an error."""
        values = ("failed" if error else "done", error[:500], time.time(), job)
        self._state.read("UPDATE jobs SET state = ?, error = ?, touched = ? WHERE id = ? AND state = 'running'", values)


async def rebuild(jobs: Jobs, job: Job, places: tuple[Path, Path], origins: Sequence[str] = ()) -> None:
    """Rebuild in a process of its own, so that searches keep their share of the machine.

    `places` are those of the service's file and of the index; tools of `origins` are left alone.
    """
    state, index = map(str, places)
    command = [sys.executable, "-m", "toolsearch.server.rebuilding", state, job.id, index, *origins]
    error = "it was stopped with the service"
    try:
        done = await anyio.run_process(command, check=False, stdout=None, stderr=None)
        error = f"its process ended with {done.returncode}" if done.returncode else ""
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(jobs.end, job.id, error)
