"""One run from a recipe to a folder with a judge: read, mine, train, export, measure, write the card."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np

from toolsearch.decision.local import LocalJudge, tool_line
from toolsearch.encoders.graph import Shape
from toolsearch.errors import InvalidInput
from toolsearch.training.card import card
from toolsearch.training.data import Source, measured
from toolsearch.training.gathering import MINED, Place, gathered, marked
from toolsearch.training.judge import Mined, lessons, train
from toolsearch.training.judge_graph import judge_graph
from toolsearch.training.measuring import Seen, Worth, calibration, seen, share, worth
from toolsearch.training.mining import shortlists
from toolsearch.training.network import Base
from toolsearch.training.recipe import Recipe

KNOWN: Final = 400
"""Requests of the sources trained on by which scale, bias and share are found."""
TOKENS: Final = 512


def make_judge(recipe: Recipe, place: Place) -> dict[str, Worth]:
    """A judge in `place.out`, and what it is worth on each part that `parts.json` of the data keeps for measuring.

    Raises:
        InvalidSource: a source is missing or broken.
        InvalidInput: the sources hold no request.
        MissingExtra: torch or the base's package is not installed.
    """
    base = Base.read()
    taught, mined = gathered(recipe, place)
    learnt = lessons(taught, mined, random.Random(recipe.seed))  # noqa: S311 - examples, no secret
    if not learnt.examples:
        raise InvalidInput("the sources of the recipe hold no request to learn from")
    weights, seconds = train(recipe, learnt, base, place.out, place.told)
    _write(recipe, base, {name: one.numpy() for name, one in weights.items()}, place.out)
    curve, part = _calibrated(recipe, taught, mined, place)
    figures = _measured(recipe, (curve, part), place)
    (place.out / "figures.json").write_text(
        json.dumps({name: asdict(one) for name, one in figures.items()}, indent=1) + "\n", "utf-8"
    )
    known = {one.name: len(one.queries) for one in taught}
    (place.out / "CARD.md").write_text(card(recipe, known, figures, seconds), "utf-8")
    return figures


def _write(recipe: Recipe, base: Base, weights: dict[str, np.ndarray], out: Path) -> None:
    """Model, tokenizer, and a record without calibration."""
    shape = Shape(layers=base.layers, heads=base.heads, epsilon=base.epsilon, tokens=TOKENS)
    model: bytes = judge_graph(weights, shape, recipe.lower).SerializeToString(deterministic=True)
    (out / "model.onnx").write_bytes(model)
    (out / "tokenizer.json").write_text(base.tokenizer.to_str(pretty=False) + "\n", "utf-8")
    _record(recipe, out, 1.0, 0.0)


def _record(recipe: Recipe, out: Path, scale: float, bias: float) -> None:
    lengths = {"request_tokens": recipe.request_tokens, "tool_tokens": recipe.tool_tokens}
    (out / "judge.json").write_text(json.dumps({**lengths, "scale": scale, "bias": bias}, indent=1) + "\n", "utf-8")


def _calibrated(
    recipe: Recipe, taught: Sequence[Source], mined: Mined, place: Place
) -> tuple[tuple[float, float], float]:
    """Scale and bias, written into the record, and the share of the judge in a mixed order.

    Found on requests of the sources trained on, for those to be tested on must not be known.
    """
    judge = LocalJudge(place.out)
    pairs = [(source, query.id) for source in taught for query in source.queries]
    chosen = random.Random(recipe.seed).sample(pairs, min(KNOWN, len(pairs)))  # noqa: S311 - examples, no secret
    wanted: dict[str, set[str]] = {}
    for source, key in chosen:
        wanted.setdefault(source.name, set()).add(key)
    lists = [one for source in taught for one in _seen(source, mined, judge, wanted.get(source.name, set()))]
    curve = calibration(lists)
    _record(recipe, place.out, *curve)
    return curve, share(lists)


def _measured(recipe: Recipe, found: tuple[tuple[float, float], float], place: Place) -> dict[str, Worth]:
    judge = LocalJudge(place.out)
    figures: dict[str, Worth] = {}
    for source in measured(place.data):
        mined = {source.name: shortlists(source, place.out / MINED, place.counted(f"mine {source.name}"))}
        lists = _seen(source, mined, judge, {query.id for query in source.queries})
        if lists:
            figures[marked(source.name, recipe)] = worth(lists, *found)
    return figures


def _seen(source: Source, mined: Mined, judge: LocalJudge, wanted: set[str]) -> list[Seen]:
    lines = {tool.id: tool_line(tool) for tool in source.tools}
    found = [
        seen(mined[source.name][query.id], query.query, list(query.relevant), lines, judge.logits)
        for query in source.queries
        if query.id in wanted and query.id in mined[source.name]
    ]
    return [one for one in found if one is not None]
