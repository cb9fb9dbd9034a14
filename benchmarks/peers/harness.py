"""Runs one peer inside its own environment. Stands alone: nothing of toolsearch is installed there.

harness.py PEER TOOLS QUERIES OUT SECONDS [ENCODER_URL]
"""

from __future__ import annotations

import importlib
import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

K = 10
BATCH = 256
"""Most texts that the encoder is sent at once."""
TRIED = 5
"""Requests after which it is known whether the peer will be done in time."""


class Over(Exception):
    """The peer would take longer than it may."""


class Embed:
    """Vectors of texts from the shared encoder over loopback; gives up when `expected` texts would take too long."""

    def __init__(self, url: str, expected: int, limit: float) -> None:
        self.url = url
        self._expected, self._limit = expected, limit
        self._done, self._before = 0, 0.0
        self._before = self.spent()

    def __call__(self, texts: list[str]) -> list[list[float]]:
        """Vectors of the texts, in order."""
        if len(texts) > BATCH:
            return [row for start in range(0, len(texts), BATCH) for row in self(texts[start : start + BATCH])]
        spent = self.spent() if TRIED * 100 <= self._done < self._expected else 0.0
        if spent / (self._done or 1) * self._expected > self._limit:
            raise Over(f"encoding would take {spent / self._done * self._expected / 1000:.0f} s")
        self._done += len(texts)
        body = json.dumps({"input": [text or " " for text in texts], "model": "builtin"}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})  # noqa: S310
        with urllib.request.urlopen(request, timeout=600) as answer:  # noqa: S310
            found = json.load(answer)
        return [row["embedding"] for row in found["data"]]

    def spent(self) -> float:
        """CPU that the encoder has used so far, in ms."""
        if not self.url:
            return 0.0
        with urllib.request.urlopen(self.url, timeout=600) as answer:  # noqa: S310
            return float(json.load(answer)["cpu"]) - self._before


class Cost:
    """CPU of this process and of the encoder in a `with` block, in ms."""

    def __init__(self, embed: Embed) -> None:
        self.embed = embed
        self.ms = 0.0

    def __enter__(self) -> Cost:
        self._encoder, self._own = self.embed.spent(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        own = 1000 * (time.process_time() - self._own)
        self.ms = own + self.embed.spent() - self._encoder


def read(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def distinct(tools: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Tools by a name that occurs once: later ones with a taken name get a number."""
    found: dict[str, dict[str, Any]] = {}
    for tool in tools:
        name, number = tool["name"], 2
        while name in found:
            name, number = f"{tool['name']}_{number}", number + 1
        found[name] = tool
    return found


def main(peer: str, tools_file: str, queries_file: str, out: str, seconds: str, url: str = "") -> None:
    tools, queries, limit = distinct(read(tools_file)), read(queries_file), 1000 * float(seconds)
    sys.path.insert(0, str(Path(__file__).parent))
    rows = [(name, tool["description"], tool["parameters"]) for name, tool in tools.items()]
    embed, total = Embed(url, len(tools), limit), 0.0
    try:
        with Cost(embed) as built:
            ask = importlib.import_module(peer).build(rows, embed)
    except Over as error:
        Path(out).write_text(json.dumps({"build": 0}) + "\n" + json.dumps({"over": str(error)}) + "\n", "utf-8")
        return
    list(ask(queries[0]["query"], K))
    with Path(out).open("w", encoding="utf-8") as file:
        file.write(json.dumps({"build": built.ms / 1000}) + "\n")
        for done, query in enumerate(queries, 1):
            with Cost(embed) as cost:
                hits = list(ask(query["query"], K))
            total += cost.ms
            found = [{"id": tools[name]["id"], "score": float(score)} for name, score in hits]
            file.write(json.dumps({"id": query["id"], "hits": found, "cpu": cost.ms}) + "\n")
            if done == TRIED and total / TRIED * len(queries) > limit:
                file.write(json.dumps({"over": f"{total / TRIED:.0f} ms a request"}) + "\n")
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
