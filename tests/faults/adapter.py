"""The one adapter through which reported faults of indexing and search run: a case is a catalog and steps on it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from toolsearch import SearchResult, ToolIndex, ToolSpec
from toolsearch.index.layout import Layout
from toolsearch.questions import Decision, Question, State, YesNoAnswer
from toolsearch.text import request_terms
from toolsearch.tool import Tool

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder, Floats, Role


def cases(name: str) -> list[dict[str, Any]]:
    """The fixtures of a file beside this one."""
    return yaml.safe_load((Path(__file__).parent / name).read_text("utf-8"))


def spec(body: Mapping[str, Any]) -> ToolSpec:
    """The tool of a fixture; `description_times` repeats a text before an end."""
    fields = dict(body)
    if "description_times" in fields:
        text, times = fields.pop("description_times")
        fields["description"] = text * times + fields.pop("description_end")
    return ToolSpec(**fields)


def catalog(case: Mapping[str, Any]) -> list[ToolSpec]:
    """Tools of a case: generated ones first."""
    rule = case.get("generate", {"count": 0})
    made = [
        ToolSpec(name=rule["name"].format(i=i), description=rule["description"].format(i=i))
        for i in range(rule["count"])
    ]
    return made + [spec(body) for body in case["tools"]]


def is_weak(found: SearchResult, _: object) -> None:
    assert not found.hits or found.band in ("none", "low")


def has_top(found: SearchResult, tool_id: str) -> None:
    assert found.ids[:1] == [tool_id]


def has(found: SearchResult, ids: list[str]) -> None:
    assert set(ids) <= set(found.ids)


def has_not(found: SearchResult, ids: list[str]) -> None:
    assert not set(ids) & set(found.ids)


def counts(found: SearchResult, number: int) -> None:
    assert len(found) == number


def is_empty(found: SearchResult, _: object) -> None:
    assert found.ids == []


def is_positive(found: SearchResult, _: object) -> None:
    assert all(hit.score > 0 for hit in found)


def is_ordered(found: SearchResult, ids: list[str]) -> None:
    assert found.ids == ids


def is_noted(found: SearchResult, words: str) -> None:
    assert any(words in note for note in found.notes)


def is_strict_json(found: SearchResult, _: object) -> None:
    json.dumps([(hit.id, hit.score) for hit in found], allow_nan=False)


CHECKS: dict[str, Any] = {
    "weak": is_weak,
    "top": has_top,
    "contains": has,
    "excludes": has_not,
    "count": counts,
    "empty": is_empty,
    "positive": is_positive,
    "order": is_ordered,
    "noted": is_noted,
    "strict_json": is_strict_json,
}


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


class WordsJudge:
    """Gives a tool the chance that is its share of the request's words."""

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        asked = set(request_terms(str(state)))
        shares = {name: len(asked & set(request_terms(one.text))) / len(asked) for name, one in questions.items()}
        return Decision(answers={name: YesNoAnswer(share) for name, share in shares.items()})


def ring(arguments: Mapping[str, Any], context: object) -> str:
    """What runs the tools that have an executor."""
    return "rung"


class Bench:
    """One index in a folder, and what a fixture's steps do to it."""

    strategy = "hybrid"

    def __init__(self, case: Mapping[str, Any], root: Path, encoder: Encoder | str) -> None:
        self.root, self.encoder = root, encoder
        bodies = [dict(body) for body in case.get("tools", [])]
        live = {body["name"] for body in bodies if body.pop("callable", False)}
        tools = catalog({**case, "tools": bodies})
        with ToolIndex.build(root, [], encoder=encoder) as empty:
            empty.replace("x", [Tool(one, ring) if one.name in live else one for one in tools])
        self.index = ToolIndex.open(root, encoder=None if isinstance(encoder, str) else encoder)

    def run(self, step: Mapping[str, Any]) -> None:
        """The first key of a step names what is done; a text is put before a search."""
        getattr(self, "search" if "search" in step and "before" in step else next(iter(step)))(step)

    def search(self, step: Mapping[str, Any]) -> None:
        text = str(step.get("before", "")) * int(step.get("times", 1)) + str(step["search"])
        strategy = step.get("strategy", self.strategy)
        judge = WordsJudge() if strategy.endswith("+judge") else None
        found = self.index.search(text, k=step.get("k", 5), strategy=self.index.retriever(strategy, judge=judge))
        for key, value in step["expect"].items():
            CHECKS[key](found, value)
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
        assert len(touched) == step.get("changes", len(touched))

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
