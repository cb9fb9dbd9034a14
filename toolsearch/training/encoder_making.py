"""One run from a recipe to a folder with an encoder: read, mine, train, export, measure, write the card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from toolsearch.encoders.builtin import trained
from toolsearch.encoders.export import export, origin
from toolsearch.errors import InvalidInput
from toolsearch.evaluation.comparison import Difference, compare
from toolsearch.evaluation.measures import mean, measure
from toolsearch.evaluation.runs import run
from toolsearch.evaluation.tables import table
from toolsearch.index.tool_index import ToolIndex
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.training.data import Source, measured
from toolsearch.training.encoder import catalogs, train, write
from toolsearch.training.gathering import Place, gathered, marked
from toolsearch.training.network import Base
from toolsearch.training.recipe import Recipe

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder

WAYS: Final = ("vector", "hybrid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """NDCG@10 of one strategy in percent, with the untouched encoder and with the trained one."""

    before: float
    after: float
    difference: Difference


Gains = Mapping[str, Mapping[str, Gain]]
"""Part -> strategy -> what the trained encoder gains."""


def make_encoder(recipe: Recipe, place: Place) -> Gains:
    """An encoder in `place.out`, and what it gains on each part that `parts.json` of the data keeps for measuring.

    Raises:
        InvalidSource: a source is missing or broken.
        InvalidInput: the sources hold no request with a tool.
        MissingExtra: torch, the base's package or ir-measures is not installed.
    """
    base = Base.read()
    taught, mined = gathered(recipe, place)
    learnt = catalogs(taught, mined)
    if not learnt.examples:
        raise InvalidInput("the sources of the recipe hold no request with a tool to learn from")
    weights, seconds = train(recipe, learnt, base, place.out, place.told)
    write(base, weights, place.out)
    with TemporaryDirectory() as folder:
        export(origin(), Path(folder))
        sides = (trained(folder), trained(str(place.out)))
        gains = {marked(source.name, recipe): gain(source, sides) for source in measured(place.data)}
    body = {name: {way: asdict(one) for way, one in ways.items()} for name, ways in gains.items()}
    (place.out / "figures.json").write_text(json.dumps(body, indent=1) + "\n", "utf-8")
    known = {one.name: len(one.queries) for one in taught}
    (place.out / "CARD.md").write_text(_card(recipe, known, gains, seconds), "utf-8")
    return gains


def gain(source: Source, sides: tuple[Encoder, Encoder]) -> dict[str, Gain]:
    """What the second encoder gains over the first on a source, by strategy."""
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    pairs = [(one.id, one.query) for one in source.queries]
    for side in sides:
        with ToolIndex.from_tools(source.tools, encoder=side) as index:
            for way in WAYS:
                answers = list(run(open_retriever(way), index.view(), pairs))
                found[way].append(measure(source.queries, answers, ["nDCG@10"])["nDCG@10"])
    return {
        way: Gain(before=mean(before), after=mean(after), difference=compare(before, after))
        for way, (before, after) in found.items()
    }


def _card(recipe: Recipe, known: Mapping[str, int], gains: Gains, seconds: float) -> str:
    rows = [
        [name, way, f"{one.before:.1f}", f"{one.after:.1f}", f"{one.difference.low:+.1f} to {one.difference.high:+.1f}"]
        for name, ways in gains.items()
        for way, one in ways.items()
    ]
    return f"""# A tool encoder

Made by `toolsearch train encoder`, seed {recipe.seed}: {recipe.steps} steps of {recipe.requests} requests, in
{seconds / 60:.0f} minutes of CPU. Base: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), its first {recipe.lower}
layers unchanged. An index uses it with `encoder = "trained:FOLDER"`.

Trained on {sum(known.values())} requests: {", ".join(f"{name} {count}" for name, count in known.items())}.

NDCG@10, untouched and trained, both with the token table beside, with the 95 % interval of the difference. Parts whose
catalog was trained on are marked.

{table(["part", "strategy", "untouched", "trained", "difference"], rows)}

It reads English.
"""
