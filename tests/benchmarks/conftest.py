"""A small data folder: one set, two parts, requests whose right tools are plain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TOOLS = {
    "refund_payment": "Give the money of a payment back to the customer",
    "print_label": "Print the address label of a parcel",
    "book_flight": "Book a seat on a flight",
    "cancel_flight": "Cancel a flight that was booked",
    "send_email": "Write an email to somebody",
}
QUERIES = {
    "q1": ("give the customer the money back", ["refund_payment"]),
    "q2": ("print a label for this parcel", ["print_label"]),
    "q3": ("cancel my flight and send an email about it", ["cancel_flight", "send_email"]),
}


def lines(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def definitions() -> list[dict[str, object]]:
    parameters = {"type": "object", "properties": {}}
    return [{"id": n, "name": n, "description": text, "parameters": parameters} for n, text in TOOLS.items()]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "small").mkdir(parents=True)
    lines(folder / "small" / "tools.jsonl", definitions())
    asked = [{"id": key, "query": text, "relevant": right} for key, (text, right) in QUERIES.items()]
    lines(folder / "small" / "queries.jsonl", asked)
    parts = {"first": {"set": "small", "queries": ["q1", "q2"]}, "second": {"set": "small", "queries": ["q3"]}}
    (folder / "parts.json").write_text(json.dumps(parts), "utf-8")
    return folder
