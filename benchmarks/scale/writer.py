"""Writers that are meant to be killed: `python -m benchmarks.scale.writer FOLDER`, a seed a line on standard input.

Each seed is a process of its own. It says what it begins and what is done, a line each:
"open PID", "begin VERB", "+ NUMBER WORDS", "- NUMBER"; "in" and "out" of a compaction or a publication, whatever
thread is at it; its end is "dead".
"""

from __future__ import annotations

import json
import os
import random
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from toolsearch import ToolIndex, ToolSpec
from toolsearch.index import copies, derived, state
from toolsearch.index.feeds import SourceTools
from toolsearch.index.keeper import Keeper

if TYPE_CHECKING:
    from toolsearch.protocols import Floats, Role

SMALL = 5
"""Changes that are compacted, so that kills meet that too."""
NUMBERS = 60
VERBS = {"upsert": 9, "remove": 6, "build": 3, "repair": 2, "backup": 1, "restore": 1}


class Hashed:
    """A vector for each text, from its checksum: vectors are written and read, and cost nothing to make."""

    id, dimension = "hashed", 16

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        """Unit vectors, (len(texts), 16) float32."""
        del role
        found = np.stack([np.random.default_rng(zlib.crc32(text.encode())).standard_normal(16) for text in texts])
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def tool(number: int, words: str) -> ToolSpec:
    """A tool whose description says who wrote it."""
    return ToolSpec(name=f"tool_{number}", description=words)


def main(root: Path) -> None:
    """Serve seeds until there are no more."""
    state.SMALL = SMALL
    derived.publish = _told("publication", derived.publish)
    Keeper.compact = _told("compaction", Keeper.compact)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _write(root, int(line))
        os.waitpid(child, 0)
        _say("dead")


def _told(what: str, act: Callable[..., Any]) -> Callable[..., Any]:
    """The same, which says when it begins and ends."""

    def told(*given: Any) -> Any:
        _say(f"in {what}")
        done = act(*given)
        _say(f"out {what}")
        return done

    return told


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def _write(root: Path, seed: int) -> None:
    chosen = random.Random(seed)
    with ToolIndex.open(root, encoder=Hashed()) as index:
        _say(f"open {os.getpid()}")
        for step in range(100_000):
            verb = chosen.choices(list(VERBS), list(VERBS.values()))[0]
            _say(f"begin {verb}")
            number, words = chosen.randrange(NUMBERS), f"seed {seed} step {step}"
            if verb in ("upsert", "remove"):
                _change(index, verb, number, words)
            elif verb == "build":
                _build(root, index, tool(number, words))
                _say(f"+ {number} {words}")
            elif verb == "repair":
                index.verify(repair=True)
            else:
                _copy(root, verb)


def _change(index: ToolIndex, verb: str, number: int, words: str) -> None:
    if verb == "remove":
        index.remove([f"tool_{number}"])
        _say(f"- {number}")
    else:
        index.upsert([tool(number, words)])
        _say(f"+ {number} {words}")


def _build(root: Path, index: ToolIndex, fresh: ToolSpec) -> None:
    """From a file, so that reading and known lines are met too."""
    source = root.parent / "source.jsonl"
    wanted = [fresh, *(one for one in index.view() if one.id != fresh.id)]
    source.write_text("".join(f"{json.dumps({'name': t.name, 'description': t.description})}\n" for t in wanted))
    ToolIndex.build(root, SourceTools([source]), encoder=Hashed()).close()


def _copy(root: Path, verb: str) -> None:
    """A copy to a new place, or that copy over another index beside: this one stays as it is."""
    copy = root.parent / f"copy-{os.getpid()}-{random.randrange(10**9)}"
    copies.backup(root, copy)
    if verb == "restore":
        copies.restore(copy, root.parent / "restored", replace=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
