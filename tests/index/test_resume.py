"""A build that was killed goes on where it was, and ends as one that was never stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.index.catalogs import by_vectors, by_words, ids
from tests.strategies.words_encoder import WordsEncoder
from toolsearch.index import derived
from toolsearch.index.encoding import BATCH
from toolsearch.index.layout import Layout
from toolsearch.index.tool_index import ToolIndex
from toolsearch.tool import ToolSpec

COUNT = 12 * BATCH
BUILDER = """
import os, sys, time
from toolsearch.index import pieces
from tests.index.test_resume import tools
from tests.strategies.words_encoder import WordsEncoder
from toolsearch.index.tool_index import ToolIndex

def told(step):
    os.write(1, f"{step.stage} {step.done}\\n".encode())
    if step.stage == sys.argv[2] and step.done:
        time.sleep(60)  # until it is killed

pieces.BLOCK = 500  # so that tools are analysed in several blocks
ToolIndex.build(sys.argv[1], tools(), encoder=WordsEncoder(), progress=told)
"""


def tools() -> list[ToolSpec]:
    """Tools in several batches of texts."""
    return [ToolSpec(name=f"gauge_{n}", namespace=f"n{n % 3}", description=f"reads gauge {n}") for n in range(COUNT)]


def killed(root: Path, stage: str) -> list[str]:
    """Begin a build and kill it in the middle of a stage; gives what it told."""
    command = [sys.executable, "-c", BUILDER, str(root), stage]
    folder = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as builder:
        assert builder.stdout is not None
        told: list[str] = []
        for line in builder.stdout:
            told.append(line.strip())
            if line.startswith(stage) and not line.endswith(" 0\n"):
                break
        os.kill(builder.pid, signal.SIGKILL)
    return told


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
@pytest.mark.parametrize(("stage", "kept"), [("read", 0), ("encode", BATCH), ("analyse", COUNT), ("write", COUNT)])
def test_a_killed_build_encodes_nothing_again(tmp_path: Path, stage: str, kept: int) -> None:
    """After SIGKILL the second run encodes only what the first had not kept; all files and answers are equal."""
    told = killed(tmp_path / "killed", stage)
    assert told[-1].startswith(stage)
    second, whole = WordsEncoder(), WordsEncoder()
    with (
        ToolIndex.build(tmp_path / "killed", tools(), encoder=second) as index,
        ToolIndex.build(tmp_path / "whole", tools(), encoder=whole) as fresh,
    ):
        assert len(whole.seen) == COUNT
        assert len(second.seen) == COUNT - kept
        assert ids(index) == ids(fresh)
        for request in ("gauge 17", "reads"):
            assert by_words(index, request, COUNT) == by_words(fresh, request, COUNT)
            assert by_vectors(index, request, COUNT) == by_vectors(fresh, request, COUNT)
        assert index.verify().ok
    one, other = (arrays(tmp_path / name) for name in ("killed", "whole"))
    assert one == other


def arrays(root: Path) -> dict[str, bytes]:
    """The derived files of an index by name."""
    folder = derived.newest(Layout(root))
    assert folder is not None
    assert np.load(folder / "vectors.npy").shape[0] == COUNT
    return {file.name: file.read_bytes() for file in folder.glob("*.npy")}
