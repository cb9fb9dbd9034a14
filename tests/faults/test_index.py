"""Faults of keeping an index that users reported, run through one adapter over a real index in a folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml

from tests.encoders.endpoint_server import embeddings, endpoint, ok
from tests.faults.test_search import CHECKS, catalog, spec
from toolsearch import SearchResult, ToolIndex
from toolsearch.encoders.endpoint import Limits
from toolsearch.encoders.openai import OpenAIEncoder
from toolsearch.index.layout import Layout
from toolsearch.tool import Tool

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder, Floats, Role

CASES = yaml.safe_load((Path(__file__).parent / "index.yaml").read_text("utf-8"))


class TableEncoder:
    """The vector listed for what a text ends with; without a list, one place for each word."""

    def __init__(self, fixture: Mapping[str, Any]) -> None:
        self.table = {text: np.array(row, np.float32) for text, row in fixture.get("table", {}).items()}
        self.zero = fixture.get("zero")
        self.dimension = 2 if self.table else int(fixture["words"])
        self.id = "table" if self.table else f"words-{self.dimension}"
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        self.asked += texts
        rows = [self.vector(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)

    def vector(self, text: str) -> Floats:
        if self.zero and text.endswith(self.zero):
            return np.zeros(self.dimension, np.float32)
        if self.table:
            row = next(row for known, row in self.table.items() if text.endswith(known))
        else:
            row = np.zeros(self.dimension, np.float32)
            for word in text.lower().split():
                row[sum(map(ord, word)) % self.dimension] += 1
        return (row / (np.linalg.norm(row) or 1)).astype(np.float32)


def is_ordered(found: SearchResult, ids: list[str]) -> None:
    assert found.ids == ids


def is_noted(found: SearchResult, words: str) -> None:
    assert any(words in note for note in found.notes)


def is_strict_json(found: SearchResult, _: object) -> None:
    json.dumps([(hit.id, hit.score) for hit in found], allow_nan=False)


MORE_CHECKS: dict[str, Any] = {**CHECKS, "order": is_ordered, "noted": is_noted, "strict_json": is_strict_json}


def ring(arguments: Mapping[str, Any], context: object) -> str:
    """What runs the tools that have an executor."""
    return "rung"


class Bench:
    """One index in a folder, and what a fixture's steps do to it."""

    def __init__(self, case: Mapping[str, Any], root: Path, encoder: Encoder | None) -> None:
        self.root, self.encoder = root, encoder
        bodies = [dict(body) for body in case.get("tools", [])]
        live = {body["name"] for body in bodies if body.pop("callable", False)}
        tools = catalog({**case, "tools": bodies})
        with ToolIndex.build(root, [], encoder=encoder or "") as empty:
            empty.replace("x", [Tool(one, ring) if one.name in live else one for one in tools])
        self.index = ToolIndex.open(root, encoder=encoder)

    def run(self, step: Mapping[str, Any]) -> None:
        """The first key of a step names what is done."""
        getattr(self, next(iter(step)))(step)

    def search(self, step: Mapping[str, Any]) -> None:
        found = self.index.search(step["search"], k=step.get("k", 5), strategy=step.get("strategy", "hybrid"))
        for key, value in step["expect"].items():
            MORE_CHECKS[key](found, value)
        self._encoded(step)

    def parallel_searches(self, step: Mapping[str, Any]) -> None:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: self.index.search(step["search"]), range(step["parallel_searches"])))
        assert all(set(step["expect"]["contains"]) <= set(found.ids) for found in answers)
        self._encoded(step)

    def _encoded(self, step: Mapping[str, Any]) -> None:
        if "encoded_at_most" in step:
            assert isinstance(self.encoder, TableEncoder)
            assert len(self.encoder.asked) <= step["encoded_at_most"]

    def add(self, step: Mapping[str, Any]) -> None:
        self.index.upsert([spec(body) for body in step["add"]])

    def remove(self, step: Mapping[str, Any]) -> None:
        self.index.remove(step["remove"])

    def replace(self, step: Mapping[str, Any]) -> None:
        others = [tool for tool in self.index.view() if tool.id.startswith("rack_0")]
        done = self.index.replace(step["replace"], [*others, *(spec(body) for body in step["with"])])
        touched = {*done.added, *done.changed, *(id_ for id_ in done.removed if not id_.startswith("rack_"))}
        assert len(touched) == step["changes"]

    def reopen(self, step: Mapping[str, Any]) -> None:
        self.index.close()
        other = step["reopen"] and TableEncoder(step["reopen"])
        self.index = ToolIndex.open(self.root, encoder=other)
        for words in step.get("noted", ()):
            assert any(words in note for note in self.index.status.notes)

    def for_each_file(self, step: Mapping[str, Any]) -> None:
        self.index.close()
        saved = self.root.with_name("saved")
        shutil.copytree(self.root, saved)
        for how in step["for_each_file"]:
            for name in sorted(path.name for path in derived(self.root).iterdir()):
                damage(derived(self.root) / name, how)
                self.index = ToolIndex.open(self.root)
                assert how in ("leftover", "middle_byte_flipped") or self.index.status.notes
                if how == "middle_byte_flipped":
                    self.index.verify(repair=True)
                self.run(step["then"])
                self.index.close()
                shutil.rmtree(self.root)
                shutil.copytree(saved, self.root)

    def no_pickle(self, _: Mapping[str, Any]) -> None:
        for path in self.root.rglob("*"):
            if path.suffix == ".npy":
                np.load(path, allow_pickle=False)
            assert path.suffix not in (".pkl", ".pickle")

    def executor(self, step: Mapping[str, Any]) -> None:
        assert (self.index.executor(step["executor"]) is None) == step["missing"]

    def stored_whole(self, step: Mapping[str, Any]) -> None:
        found = self.index.get(step["stored_whole"])
        assert found is not None
        assert len(found.description) == step["characters"]


def derived(root: Path) -> Path:
    """The folder of the newest derived files."""
    return max(path for path in Layout(root).segments.iterdir() if path.is_dir())


def damage(path: Path, how: str) -> None:
    """Do one of the things that happen to files."""
    content = path.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :] if content else b""
    kept = {"empty": b"", "first_byte_only": content[:1], "half": content[:middle], "last_byte_lost": content[:-1]}
    if how == "leftover":
        path.with_name(path.name + ".tmp").write_bytes(content[:1])
    elif how == "deleted":
        os.remove(path)
    else:
        path.write_bytes(kept.get(how, flipped))


@contextmanager
def failing(how: str) -> Iterator[Encoder]:
    """An endpoint that encodes tools, then fails in one way on every request."""
    tools_done = False
    answers: dict[str, Callable[[dict[str, Any]], Any]] = {
        "slow": lambda body: iter([b" "] * 400),
        "refused": lambda body: (403, {}, b"no"),
        "busy": lambda body: (429, {"Retry-After": "30"}, b"later"),
        "broken": lambda body: (500, {}, b"?"),
        "not_json": lambda body: ok(b"<html>"),
        "other_dimension": lambda body: ok({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}),
        "empty_list": lambda body: ok({"data": []}),
    }

    def answer(body: dict[str, Any], number: int) -> Any:
        nonlocal tools_done
        if not tools_done:
            tools_done = True
            return ok(embeddings(body))
        return answers[how](body)

    with endpoint(answer) as served:
        limits = Limits(seconds=2.0, tries=2, first_pause=0.01, longest_pause=0.05)
        yield OpenAIEncoder(f"{served.url}#m", limits)


@pytest.mark.parametrize("case", [c for c in CASES if "for_each_failure" not in c], ids=lambda case: case["name"])
def test_reported_fault(case: Mapping[str, Any], tmp_path: Path) -> None:
    """The fault does not occur."""
    encoder = TableEncoder(case["encoder"]) if "encoder" in case else None
    bench = Bench(case, tmp_path / "i", encoder)
    for step in case["steps"]:
        bench.run(step)


@pytest.mark.parametrize("case", [c for c in CASES if "for_each_failure" in c], ids=lambda case: case["name"])
def test_a_failing_encoder_leaves_the_words(case: Mapping[str, Any], tmp_path: Path) -> None:
    """However the encoder fails: the tool is found by its words within the limit, and the answer says so."""
    for how in case["for_each_failure"]:
        with failing(how) as encoder:
            bench = Bench(case, tmp_path / how, encoder)
            for step in case["steps"]:
                bench.run(step)
