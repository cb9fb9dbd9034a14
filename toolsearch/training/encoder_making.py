"""One run from a recipe to a folder with an encoder: read, mine, train, export, measure, write the card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from toolsearch.encoders.builtin import trained
from toolsearch.encoders.export import export, origin
from toolsearch.errors import InvalidInput
from toolsearch.evaluation.comparison import Difference, compare
from toolsearch.evaluation.measures import mean, measure
from toolsearch.evaluation.runs import run
from toolsearch.evaluation.tables import table
from toolsearch.index.tool_index import ToolIndex
from toolsearch.strategies.exact import ExactFirst
from toolsearch.strategies.hybrid import HybridRanker
from toolsearch.strategies.retriever import RankedRetriever
from toolsearch.strategies.settings import HYBRID, VECTOR, Settings
from toolsearch.training.data import Source, measured
from toolsearch.training.encoder import catalogs, train, write
from toolsearch.training.gathering import Place, gathered, marked
from toolsearch.training.network import Base
from toolsearch.training.recipe import Recipe

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder

DENSE: Final = replace(VECTOR, corrections=False, floor=-1.0, foreign_floor=-1.0, sure=-1.0)
"""Vectors alone; floors are for one encoder, and two are compared."""
TUNED_SIDE: Final = {"vector": DENSE, "hybrid": HYBRID}
"""How the trained encoder is searched with: as what ships is."""
UNTOUCHED_SIDE: Final = {"vector": DENSE, "hybrid": replace(HYBRID, length_offset=3.77, floor=0.27, sure=-1.0)}
"""How the untouched one is: with the numbers that were best for it (see recipes/TRIED.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """NDCG@10 of one strategy in percent, with the untouched model alone, without a table, and with the trained one."""

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
    gains = _gains(recipe, place)
    known = {one.name: len(one.queries) for one in taught}
    (place.out / "CARD.md").write_text(_card(recipe, known, gains, seconds), "utf-8")
    return gains


def _gains(recipe: Recipe, place: Place) -> Gains:
    """The gains on each part, by the name it has in the card. Kept as they come, so a stopped run goes on."""
    path = place.out / "figures.json"
    found = _known(path, recipe)
    with TemporaryDirectory() as folder:
        export(origin(), Path(folder), table_share=0.0)
        sides = ((trained(folder), UNTOUCHED_SIDE), (trained(str(place.out)), TUNED_SIDE))
        for source in measured(place.data):
            name = marked(source.name, recipe)
            if name not in found:
                found[name] = gain(source, sides)
                rows = {part: {way: asdict(one) for way, one in ways.items()} for part, ways in found.items()}
                path.write_text(json.dumps({"recipe": repr(recipe), "parts": rows}, indent=1) + "\n", "utf-8")
    return found


def _known(path: Path, recipe: Recipe) -> dict[str, dict[str, Gain]]:
    """What an earlier run of the same recipe has measured."""
    if not path.is_file():
        return {}
    body = json.loads(path.read_text("utf-8"))
    if body.get("recipe") != repr(recipe):
        return {}
    return {part: {way: _gain(one) for way, one in ways.items()} for part, ways in body["parts"].items()}


def _gain(one: Mapping[str, Any]) -> Gain:
    told: dict[str, Any] = dict(one["difference"])
    told["changed"] = tuple((str(key), float(gap)) for key, gap in told["changed"])
    return Gain(before=one["before"], after=one["after"], difference=Difference(**told))


def gain(source: Source, sides: Sequence[tuple[Encoder, Mapping[str, Settings]]]) -> dict[str, Gain]:
    """What the second encoder gains over the first on a source, by strategy, each with its own numbers."""
    found: dict[str, list[dict[str, float]]] = {}
    pairs = [(one.id, one.query) for one in source.queries]
    for encoder, ways in sides:
        with ToolIndex.from_tools(source.tools, encoder=encoder) as index:
            for way, settings in ways.items():
                retriever = RankedRetriever(ExactFirst(HybridRanker(settings=settings)))
                answers = list(run(retriever, index.view(), pairs))
                found.setdefault(way, []).append(measure(source.queries, answers, ["nDCG@10"])["nDCG@10"])
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

NDCG@10 of the untouched model, alone and with the numbers of the ranking that suit it, and of the trained one with the
token table beside it, as it ships; with the 95 % interval of the difference. Parts whose catalog was trained on are
marked.

{table(["part", "strategy", "untouched", "trained", "difference"], rows)}

It reads English.
"""
