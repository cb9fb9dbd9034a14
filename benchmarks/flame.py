"""Where the CPU of a search goes: stacks sampled by CPU time, folded as flame graph viewers read them."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Annotated, Final

import typer

from toolsearch import ToolIndex

EVERY: Final = 0.001
"""Seconds of CPU between two samples."""
DEEPEST: Final = 40


def sampled(work: Callable[[], object]) -> Counter[tuple[str, ...]]:
    """How often each stack, outermost function first, was found at work."""
    found: Counter[tuple[str, ...]] = Counter()

    def sample(_: int, frame: FrameType | None) -> None:
        stack: list[str] = []
        while frame is not None and len(stack) < DEEPEST:
            stack.append(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}")
            frame = frame.f_back
        found[tuple(reversed(stack))] += 1

    before = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return found


def tree(found: Counter[tuple[str, ...]], least: float = 0.02) -> str:
    """The stacks as a tree of text: share of all samples and function, children below by share; small ones left out."""
    whole = found.total()
    shares: Counter[tuple[str, ...]] = Counter()
    for stack, count in found.items():
        shares.update({stack[:depth]: count for depth in range(1, len(stack) + 1)})
    lines: list[str] = []

    def told(path: tuple[str, ...]) -> None:
        own = [one for one in shares if len(one) == len(path) + 1 and one[:-1] == path]
        for child in sorted(own, key=lambda one: -shares[one]):
            if shares[child] >= least * whole:
                lines.append(f"{100 * shares[child] / whole:5.1f} % {'  ' * len(path)}{child[-1]}")
                told(child)

    told(())
    return "\n".join(lines)


def flame(
    index: Annotated[Path, typer.Argument(help="An index with vectors.")],
    requests: Annotated[Path, typer.Argument(help="JSON lines with a `query` each.")],
    rounds: Annotated[int, typer.Option(help="How often each is asked; in the first its vector is made.")] = 10,
    most: Annotated[int, typer.Option(help="Requests, evenly picked.")] = 60,
    stacks: Annotated[
        Path | None, typer.Option(help="File for folded stacks, as flame graph viewers read them.")
    ] = None,
) -> None:
    """Where the CPU of a hybrid search goes when its vector is known: a tree of functions with their shares."""
    lines = [json.loads(line)["query"] for line in requests.read_text("utf-8").splitlines()]
    texts = lines[:: max(1, len(lines) // most)][:most]
    with ToolIndex.open(index, read_only=True) as opened:
        retriever, view = opened.retriever("hybrid"), opened.view()

        def ask() -> None:
            for text in texts:
                retriever.search([text], view, 5)

        ask()
        before = time.process_time()
        found = sampled(lambda: [ask() for _ in range(rounds)])
        spent = 1e3 * (time.process_time() - before) / (rounds * len(texts))
        tools = len(opened)
    print(f"{tools:,} tools, {spent:.2f} ms of CPU a request\n\n{tree(below(found, 'search'))}")
    if stacks is not None:
        stacks.write_text(folded(found), "utf-8")


def below(found: Counter[tuple[str, ...]], function: str) -> Counter[tuple[str, ...]]:
    """The stacks from the first such function on."""
    kept: Counter[tuple[str, ...]] = Counter()
    for stack, count in found.items():
        names = [one.rpartition(".")[2] for one in stack]
        if function in names:
            kept[stack[names.index(function) :]] += count
    return kept


def folded(found: Counter[tuple[str, ...]]) -> str:
    """One line a stack: names with semicolons between them, and how often."""
    return "".join(f"{';'.join(stack)} {count}\n" for stack, count in sorted(found.items()))
