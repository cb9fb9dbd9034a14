"""Peers are run as they would be used, with pinned packages, and their answers kept as ours are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import PEERS, harness
from benchmarks.peers.environments import holds, requirements
from benchmarks.peers.run import encoder
from benchmarks.peers.table import peers_markdown
from benchmarks.runner import Kept
from benchmarks.tasks import Task, development_parts
from tests.benchmarks.conftest import QUERIES, definitions, lines
from toolsearch.encoders import open_encoder
from toolsearch.evaluation.runs import Answer


@pytest.mark.parametrize("peer", PEERS)
def test_every_package_is_pinned(peer: str) -> None:
    """A peer is a file that names exact versions."""
    assert all("==" in one for one in requirements(peer))


def test_an_unknown_peer_is_named() -> None:
    """What has no file is no peer."""
    with pytest.raises(ValueError, match="best_ever"):
        requirements("best_ever")


def test_an_environment_is_known_by_what_it_holds(tmp_path: Path) -> None:
    """Versions must be equal; how a name is written does not matter."""
    place = tmp_path / "lib" / "python3.11" / "site-packages" / "Some_Thing-1.2.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: Some_Thing\nVersion: 1.2\n", "utf-8")
    assert holds(tmp_path, ["some-thing==1.2"])
    assert not holds(tmp_path, ["some-thing==1.3"])
    assert not holds(tmp_path, ["some-thing==1.2", "other==1"])


def harnessed(tmp_path: Path, *, seconds: float) -> list[dict[str, object]]:
    pytest.importorskip("rank_bm25")
    asked = [{"id": f"{key}-{n}", "query": text} for key, (text, _) in QUERIES.items() for n in range(3)]
    files = [lines(tmp_path / "tools.jsonl", definitions()), lines(tmp_path / "asked.jsonl", asked), tmp_path / "out"]
    command = [sys.executable, harness.__file__, "rank_bm25_plain", *map(str, files), str(seconds)]
    subprocess.run(command, check=True, timeout=120)
    return [json.loads(line) for line in files[2].read_text("utf-8").splitlines()]


def test_a_peer_answers_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The first line tells what building took; then one line a request, with ids of our catalog and CPU."""
    first, *rows = harnessed(tmp_path, seconds=60)
    assert list(first) == ["build"]
    assert [row["hits"][0]["id"] for row in rows[:4]] == [*["refund_payment"] * 3, "print_label"]
    assert all(row["cpu"] >= 0 for row in rows)


def test_a_peer_that_would_take_too_long_is_stopped(tmp_path: Path) -> None:
    """After a few requests the rest is foreseen."""
    _, *rows = harnessed(tmp_path, seconds=0)
    assert len(rows) == harness.TRIED + 1
    assert "ms a request" in rows[-1]["over"]


def test_equal_names_get_numbers() -> None:
    """Peers know tools by name only, so a taken name is made another one."""
    found = harness.distinct([{"id": 1, "name": "a"}, {"id": 2, "name": "a"}, {"id": 3, "name": "a"}])
    assert {name: tool["id"] for name, tool in found.items()} == {"a": 1, "a_2": 2, "a_3": 3}


def test_the_shared_encoder_is_ours() -> None:
    """Over loopback come the vectors of the built-in encoder, and the CPU that they took."""
    texts = ["give the money back", "print a label"]
    with encoder() as url:
        embed = harness.Embed(url, expected=2, limit=1e6)
        vectors = np.array(embed(texts))
        assert embed.spent() > 0
    assert np.allclose(vectors, open_encoder("builtin").encode(texts, "tool"), atol=1e-6)


def test_what_was_encoded_is_kept_with_what_it_took(tmp_path: Path) -> None:
    """A text of an earlier run is not encoded again, gets the same vector, and counts as much CPU as then."""
    texts = ["give the money back", "print a label"]
    with encoder(tmp_path) as url:
        first = np.array(harness.Embed(url, expected=2, limit=1e6)(texts))
    with encoder(tmp_path) as url:
        embed = harness.Embed(url, expected=2, limit=1e6)
        assert np.array_equal(np.array(embed(texts)), first)
        once = embed.spent()
        embed(texts)
        assert embed.spent() == pytest.approx(2 * once)


def kept(folder: Path, task: Task, *, best: str) -> Path:
    answers = [Answer(id=query.id, hits=((best, 1.0),), cpu=2.0) for query in task.queries]
    run = Kept(folder, {"strategy": folder.name})
    run.add(task, answers, seconds=1.5)
    return run.folder


def test_the_table_compares_every_system_with_ours(tmp_path: Path, data: Path) -> None:
    """Means, intervals and differences by part; a part that was not done tells why."""
    first, second = development_parts(data)
    ours = kept(tmp_path / "hybrid", first, best="refund_payment")
    peer = kept(tmp_path / "other", first, best="send_email")
    Kept(tmp_path / "slow", {}).miss(second, "900 ms a request")
    text = peers_markdown([ours, peer, tmp_path / "slow"])
    overall = next(line for line in text.splitlines() if line.startswith("| other"))
    assert "-50.0 (-100.0 to 0.0)" in overall
    assert "900 ms a request" in text
    assert "2.0 (2.0 to 2.0) / 2" in text
