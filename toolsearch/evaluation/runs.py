"""A run: what one retriever answered to each request, and what that cost. Written as TREC or JSONL."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from toolsearch.errors import InvalidInput, InvalidSource
from toolsearch.protocols import Retriever, SearchResult, ToolView

CHARACTERS_PER_TOKEN = 4.0
"""Stated model for the size of what a language model is given; real tokenisers differ by some 20 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was found for one request: pairs of id and score, best first.

    `cpu` is in milliseconds of the whole process. `tokens` estimates what the hits' definitions
    would cost a model. `confidence` is None where the system has none.
    """

    id: str
    hits: tuple[tuple[str, float], ...] = ()
    confidence: float | None = None
    cpu: float = 0.0
    tokens: int = 0

    def to_json(self) -> str:
        """One line of JSON: `{"id", "hits": [{"id", "score"}], "confidence", "cpu", "tokens"}`."""
        hits = [{"id": tool, "score": score} for tool, score in self.hits]
        body: dict[str, Any] = {"id": self.id, "hits": hits, "confidence": self.confidence}
        return json.dumps({**body, "cpu": round(self.cpu, 4), "tokens": self.tokens}, ensure_ascii=False)


def run(retriever: Retriever, view: ToolView, queries: Iterable[tuple[str, str]], *, k: int = 10) -> Iterator[Answer]:
    """Ask every (id, text) pair and yield its answer, in order. A refused text has no hits."""
    for query_id, text in queries:
        started = time.process_time()
        try:
            result = retriever.search([text], view, k)
        except InvalidInput:
            result = SearchResult()
        cpu = 1000 * (time.process_time() - started)
        hits = tuple((hit.id, hit.score) for hit in result)
        tokens = sum(tokens_of(hit.tool.to_json()) for hit in result)
        yield Answer(id=query_id, hits=hits, confidence=result.confidence, cpu=cpu, tokens=tokens)


def tokens_of(text: str) -> int:
    """Estimated tokens of a text (see CHARACTERS_PER_TOKEN)."""
    return round(len(text) / CHARACTERS_PER_TOKEN)


def write_run(answers: Sequence[Answer], path: str | Path, *, tag: str = "toolsearch") -> None:
    """Write a run; the ending decides: `.jsonl` keeps everything, `.trec` or `.run` is the TREC form.

    Raises:
        InvalidInput: another ending, or an id with a blank in it, which TREC cannot hold.
    """
    writer = _WRITERS.get(Path(path).suffix)
    if writer is None:
        raise InvalidInput(f"a run is written to a file ending in {', '.join(_WRITERS)}, not {str(path)!r}")
    Path(path).write_text("".join(writer(answer, tag) for answer in answers), "utf-8")


def _trec(answer: Answer, tag: str) -> str:
    lines: list[str] = []
    for rank, (tool, score) in enumerate(answer.hits, 1):
        if any(character.isspace() for character in tool + answer.id):
            raise InvalidInput(f"TREC runs cannot hold the id {tool[:80]!r}; write a .jsonl run")
        lines.append(f"{answer.id} Q0 {tool} {rank} {score:.6f} {tag}\n")
    return "".join(lines)


def _jsonl(answer: Answer, tag: str) -> str:
    return answer.to_json() + "\n"


_WRITERS: dict[str, Callable[[Answer, str], str]] = {".jsonl": _jsonl, ".trec": _trec, ".run": _trec}


def read_run(path: str | Path) -> list[Answer]:
    """The answers of a run file in either form.

    Raises:
        InvalidSource: it is no text, or a line is neither; it names the line.
    """
    place = Path(path)
    try:
        lines = place.read_text("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InvalidSource(f"{place.name} is not UTF-8 text (byte {error.start})") from None
    if place.suffix == ".jsonl":
        return [_from_json(line, f"{place.name}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    found: dict[str, list[tuple[str, float]]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            query, _, tool, _, score, _ = line.split()
            found.setdefault(query, []).append((tool, float(score)))
        except ValueError:
            raise InvalidSource(f"{place.name}:{number}: not a line of a TREC run: {line[:80]!r}") from None
    return [Answer(id=key, hits=tuple(sorted(hits, key=lambda hit: -hit[1]))) for key, hits in found.items()]


def _from_json(line: str, where: str) -> Answer:
    try:
        body = cast("Mapping[str, Any]", json.loads(line))
        hits = tuple((str(hit["id"]), float(hit["score"])) for hit in body["hits"])
        confidence = body.get("confidence")
        cost = {"cpu": float(body.get("cpu", 0.0)), "tokens": int(body.get("tokens", 0))}
        return Answer(id=str(body["id"]), hits=hits, confidence=confidence, cpu=cost["cpu"], tokens=int(cost["tokens"]))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidSource(f"{where}: not a line of a run: {error!r:.80}") from None
