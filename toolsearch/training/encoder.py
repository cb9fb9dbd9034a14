"""Trains the encoder: requests near their tools, far from other tools of the catalog that our search takes for them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.encoders.export import export, origin
from toolsearch.encoders.optional import optional
from toolsearch.text import encoder_text
from toolsearch.training.batches import Example
from toolsearch.training.data import Source
from toolsearch.training.judge import Mined
from toolsearch.training.learning import Run, Told
from toolsearch.training.network import EXTRA, Base
from toolsearch.training.recipe import Recipe

HARD = 12
"""Hard negatives are drawn from the first so many of a ranking."""
TUNED = "sentence-transformers/all-MiniLM-L6-v2, tuned for tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogs:
    """Texts of requests and tools, and the examples of each catalog: a batch is of one, so its others are near."""

    requests: tuple[str, ...]
    texts: tuple[str, ...]
    examples: tuple[tuple[Example, ...], ...]


def catalogs(sources: Sequence[Source], mined: Mined) -> Catalogs:
    """What is learnt from: requests that have a right tool, with wrong ones that our search finds."""
    requests: list[str] = []
    texts: dict[str, int] = {}
    found: list[tuple[Example, ...]] = []
    for source in sources:
        lines = {tool.id: encoder_text(tool) for tool in source.tools}
        mine: list[Example] = []
        for query in source.queries:
            short = mined[source.name].get(query.id)
            right = [lines[tool] for tool in query.relevant if tool in lines]
            if short is None or not right:
                continue
            wrong = [lines[tool] for tool in short.hits[:HARD] if lines[tool] not in right]
            places = [tuple(texts.setdefault(line, len(texts)) for line in part) for part in (right, wrong)]
            mine.append(Example(request=len(requests), right=places[0], wrong=places[1]))
            requests.append(query.query)
        if mine:
            found.append(tuple(mine))
    return Catalogs(requests=tuple(requests), texts=tuple(texts), examples=tuple(found))


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
        shown = _columns(batch, chance)
        asked = _vectors(base, weights, [requests[one.request] for one in batch], recipe.lower)
        found = _vectors(base, weights, [tools[tool] for tool in shown], recipe.lower)
        return _loss(base.torch, asked @ found.T / recipe.temperature, batch, shown)

    learnt = run.learn(loss, told("train"))
    return {**base.weights, **learnt}, run.seconds


def _batch(taught: Catalogs, many: int, chance: random.Random) -> list[Example]:
    """Examples of one catalog, chosen as often as it is large."""
    (mine,) = chance.choices(taught.examples, weights=[len(one) for one in taught.examples])
    return chance.sample(mine, min(many, len(mine)))


def _columns(batch: Sequence[Example], chance: random.Random) -> list[int]:
    """The tools of a batch: one right one for each request, then one wrong one for each that has any."""
    right = [chance.choice(one.right) for one in batch]
    return right + [chance.choice(one.wrong) for one in batch if one.wrong]


def _vectors(base: Base, weights: dict[str, Any], states: Sequence[Any], lower: int) -> Any:
    """Unit vectors, (texts, width), by the upper layers and the mean of the tokens."""
    x, mask = base.padded(states)
    for number in range(lower, base.layers):
        x = base.layer(weights, f"encoder.layer.{number}", x, mask)
    shown = mask[..., None].float()
    return base.torch.nn.functional.normalize((x * shown).sum(1) / shown.sum(1), dim=-1)


def _loss(torch: Any, logits: Any, batch: Sequence[Example], shown: Sequence[int]) -> Any:
    """Cross-entropy of each request's own tool; other tools that are right for it too do not count as wrong."""
    hidden = [[tool in one.right and place != row for place, tool in enumerate(shown)] for row, one in enumerate(batch)]
    masked = logits.masked_fill(torch.tensor(hidden), -1e4)
    return torch.nn.functional.cross_entropy(masked, torch.arange(len(batch)))


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
