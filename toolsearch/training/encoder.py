"""Trains the encoder: requests near their tools, far from other tools of the catalog that our search takes for them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.encoders.export import TUNED, export, origin
from toolsearch.encoders.optional import optional
from toolsearch.text import encoder_text, words
from toolsearch.training.batches import Example
from toolsearch.training.data import Source
from toolsearch.training.judge import Mined
from toolsearch.training.learning import Run, Told
from toolsearch.training.network import EXTRA, Base
from toolsearch.training.recipe import Recipe

HARD = 12
"""Hard negatives are drawn from the first so many of a ranking."""
ALIKE = 0.7
"""Two tools are alike when they share so much of their words."""
PARTED = 3
"""A batch takes at most one part in so many of a small catalog, and fills up with others."""
GROUPS = 3
"""Texts of a batch run in so many groups of like length, so that little is padding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogs:
    """Texts of requests and tools, and the examples of each catalog: a batch is of one, so its others are near."""

    requests: tuple[str, ...]
    texts: tuple[str, ...]
    examples: tuple[tuple[Example, ...], ...]


def catalogs(sources: Sequence[Source], mined: Mined) -> Catalogs:
    """What is learnt from: requests that have a right tool, with wrong ones that our search finds.

    A wrong tool that reads nearly as a right one does is left out: it is most likely as good.
    """
    requests: list[str] = []
    texts: dict[str, int] = {}
    found: list[tuple[Example, ...]] = []
    for source in sources:
        lines = {tool.id: encoder_text(tool) for tool in source.tools}
        bags = {tool: frozenset(words(line)) for tool, line in lines.items()}
        mine: list[Example] = []
        for query in source.queries:
            short = mined[source.name].get(query.id)
            right = [tool for tool in query.relevant if tool in lines]
            if short is None or not right:
                continue
            same = [bags[tool] for tool in right]
            wrong = [tool for tool in short.hits[:HARD] if not any(_alike(bags[tool], bag) for bag in same)]
            places = [tuple(texts.setdefault(lines[tool], len(texts)) for tool in part) for part in (right, wrong)]
            mine.append(Example(request=len(requests), right=places[0], wrong=places[1]))
            requests.append(query.query)
        if mine:
            found.append(tuple(mine))
    return Catalogs(requests=tuple(requests), texts=tuple(texts), examples=tuple(found))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * len(one | other)


def train(
    recipe: Recipe, taught: Catalogs, base: Base, folder: Path, told: Callable[[str], Told]
) -> tuple[dict[str, Any], float]:
    """All weights of the encoder by name, and seconds of CPU that the steps took."""
    upper = [f"encoder.layer.{number}." for number in range(recipe.lower, base.layers)]
    body = {name: one.clone() for name, one in base.weights.items() if name.startswith(tuple(upper))}
    requests = base.states(taught.requests, recipe.request_tokens, recipe.lower)
    tools = base.states(taught.texts, recipe.tool_tokens, recipe.lower)
    run = Run(base.torch, recipe, body, {}, folder)

    def loss(weights: dict[str, Any], chance: random.Random) -> Any:
        batch = _batch(taught, recipe.requests, chance)
        targets, shown = _columns(batch, chance)
        asked = _vectors(base, weights, [requests[one.request] for one in batch], recipe.lower)
        found = _vectors(base, weights, [tools[tool] for tool in shown], recipe.lower)
        return _loss(base.torch, asked @ found.T / recipe.temperature, [one.right for one in batch], (targets, shown))

    learnt = run.learn(loss, told("train"))
    return {**base.weights, **learnt}, run.seconds


def _batch(taught: Catalogs, many: int, chance: random.Random) -> list[Example]:
    """Examples of one catalog, chosen as often as it is large, or a part of each of a few small ones."""
    sizes = [len(one) for one in taught.examples]
    small = [number for number, size in enumerate(sizes) if size <= PARTED * many]
    (number,) = chance.choices(range(len(sizes)), weights=sizes)
    if number not in small:
        return chance.sample(taught.examples[number], many)
    found: list[Example] = []
    for other in [number, *chance.sample(small, len(small))]:
        if other == number and found:
            continue
        mine = taught.examples[other]
        found += chance.sample(mine, min(many - len(found), -(-len(mine) // PARTED)))
    return found


def _columns(batch: Sequence[Example], chance: random.Random) -> tuple[list[int], list[int]]:
    """The right tool that each request is to find, and all tools of the batch: those, and a wrong one for each."""
    targets = [chance.choice(one.right) for one in batch]
    wrong = [chance.choice(one.wrong) for one in batch if one.wrong]
    return targets, list(dict.fromkeys(targets + wrong))


def _vectors(base: Base, weights: dict[str, Any], states: Sequence[Any], lower: int) -> Any:
    """Unit vectors, (texts, width), by the upper layers and the mean of the tokens; texts of like length together."""
    torch = base.torch
    order = sorted(range(len(states)), key=lambda place: len(states[place]))
    step = -(-len(order) // GROUPS)
    found: list[Any] = []
    for start in range(0, len(order), step):
        x, mask = base.padded([states[place] for place in order[start : start + step]])
        for number in range(lower, base.layers):
            x = base.layer(weights, f"encoder.layer.{number}", x, mask)
        shown = mask[..., None].float()
        found.append(torch.nn.functional.normalize((x * shown).sum(1) / shown.sum(1), dim=-1))
    return torch.cat(found)[torch.tensor(order).argsort()]


def _loss(torch: Any, logits: Any, right: Sequence[tuple[int, ...]], columns: tuple[list[int], list[int]]) -> Any:
    """Cross-entropy of each request's own tool; other tools that are right for it too do not count as wrong."""
    targets, shown = columns
    places = {tool: place for place, tool in enumerate(shown)}
    hidden = torch.zeros(logits.shape, dtype=torch.bool)
    for row, (tools, target) in enumerate(zip(right, targets, strict=True)):
        for tool in set(tools) - {target}:
            if tool in places:
                hidden[row, places[tool]] = True
    wanted = torch.tensor([places[target] for target in targets])
    return torch.nn.functional.cross_entropy(logits.masked_fill(hidden, -1e4), wanted)


def write(base: Base, weights: dict[str, Any], out: Path) -> None:
    """The encoder as searches open it with `trained:FOLDER`, and its weights in the base's own format beside it.

    Raises:
        MissingExtra: safetensors, onnx or the base's package is not installed.
    """
    kept = out / "weights"
    kept.mkdir(parents=True, exist_ok=True)
    arrays = {name: one.contiguous().numpy() for name, one in weights.items()}
    optional("safetensors.numpy", "safetensors", EXTRA).save_file(arrays, kept / "model.safetensors")
    config = json.loads((origin() / "config.json").read_text("utf-8"))
    (kept / "config.json").write_text(json.dumps(config), "utf-8")
    (kept / "tokenizer.json").write_text((origin() / "tokenizer.json").read_text("utf-8"), "utf-8")
    export(kept, out, TUNED)
