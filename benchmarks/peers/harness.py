"""Runs one peer inside its own environment. Stands alone: nothing of toolsearch is installed there.

harness.py PEER TOOLS QUERIES OUT [ENCODER_URL]
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


class Embed:
    """Calls the shared encoder over loopback and adds up the CPU that the encoder says it used, in ms."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cpu = 0.0

    def __call__(self, texts: list[str]) -> list[list[float]]:
        """Vectors of the texts, in order."""
        body = json.dumps({"input": [text or " " for text in texts], "model": "builtin"}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})  # noqa: S310
        with urllib.request.urlopen(request, timeout=600) as answer:  # noqa: S310
            found = json.load(answer)
        self.cpu += found["cpu"]
        return [row["embedding"] for row in found["data"]]


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


def main(peer: str, tools_file: str, queries_file: str, out: str, url: str = "") -> None:
    tools = distinct(read(tools_file))
    embed = Embed(url)
    sys.path.insert(0, str(Path(__file__).parent))
    started = time.process_time()
    rows = [(name, tool["description"], tool["parameters"]) for name, tool in tools.items()]
    ask = importlib.import_module(peer).build(rows, embed)
    built = time.process_time() - started + embed.cpu / 1000
    with Path(out).open("w", encoding="utf-8") as file:
        file.write(json.dumps({"build": built}) + "\n")
        for query in read(queries_file):
            embed.cpu, started = 0.0, time.process_time()
            hits = list(ask(query["query"], K))
            cpu = 1000 * (time.process_time() - started) + embed.cpu
            found = [{"id": tools[name]["id"], "score": float(score)} for name, score in hits]
            file.write(json.dumps({"id": query["id"], "hits": found, "cpu": cpu}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
