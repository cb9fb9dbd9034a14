"""One run from a recipe to the map of the multilingual encoder: a matrix on top of a model that stays as it is.

The model puts texts of many languages into one space, so that what is learnt from requests for tools in one language
serves the others too. Only requests are moved: vectors of tools that an index has stay valid.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from toolsearch.encoders.adapted import Adaptation
from toolsearch.encoders.use import MAP, UseEncoder
from toolsearch.errors import InvalidInput
from toolsearch.evaluation.comparison import Difference, compare
from toolsearch.evaluation.measures import mean, measure
from toolsearch.evaluation.runs import Answer
from toolsearch.evaluation.tables import table
from toolsearch.text import encoder_text
from toolsearch.training.data import OWN, TEXT, Source, joined, measured, own_text, sources
from toolsearch.training.gathering import Place, marked
from toolsearch.training.learning import Run
from toolsearch.training.network import torch_library
from toolsearch.training.recipe import Recipe

if TYPE_CHECKING:
    from toolsearch.evaluation.judged import JudgedQuery
    from toolsearch.protocols import Floats

GROUPS: Final = 8
"""Our own catalogs are joined to so many, so that right tools are harder to tell apart."""
STRANGERS: Final = 600
"""Wrong tools beside a batch's right ones, drawn anew for each batch."""
PULL: Final = 1e-3
"""What the square of each number of the map costs: it stays near no change."""
DEPTH: Final = 10
OTHERS: Final = "ml_*.jsonl"
"""Files of our own text with requests in other languages; each third one is never learnt from, but measured on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A catalog as vectors, (n, dimension) float32 each, and which tools are right for each request."""

    requests: Floats
    tools: Floats
    right: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """NDCG@10 by vectors alone in percent, without the map and with it."""

    before: float
    after: float
    difference: Difference


def make_map(recipe: Recipe, place: Place) -> dict[str, Gain]:
    """A map in `place.out`, and what it gains on parts kept for measuring and on our own text in other languages.

    Raises:
        InvalidSource: a source is missing or broken.
        InvalidInput: the sources hold no request with a tool.
        MissingExtra: torch, the model's package or ir-measures is not installed.
    """
    torch, encoder = torch_library(), UseEncoder()
    kept = {f"{OWN}/{path.stem}" for path in _unseen()}
    found = [one for one in sources(place.data, recipe.parts, recipe.seed) if one.name not in kept and one.queries]
    taught = joined(found, GROUPS)
    lessons = [one for one in _lessons(taught, encoder, place) if one.right]
    if not lessons:
        raise InvalidInput("the sources of the recipe hold no request with a tool to learn from")
    change, seconds = _learnt(recipe, lessons, torch, place)
    made = Adaptation(encoder.id, change).as_written()
    made.write(place.out / MAP.name)
    asked = _asked(recipe, place.data)
    gains = {name: _gain(source, made, _vectors(source, encoder, place.out)) for name, source in asked}
    rows = {name: asdict(one) for name, one in gains.items()}
    (place.out / "figures.json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    known = {one.name: len(one.queries) for one in taught}
    (place.out / "CARD.md").write_text(_card(recipe, known, gains, seconds), "utf-8")
    return gains


def _lessons(taught: Sequence[Source], encoder: UseEncoder, place: Place) -> Iterator[Lesson]:
    """Each source as vectors."""
    told = place.counted("read")
    for done, source in enumerate(taught, 1):
        rows = {tool.id: row for row, tool in enumerate(source.tools)}
        known = [tuple(rows[tool] for tool in one.relevant if tool in rows) for one in source.queries]
        requests, tools = _vectors(source, encoder, place.out)
        asked = [row for row, right in enumerate(known) if right]
        yield Lesson(requests=requests[asked], tools=tools, right=tuple(known[row] for row in asked))
        told(done, len(taught))


def _vectors(source: Source, encoder: UseEncoder, out: Path) -> tuple[Floats, Floats]:
    """Vectors of a source's requests and tools, kept in the run's folder, so that a stopped run goes on."""
    path = out / "vectors" / f"{source.name.replace('/', '-')}.npz"
    if path.is_file():
        with np.load(path, allow_pickle=False) as kept:
            found = kept["requests"], kept["tools"]
        if tuple(map(len, found)) == (len(source.queries), len(source.tools)):
            return found
    requests = encoder.encode([one.query for one in source.queries], "query")
    tools = encoder.encode([encoder_text(one) for one in source.tools], "tool")
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, requests=requests, tools=tools)
    return requests, tools


def _learnt(recipe: Recipe, lessons: Sequence[Lesson], torch: Any, place: Place) -> tuple[Floats, float]:
    """What is added to a request's vector, as a matrix, and seconds of CPU that the steps took."""
    width = lessons[0].tools.shape[1]
    run = Run(torch, recipe, {"change": torch.zeros(width, width)}, {}, place.out)
    sizes = [len(one.right) for one in lessons]

    def loss(weights: Mapping[str, Any], chance: random.Random) -> Any:
        (lesson,) = chance.choices(lessons, weights=sizes)
        requests, tools, wanted = _batch(lesson, recipe.requests, chance)
        given = torch.from_numpy(requests)
        moved = torch.nn.functional.normalize(given + given @ weights["change"], dim=-1)
        logits = moved @ torch.from_numpy(tools).T / recipe.temperature
        missed = -(torch.from_numpy(wanted) * torch.log_softmax(logits, 1)).sum(1).mean()
        return missed + PULL * (weights["change"] ** 2).sum()

    learnt = run.learn(loss, place.told("train"))
    return learnt["change"].numpy(), run.seconds


def _batch(lesson: Lesson, many: int, chance: random.Random) -> tuple[Floats, Floats, Floats]:
    """Requests, tools and the share of each tool in what is right for each request, (requests, tools)."""
    chosen = chance.sample(range(len(lesson.right)), min(many, len(lesson.right)))
    needed = {tool for one in chosen for tool in lesson.right[one]}
    others = [tool for tool in range(len(lesson.tools)) if tool not in needed]
    rows = [*sorted(needed), *chance.sample(others, min(STRANGERS, len(others)))]
    places = {tool: column for column, tool in enumerate(rows)}
    wanted = np.zeros((len(chosen), len(rows)), np.float32)
    for row, one in enumerate(chosen):
        wanted[row, [places[tool] for tool in lesson.right[one]]] = 1 / len(lesson.right[one])
    return lesson.requests[chosen], lesson.tools[rows], wanted


def _asked(recipe: Recipe, data: Path) -> Iterator[tuple[str, Source]]:
    """What the map is measured on, by the name it has in the card."""
    for source in measured(data):
        yield marked(source.name, recipe), source
    others = joined([own_text(path) for path in _unseen()], 1)
    for source in others:
        for lang in sorted({one.lang for one in source.queries}):
            mine = tuple(one for one in source.queries if one.lang == lang and one.relevant)
            yield f"own/{lang}", Source(name=f"unseen/{lang}", tools=source.tools, queries=mine)


def _unseen() -> list[Path]:
    """Our own text that the map is measured on."""
    return sorted(TEXT.glob(OTHERS))[2::3]


def _gain(source: Source, made: Adaptation, vectors: tuple[Floats, Floats]) -> Gain:
    requests, tools = vectors
    before, after = (_values(source.queries, source, one @ tools.T) for one in (requests, made.moved(requests)))
    return Gain(before=mean(before), after=mean(after), difference=compare(before, after))


def _values(queries: Sequence[JudgedQuery], source: Source, scores: Floats) -> Mapping[str, float]:
    """NDCG@10 of each request, by its id."""
    best: list[list[int]] = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH].tolist()
    answers = [
        Answer(id=query.id, hits=tuple((source.tools[tool].id, float(scores[row, tool])) for tool in best[row]))
        for row, query in enumerate(queries)
    ]
    return measure(queries, answers, ["nDCG@10"])["nDCG@10"]


def _card(recipe: Recipe, known: Mapping[str, int], gains: Mapping[str, Gain], seconds: float) -> str:
    rows = [
        [name, f"{one.before:.1f}", f"{one.after:.1f}", f"{one.difference.low:+.1f} to {one.difference.high:+.1f}"]
        for name, one in gains.items()
    ]
    return f"""# A map for the multilingual encoder

Made by `toolsearch train map`, seed {recipe.seed}: {recipe.steps} steps of {recipe.requests} requests, in {seconds:.0f}
seconds of CPU after reading. Base: Universal Sentence Encoder, multilingual, version 3 (Apache-2.0), unchanged; vectors
of requests are multiplied by one matrix. `encoder = "multilingual:FOLDER"` searches with it.

Trained on {sum(known.values())} requests: {", ".join(f"{name} {count}" for name, count in known.items())}.

NDCG@10 by the vectors of this model alone, without and with the map, with the 95 % interval of the difference. Parts
whose catalog was trained on are marked; `own/LANGUAGE` are requests of our own text on English tools that were not.

{table(["part", "without", "with", "difference"], rows)}
"""
