"""Trains the judge: which of the tools on a shortlist helps with a request, and how likely each does."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from toolsearch.decision.local import plain, tool_line
from toolsearch.training.batches import Drawing, Example, Pair, boasting
from toolsearch.training.data import Source
from toolsearch.training.learning import Run, Told
from toolsearch.training.mining import Shortlist
from toolsearch.training.network import Base
from toolsearch.training.reader import Reader
from toolsearch.training.recipe import Recipe

BOASTS: Final = 300
"""Texts that praise themselves, at most; no more than there are tools."""
LISTWISE: Final = 0.5
"""Share of the loss over a whole list beside that of each pair."""

Mined = Mapping[str, Mapping[str, Shortlist]]
"""Name of a source -> request id -> shortlist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """Texts of requests and tools, and which belong together. Boasting tools stand behind the `tools` real ones."""

    requests: tuple[str, ...]
    texts: tuple[str, ...]
    tools: int
    examples: tuple[Example, ...]


def lessons(sources: Sequence[Source], mined: Mined, chance: random.Random) -> Lessons:
    """What is learnt from: each request with its right tools and those that our search finds but are wrong."""
    requests: list[str] = []
    texts: dict[str, int] = {}
    examples: list[Example] = []
    for source in sources:
        lines = {tool.id: tool_line(tool) for tool in source.tools}
        for query in source.queries:
            found = mined[source.name].get(query.id)
            if found is None:
                continue
            right = [lines[tool] for tool in query.relevant if tool in lines]
            wrong = [lines[tool] for tool in found.hits if tool not in query.relevant and lines[tool] not in right]
            places = [[texts.setdefault(line, len(texts)) for line in part] for part in (right, wrong)]
            examples.append(Example(request=len(requests), right=tuple(places[0]), wrong=tuple(places[1])))
            requests.append(plain(query.query))
    every = [*texts, *boasting(list(texts), min(BOASTS, len(texts)), chance)]
    return Lessons(requests=tuple(requests), texts=tuple(every), tools=len(texts), examples=tuple(examples))


def train(
    recipe: Recipe, taught: Lessons, base: Base, folder: Path, told: Callable[[str], Told]
) -> tuple[dict[str, Any], float]:
    """All weights of the judge by name, and seconds of CPU that the steps took."""
    reader = Reader(base, recipe.lower)
    requests = base.states(taught.requests, recipe.request_tokens, recipe.lower)
    tools = base.states(taught.texts, recipe.tool_tokens, recipe.lower)
    boasts = len(taught.texts) - taught.tools
    draw = Drawing(examples=taught.examples, tools=taught.tools, boasts=boasts, candidates=recipe.candidates)
    run = Run(base.torch, recipe, reader.body(), reader.head(recipe.seed), folder)

    def loss(weights: dict[str, Any], chance: random.Random) -> Any:
        pairs = draw.batch(recipe.requests, chance)
        shown = base.padded([requests[pair.request] for pair in pairs])
        logits = reader.logits(weights, shown, base.padded([tools[pair.tool] for pair in pairs]))
        return _loss(base.torch, logits, pairs)

    learnt = run.learn(loss, told("train"))
    return {**base.weights, **learnt}, run.seconds


def _loss(torch: Any, logits: Any, pairs: Sequence[Pair]) -> Any:
    """Cross-entropy of each pair, and of each list that has a right tool."""
    right = torch.tensor([pair.right for pair in pairs])
    groups = torch.tensor([pair.group for pair in pairs])
    alone = torch.nn.functional.binary_cross_entropy_with_logits(logits, right.float())
    lists = [
        torch.logsumexp(logits[here], 0) - torch.logsumexp(logits[here & right], 0)
        for group in dict.fromkeys(pair.group for pair in pairs if pair.right)
        for here in [groups == group]
    ]
    return alone + LISTWISE * torch.stack(lists).mean() if lists else alone
