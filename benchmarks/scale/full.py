"""A disk that becomes full, really: `python -m benchmarks.scale.full FOLDER SEED` within `unshare -rm`.

The folder becomes a file system of a few MB. What an index does until it is full, and after room was made, is said
in one line.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.scale.writer import Hashed, tool
from toolsearch import ToolIndex
from toolsearch.errors import IndexFault
from toolsearch.index import copies

SIZE: Final = 6_000_000
LEFT: Final = (20_000, 1_500_000)
"""Bytes that are left when the work begins, by seed."""
STEPS: Final = 400
WORDS: Final = "a longer description " * 40


def main(root: Path, seed: int) -> str:
    """What came of it: one clear error and nothing lost, or what went wrong."""
    mount = shutil.which("mount") or "mount"
    subprocess.run([mount, "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(root)], check=True)
    chosen = random.Random(seed)
    ToolIndex.build(root / "index", [tool(n, f"number {n}") for n in range(30)], encoder=Hashed()).close()
    ballast = root / "ballast"
    _fill(ballast, root, chosen.randrange(*LEFT))
    there = {f"tool_{n}" for n in range(30)}
    told = _until_full(root, chosen, there)
    if not told.startswith("IndexFault"):
        return f"broken: {told[:100]}"
    wrong = _wrong(root, there, read_only=True)
    ballast.unlink()
    return wrong or _wrong(root, there, read_only=False) or "one clear error, nothing lost, goes on once there is room"


def _fill(ballast: Path, root: Path, left: int) -> None:
    ballast.write_bytes(b"x" * max(0, shutil.disk_usage(root).free - left))


def _until_full(root: Path, chosen: random.Random, there: set[str]) -> str:
    """Work until something fails; gives what failed. `there` becomes what was acknowledged."""
    for step in range(STEPS):
        act = chosen.choice([_upsert, _upsert, _upsert, _build, _backup])
        try:
            act(root, step, there)
        except IndexFault as fault:
            return f"IndexFault: {fault}"
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            return f"{type(error).__name__}: {error}"
    return "the disk was never full"


def _upsert(root: Path, step: int, there: set[str]) -> None:
    with ToolIndex.open(root / "index", encoder=Hashed()) as index:
        index.upsert([tool(1000 + 10 * step + n, f"{WORDS} {step} {n}") for n in range(10)])
        there |= {f"tool_{1000 + 10 * step + n}" for n in range(10)}


def _build(root: Path, step: int, there: set[str]) -> None:
    del step, there
    ToolIndex.build(root / "index", encoder=Hashed()).close()


def _backup(root: Path, step: int, there: set[str]) -> None:
    del there
    copies.backup(root / "index", root / f"copy-{step}")


def _wrong(root: Path, there: set[str], *, read_only: bool) -> str:
    """What is wrong with the index now; empty when nothing is."""
    with ToolIndex.open(root / "index", read_only=read_only, encoder=Hashed()) as index:
        lacking = there - {spec.id for spec in index.view()}
        found = index.search("number 3", k=40, strategy="lexical").hits
        if lacking or not found:
            return f"lost: {len(lacking)} tools" if lacking else "broken search"
        if not read_only:
            index.upsert([tool(7, "written once there was room")])
            if not index.verify(repair=True).ok:
                return "broken files"
    return ""


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), int(sys.argv[2])))
