"""`python -m benchmarks survival`: an index is hurt in every way, by seed, and what comes of it is counted."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Annotated, Final

import typer

from benchmarks.scale.writer import Hashed, tool
from toolsearch import ToolIndex
from toolsearch.errors import IndexFault
from toolsearch.index import copies
from toolsearch.index.layout import FORMAT, Layout

TOOLS: Final = 30
LATEST: Final = 0.25
"""Seconds after opening at which a writer is killed at the latest."""
COPIES: Final = 10
PAUSE: Final = 0.1
"""Seconds in which changes are made before each copy."""
Outcome = Counter[str]


def survival(
    kills: Annotated[int, typer.Option(help="How many writers are killed.")] = 300,
    hurts: Annotated[int, typer.Option(help="How often each kind of file is cut, and a bit of it flipped.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of when and where.")] = 0,
) -> None:
    """Kill writers, cut files, flip bits, change versions; a table of what was tried and what came of it."""
    rows: list[tuple[str, Outcome]] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        rows += [(f"killed in {verb}", found) for verb, found in sorted(_killed(place / "k", kills, seed).items())]
        rows += _hurt(place, hurts, random.Random(seed))
        rows.append(("disk that becomes full", Counter(_full(place / f"full-{one}", one) for one in range(hurts))))
        rows += [(name, Counter([made(place / name.replace(" ", "-"))])) for name, made in OTHERS.items()]
    print(table(rows))
    if any(outcome.startswith(("lost", "broken")) for _, found in rows for outcome in found):
        raise typer.Exit(1)


def table(rows: list[tuple[str, Outcome]]) -> str:
    """Markdown: what was tried, how often, and what came of it."""
    lines = [
        f"| {name} | {found.total()} | {', '.join(f'{outcome} ({n})' for outcome, n in found.most_common())} |"
        for name, found in rows
    ]
    return "\n".join(["| fault | tried | outcome |", "|---|---:|---|", *lines])


def _made(root: Path) -> Path:
    root.parent.mkdir(parents=True, exist_ok=True)
    ToolIndex.build(root, [tool(number, f"number {number}") for number in range(TOOLS)], encoder=Hashed()).close()
    return root


def _killed(place: Path, kills: int, seed: int) -> dict[str, Outcome]:
    """Kills by what was begun last: whether the truth is what was acknowledged, and whether search follows it."""
    root = _made(place / "index")
    truth: dict[int, str] = {number: f"number {number}" for number in range(TOOLS)}
    found: dict[str, Outcome] = {}
    chosen = random.Random(seed)
    command = [sys.executable, "-m", "benchmarks.scale.writer", str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writers:
        for one in range(kills):
            verb = _kill(writers, one, chosen.uniform(0, LATEST), truth)
            found.setdefault(verb, Counter())[_compared(root, truth)] += 1
            for copy in place.glob("copy-*"):
                shutil.rmtree(copy)
        if writers.stdin is not None:
            writers.stdin.close()
    return found


def _kill(writers: subprocess.Popen[str], seed: int, delay: float, truth: dict[int, str]) -> str:
    """One writer's life; brings the truth up to what it said, and gives what it was at."""
    if writers.stdin is None or writers.stdout is None:
        return "nothing"
    print(seed, file=writers.stdin, flush=True)
    _, process = writers.stdout.readline().split()
    time.sleep(delay)
    os.kill(int(process), signal.SIGKILL)
    verb, inside = "opening", list[str]()
    for line in iter(writers.stdout.readline, "dead\n"):
        sign, rest = line.rstrip("\n").split(" ", 1)
        number, _, words = rest.partition(" ")
        if sign == "begin":
            verb = rest
        elif sign == "in":
            inside.append(rest)
        elif sign == "out":
            inside.remove(rest)
        elif sign == "+":
            truth[int(number)] = words
        else:
            truth.pop(int(number), None)
    return inside[-1] if inside else verb


def _compared(root: Path, truth: dict[int, str]) -> str:
    """What is there against what was acknowledged; the one change under way may be there or not."""
    with ToolIndex.open(root, encoder=Hashed()) as index:
        there = {int(spec.name.removeprefix("tool_")): spec.description for spec in index.view()}
        differing = [number for number in {*there, *truth} if there.get(number) != truth.get(number)]
        truth.clear()
        truth.update(there)
        if len(differing) > 1:
            return "lost"
        bare = index.view().corpus.unvectored
        if bare is not None and bare.any():
            return "lost vectors"
        missed = [n for n in list(there)[:3] if not index.search(f"tool_{n}", k=1, strategy="lexical").hits]
        return "broken search" if missed else "nothing lost"


def _hurt(place: Path, times: int, chosen: random.Random) -> list[tuple[str, Outcome]]:
    """Cut or change each kind of file, and say what the next opening, `verify` and `repair` make of it."""
    whole = _made(place / "whole")
    rows: list[tuple[str, Outcome]] = []
    for kind, pattern in (("derived file", "data/segments/*/*"), ("database", "data/truth.sqlite")):
        for name, harm in (("cut", _cut), ("a bit flipped in", _flipped)):
            found: Outcome = Counter()
            for _ in range(times):
                root = place / "hurt"
                shutil.rmtree(root, ignore_errors=True)
                shutil.copytree(whole, root)
                harm(chosen.choice(sorted(root.glob(pattern))), chosen)
                found[_mended(root)] += 1
            rows.append((f"{kind} {name}" if harm is _cut else f"{name} a {kind}", found))
    return rows


def _cut(file: Path, chosen: random.Random) -> None:
    os.truncate(file, chosen.randrange(max(1, file.stat().st_size)))


def _flipped(file: Path, chosen: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
    file.write_bytes(content)


def _mended(root: Path) -> str:
    try:
        with ToolIndex.open(root, encoder=Hashed()) as index:
            noted = bool(index.status.notes)
            sound = index.verify().ok
            if sound:
                ok = len(index) == TOOLS
                return ("made anew at opening" if noted else "of no effect") if ok else "lost"
            return "found and mended by verify --repair" if index.verify(repair=True).ok else "named by verify"
    except IndexFault:
        return "named at opening or by verify"


def _read_only(root: Path) -> str:
    _made(root)
    folders = [path for path in [root, *root.rglob("*")] if path.is_dir()]
    unprivileged = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
    for path in [*folders, *root.parents][: len(folders) + 2]:
        path.chmod(0o555)
    command = [*unprivileged, sys.executable, "-m", "toolsearch", "search", "number 3", "-i", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for path in [*folders, *root.parents][: len(folders) + 2]:
        path.chmod(0o755)
    return "searched" if done.returncode == 0 and "tool_3" in done.stdout else f"broken: {done.stderr[:100]}"


def _clock(root: Path) -> str:
    """Files from the future and from long ago."""
    _made(root)
    for age in (4e9, 1e6):
        for file in root.rglob("*"):
            os.utime(file, (age, age))
        with ToolIndex.open(root, encoder=Hashed()) as index:
            index.upsert([tool(int(age) % 1000, "from another time")])
            if not index.verify().ok or not index.search("from another time", strategy="lexical").hits:
                return "broken"
    return "of no effect"


def _two_writers(root: Path) -> str:
    """Each adds tools and removes every other one again, and both compact; whoever opens it next sees just that."""
    _made(root)
    script = (
        "import sys; from toolsearch import ToolIndex; from toolsearch.index import state\n"
        "from benchmarks.scale.writer import SMALL, Hashed, tool\n"
        "state.SMALL = SMALL\n"
        "with ToolIndex.open(sys.argv[1], encoder=Hashed()) as index:\n"
        "    for n in range(int(sys.argv[2]), int(sys.argv[2]) + 80):\n"
        "        index.upsert([tool(n, 'by one of two')])\n"
        "        index.remove([f'tool_{n}'] if n % 2 else [])"
    )
    both = [subprocess.Popen([sys.executable, "-c", script, str(root), str(first)]) for first in (1000, 2000)]
    ended = [one.wait() for one in both]
    wanted = {f"tool_{n}" for n in [*range(TOOLS), *range(1000, 1080, 2), *range(2000, 2080, 2)]}
    with ToolIndex.open(root, encoder=Hashed()) as index:
        return "both kept all" if {spec.id for spec in index.view()} == wanted and ended == [0, 0] else "lost"


def _full(root: Path, seed: int) -> str:
    """On a small file system of its own, in a process of its own."""
    root.mkdir()
    command = ["unshare", "-rm", sys.executable, "-m", "benchmarks.scale.full", str(root), str(seed)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "not tried: there is no unshare"
    return done.stdout.strip() if done.returncode == 0 else f"broken: {done.stderr.strip()[-100:]}"


def _copied(root: Path) -> str:
    """Copies made and put back while a thread writes: each is whole and has what was said before."""
    _made(root)
    said: list[int] = []
    stop = threading.Event()

    def write() -> None:
        with ToolIndex.open(root, encoder=Hashed()) as index:
            for number in count(1000):
                if stop.is_set():
                    return
                index.upsert([tool(number, f"number {number}")])
                said.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        outcomes = {_whole_copy(root, one, said) for one in range(COPIES)}
    finally:
        stop.set()
        writer.join()
    with ToolIndex.open(root, encoder=Hashed()) as index:
        return "lost" if len(index) != TOOLS + len(said) else " and ".join(outcomes)


def _whole_copy(root: Path, one: int, said: list[int]) -> str:
    time.sleep(PAUSE)
    before = len(said)
    copy, other = root.with_name(f"{root.name}-{one}"), root.with_name(f"{root.name}-back")
    copies.backup(root, copy)
    copies.restore(copy, other, replace=True)
    with ToolIndex.open(other, encoder=Hashed()) as index:
        there = {spec.id for spec in index.view()}
        whole = index.verify().ok and all(f"tool_{number}" in there for number in said[:before])
    return "each copy is whole" if whole else "lost in a copy"


def _versions(root: Path) -> Iterator[str]:
    for version in (FORMAT + 1, FORMAT - 1):
        _made(root)
        with sqlite3.connect(Layout(root).truth) as connection:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'format'", (str(version),))
        connection.close()
        yield _mended(root)
        shutil.rmtree(root)


OTHERS: Final[dict[str, Callable[[Path], str]]] = {
    "folder that may only be read": _read_only,
    "clock jumps": _clock,
    "two writers": _two_writers,
    "copied and restored while written to": _copied,
    "later and earlier format": lambda root: " and ".join(dict.fromkeys(_versions(root))),
}
