"""Killed writers, threads, many short lives: nothing acknowledged is lost, nothing is left behind."""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.index.catalogs import by_vectors, by_words, catalog, ids, tool
from tests.strategies.words_encoder import WordsEncoder
from toolsearch.index.layout import Layout
from toolsearch.index.tool_index import ToolIndex

WRITERS = """
import os, random, sys
from tests.index.catalogs import tool
from toolsearch.index import copies, state
from toolsearch.index.tool_index import ToolIndex

state.SMALL = 20

def say(line):
    os.write(1, f"{line}\\n".encode())  # one call, so that a kill cuts no line in two

def write(root, seed):
    rng = random.Random(seed)
    with ToolIndex.open(root) as index:
        say(f"open {os.getpid()}")
        for step in range(10_000):
            number = rng.randrange(60)
            words = f"seed {seed} step {step}"
            if rng.random() < 0.4:
                index.remove([f"tool_{number}"])
                say(f"- {number}")
            elif rng.random() < 0.1:
                index.verify(repair=True)
            elif rng.random() < 0.1:
                copies.backup(root, f"{root}-copy-{seed}-{step}")
            elif rng.random() < 0.2:
                others = [one for one in index.view() if one.name != f"tool_{number}"]
                ToolIndex.build(root, [tool(number, words), *others], encoder="").close()
                say(f"+ {number} {words}")
            else:
                index.upsert([tool(number, words)])
                say(f"+ {number} {words}")

for line in sys.stdin:
    child = os.fork()
    if not child:
        write(sys.argv[1], int(line))
    os.waitpid(child, 0)
    say("dead")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_writer_killed_a_hundred_times_loses_nothing(tmp_path: Path) -> None:
    """Whatever a writer said was done is there after `kill -9` at any moment; the files are whole or mended.

    Writers change single tools, compact, publish derived files, build anew and make copies.
    """
    root = tmp_path / "i"
    ToolIndex.build(root, catalog(30), encoder="").close()
    truth: dict[int, str | None] = {number: tool(number).description for number in range(30)}
    rng = random.Random(7)
    command = [sys.executable, "-c", WRITERS, str(root)]
    folder = Path(__file__).parents[2]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder) as writers:
        for seed in range(100):
            truth.update(killed(writers, seed, rng.uniform(0.0, 0.08)))
            with ToolIndex.open(root, read_only=True) as index:
                settle(truth, index)
        assert writers.stdin is not None
        writers.stdin.close()
    with ToolIndex.open(root) as index:
        assert index.verify(repair=True).ok
    assert not list(Layout(root).segments.glob(".new-*"))
    for copy in tmp_path.glob("i-copy-*"):
        with ToolIndex.open(copy) as index:
            assert index.verify().ok


def killed(writers: subprocess.Popen[str], seed: int, delay: float) -> dict[int, str | None]:
    """Start a writer and kill it a while after it began; gives what it said was done."""
    assert writers.stdin is not None
    assert writers.stdout is not None
    print(seed, file=writers.stdin, flush=True)
    first, process = writers.stdout.readline().split()
    assert first == "open"
    time.sleep(delay)
    os.kill(int(process), signal.SIGKILL)
    said: dict[int, str | None] = {}
    for line in iter(writers.stdout.readline, "dead\n"):
        sign, number, *words = line.rstrip("\n").split(" ", 2)
        said[int(number)] = words[0] if sign == "+" else None
    return said


def settle(truth: dict[int, str | None], index: ToolIndex) -> None:
    """Compare what was said with what is there: at most the one change under way when the kill came may differ."""
    there = {int(spec.name.removeprefix("tool_")): spec.description for spec in index.view()}
    wanted = {number: words for number, words in truth.items() if words is not None}
    different = [number for number in {*there, *wanted} if there.get(number) != wanted.get(number)]
    assert len(different) <= 1
    for number in different:
        found = there.get(number)
        assert found is None or found.startswith("seed ")
        truth[number] = found
    for number in list(there)[:3]:
        assert f"tool_{number}" in dict(by_words(index, there[number], 100))


def test_searching_while_others_change(tmp_path: Path) -> None:
    """Eight threads search while two upsert and remove: every answer is whole, and what was removed stays away."""
    index = ToolIndex.build(tmp_path / "i", catalog(60), encoder=WordsEncoder())
    stop, gone_lock = threading.Event(), threading.Lock()
    gone: set[str] = set()

    def search(_: int) -> int:
        count = 0
        while not stop.is_set():
            with gone_lock:
                away = set(gone)
            found = {one for one, _ in by_words(index, "letter engine forest", 200)}
            found |= {one for one, _ in by_vectors(index, "violin", 200)}
            assert not found & away
            count += 1
        return count

    def change(first: int) -> None:
        for number in range(first, first + 12):
            index.upsert([tool(number, "letter violin")])
            index.remove([f"tool_{number}"])
            with gone_lock:
                gone.add(f"tool_{number}")

    with index, ThreadPoolExecutor(10) as pool:
        readers = [pool.submit(search, number) for number in range(8)]
        writers = [pool.submit(change, first) for first in (100, 200)]
        for writer in writers:
            writer.result()
        stop.set()
        assert all(reader.result() > 0 for reader in readers)
        assert ids(index) == [f"tool_{n}" for n in range(60)]


def test_two_processes_change_one_index(tmp_path: Path) -> None:
    """Two writers, each with its own opening, both keep what they wrote."""
    ToolIndex.build(tmp_path / "i", catalog(5), encoder="").close()

    def change(first: int) -> None:
        with ToolIndex.open(tmp_path / "i") as index:
            for number in range(first, first + 15):
                index.upsert([tool(number)])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(change, (100, 200)))
    with ToolIndex.open(tmp_path / "i") as index:
        assert len(index) == 35


def test_short_lived_indexes_leave_nothing() -> None:
    """Memory is flat over indexes that were made and dropped, to less than a tool's size for each."""
    tools = catalog(10)

    def lives(count: int) -> None:
        for _ in range(count):
            index = ToolIndex.from_tools(tools, encoder=None)
            by_words(index, "letter")
            index.close()
        gc.collect()

    tracemalloc.start()
    lives(30)
    before = tracemalloc.get_traced_memory()[0]
    lives(100)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100 * 300


def test_a_dropped_index_closes_its_files(tmp_path: Path) -> None:
    """An index that nobody closed lets its database and its leases go."""
    ToolIndex.build(tmp_path / "i", catalog(3), encoder="").close()
    index = ToolIndex.open(tmp_path / "i")
    view = index.view()
    assert len(list(Layout(tmp_path / "i").leases.iterdir())) == 1
    del index, view
    gc.collect()
    assert not list(Layout(tmp_path / "i").leases.iterdir())


def test_a_held_view_keeps_its_tools(tmp_path: Path) -> None:
    """Tools of an old view can be read after many changes and collections of what nobody needs."""
    with ToolIndex.build(tmp_path / "i", catalog(12), encoder="") as index:
        view = index.view()
        with ToolIndex.open(tmp_path / "i") as other:
            for number in range(12):
                other.remove([f"tool_{number}"])
            for number in range(100):
                other.upsert([tool(500, f"step {number}")])
            other._writer.collect()
        assert [spec.id for spec in view] == [f"tool_{n}" for n in range(12)]
