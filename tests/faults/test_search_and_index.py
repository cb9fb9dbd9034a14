"""Faults of finding tools and of keeping an index that users reported, run through one adapter over real indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.encoders.endpoint_server import embeddings, endpoint, ok
from tests.faults.adapter import Bench, TableEncoder, cases
from toolsearch.encoders.endpoint import Limits
from toolsearch.encoders.openai import OpenAIEncoder

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder

SEARCH, INDEX = cases("search.yaml"), cases("index.yaml")
FAILURES = [case for case in INDEX if "for_each_failure" in case]
STEPS = [case for case in INDEX if "for_each_failure" not in case]


def named(case: Mapping[str, Any]) -> str:
    return case["name"]


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


@pytest.mark.parametrize("mode", ["hybrid", "words", "vector", "lexical", "hybrid+judge"])
@pytest.mark.parametrize("case", SEARCH, ids=named)
def test_reported_fault_of_search(case: Mapping[str, Any], mode: str, tmp_path: Path) -> None:
    """The fault does not occur, whichever way of searching is taken; `words` is an index without vectors."""
    bench = Bench(case, tmp_path / "i", "" if mode == "words" else "builtin")
    bench.strategy = "hybrid" if mode == "words" else mode
    for step in case["steps"]:
        if mode in ("words", "lexical") or not step.get("words_only"):
            bench.run(step)


@pytest.mark.parametrize("case", STEPS, ids=named)
def test_reported_fault_of_keeping(case: Mapping[str, Any], tmp_path: Path) -> None:
    """The fault does not occur."""
    bench = Bench(case, tmp_path / "i", TableEncoder(case["encoder"]) if "encoder" in case else "")
    for step in case["steps"]:
        bench.run(step)


@pytest.mark.parametrize("case", FAILURES, ids=named)
def test_a_failing_encoder_leaves_the_words(case: Mapping[str, Any], tmp_path: Path) -> None:
    """However the encoder fails: the tool is found by its words within the limit, and the answer says so."""
    for how in case["for_each_failure"]:
        with failing(how) as encoder:
            bench = Bench(case, tmp_path / how, encoder)
            for step in case["steps"]:
                bench.run(step)
