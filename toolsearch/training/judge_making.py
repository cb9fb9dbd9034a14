"""One run from a recipe to a folder with a judge: read, mine, train, export, measure, write the card."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

import numpy as np

from toolsearch.decision.lines import Line, tool_line
from toolsearch.decision.local import LocalJudge
from toolsearch.decision.matching import Text
from toolsearch.decision.reading import Reader
from toolsearch.encoders.graph import Shape
from toolsearch.errors import InvalidInput
from toolsearch.training.card import card
from toolsearch.training.data import Source, measured
from toolsearch.training.gathering import MINED, Place, gathered, marked
from toolsearch.training.judge import Lessons, Mined, lessons, train
from toolsearch.training.judge import Place as Desk
from toolsearch.training.judge_graph import AXES, MEAN, reading_graph
from toolsearch.training.measuring import Curve, Seen, Worth, calibration, seen, worth
from toolsearch.training.mining import shortlists
from toolsearch.training.network import Base
from toolsearch.training.recipe import Recipe

KNOWN: Final = 600
"""Requests of the sources trained on that are kept back: by them the chances are put right. A tenth at most."""
TOKENS: Final = 512
GROUPS: Final = 8
"""Our own catalogs are joined to so many."""
SAMPLE: Final = 1_500
"""Texts by which the axes are found along which vectors differ most."""
WIDTH: Final = 160
ROUND: Final = 256


def make_judge(recipe: Recipe, place: Place) -> dict[str, Worth]:
    """A judge in `place.out`, and what it is worth on each part that `parts.json` of the data keeps for measuring.

    Raises:
        InvalidSource: a source is missing or broken.
        InvalidInput: the sources hold no request.
        MissingExtra: torch or the base's package is not installed.
    """
    base = Base.read()
    taught, mined = gathered(recipe, place, GROUPS)
    held = _held(taught, recipe.seed)
    learnt = lessons(taught, mined, held, random.Random(recipe.seed))  # noqa: S311 - examples, no secret
    if not learnt.examples:
        raise InvalidInput("the sources of the recipe hold no request to learn from")
    _write_reader(recipe, base, learnt, place)
    read = _read(recipe, learnt, place)
    words = len(base.weights["embeddings.word_embeddings.weight"])
    desk = Desk(torch=base.torch, words=words, folder=place.out, told=place.told("train"))
    weights, seconds = train(recipe, learnt, read, desk)
    np.savez(place.out / "head.npz", **{name: one.numpy().astype(np.float16) for name, one in weights.items()})
    _record(recipe, place, Curve(scale=1.0, bias=0.0, beside={"scale": 1.0, "bias": 0.0, "place": 0.0}))
    judge = LocalJudge(place.out)
    curve = calibration([one for source in taught for one in _seen(source, mined, judge, held.get(source.name, set()))])
    _record(recipe, place, curve)
    figures = _measured(recipe, (judge, curve), place)
    known = {one.name: len(one.queries) for one in taught}
    (place.out / "CARD.md").write_text(card(recipe, known, figures, seconds), "utf-8")
    return figures


def _held(taught: Sequence[Source], seed: int) -> dict[str, set[str]]:
    """Requests that are not learnt from, by the name of their source."""
    pairs = [(source.name, query.id) for source in taught for query in source.queries]
    most = max(1, min(KNOWN, len(pairs) // 10))
    held: dict[str, set[str]] = {}
    for name, key in random.Random(seed).sample(pairs, min(most, len(pairs))):  # noqa: S311 - examples, no secret
        held.setdefault(name, set()).add(key)
    return held


def _write_reader(recipe: Recipe, base: Base, taught: Lessons, place: Place) -> None:
    """Model and tokenizer."""
    chance = random.Random(recipe.seed)  # noqa: S311 - examples, no secret
    texts = [*taught.requests, *(one.joined() for one in taught.lines[: taught.tools])]
    some = chance.sample(texts, min(SAMPLE, len(texts)))
    rows = base.torch.cat([one[1:-1].float() for one in base.states(some, recipe.tool_tokens, recipe.lower)])
    mean = rows.mean(0)
    _, axes = base.torch.linalg.eigh((rows - mean).T @ (rows - mean))
    weights: Mapping[str, Any] = {**base.weights, MEAN: mean, AXES: axes.flip(1)[:, :WIDTH].contiguous()}
    shape = Shape(layers=recipe.lower, heads=base.heads, epsilon=base.epsilon, tokens=TOKENS)
    model = reading_graph({name: one.numpy() for name, one in weights.items()}, shape)
    (place.out / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    (place.out / "tokenizer.json").write_text(base.tokenizer.to_str(pretty=False) + "\n", "utf-8")


def _read(recipe: Recipe, taught: Lessons, place: Place) -> tuple[list[Text], list[Text]]:
    """All requests and lines, read by the model that was written."""
    reader = Reader(place.out, (recipe.request_tokens, recipe.tool_tokens))
    told = place.counted("read")
    total = len(taught.requests) + len(taught.lines)
    found: list[list[Text]] = []
    done = 0
    for lines, most in (
        ([Line("", one) for one in taught.requests], recipe.request_tokens),
        (list(taught.lines), recipe.tool_tokens),
    ):
        texts: list[Text] = []
        for start in range(0, len(lines), ROUND):
            part = reader.fresh(lines[start : start + ROUND], most)
            texts += [replace(one, vectors=one.vectors.astype(np.float16)) for one in part]
            told(done + len(texts), total)
        done += len(texts)
        found.append(texts)
    return found[0], found[1]


def _record(recipe: Recipe, place: Place, curve: Curve) -> None:
    lengths = {"request_tokens": recipe.request_tokens, "tool_tokens": recipe.tool_tokens}
    (place.out / "judge.json").write_text(json.dumps({**lengths, **asdict(curve)}, indent=1) + "\n", "utf-8")


def _measured(recipe: Recipe, found: tuple[LocalJudge, Curve], place: Place) -> dict[str, Worth]:
    judge, curve = found
    figures: dict[str, Worth] = {}
    for source in measured(place.data):
        mined = {source.name: shortlists(source, place.out / MINED, place.counted(f"mine {source.name}"))}
        lists = _seen(source, mined, judge, {query.id for query in source.queries})
        if lists:
            figures[marked(source.name, recipe)] = worth(lists, curve)
    rows = {name: asdict(one) for name, one in figures.items()}
    (place.out / "figures.json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return figures


def _seen(source: Source, mined: Mined, judge: LocalJudge, wanted: set[str]) -> list[Seen]:
    lines = {tool.id: tool_line(tool) for tool in source.tools}
    found = [
        seen(mined[source.name][query.id], query.query, list(query.relevant), lines, judge.logits)
        for query in source.queries
        if query.id in wanted and query.id in mined[source.name]
    ]
    return [one for one in found if one is not None]
