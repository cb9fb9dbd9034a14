"""Trains the judge: which of the tools on a shortlist helps with a request, and how likely each does."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from toolsearch.decision.lines import Line, plain, tool_line
from toolsearch.decision.matching import Text
from toolsearch.training.batches import Drawing, Example, Pair, boasting
from toolsearch.training.data import Source, home
from toolsearch.training.learning import Run, Told
from toolsearch.training.matcher import Matcher, Padded
from toolsearch.training.mining import Shortlist
from toolsearch.training.recipe import Recipe

if TYPE_CHECKING:
    from numpy.typing import NDArray

BOASTS: Final = 400
"""Texts that praise themselves, at most; no more than there are tools."""
ALONE: Final = 2.0
LISTWISE: Final = 0.5
"""Shares of the loss of each pair and of that of a whole list."""
COMMON: Final = 0.1
SCALE: Final = 6.0

Mined = Mapping[str, Mapping[str, Shortlist]]
"""Name of a source -> request id -> shortlist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """Texts of requests and tools, and which belong together. Boasting tools stand behind the `tools` real ones."""

    requests: tuple[str, ...]
    lines: tuple[Line, ...]
    tools: int
    examples: tuple[Example, ...]


def lessons(sources: Sequence[Source], mined: Mined, held: Mapping[str, set[str]], chance: random.Random) -> Lessons:
    """What is learnt from: each request with its right tools and those that our search finds but are wrong.

    Requests whose ids are `held` by the name of their source are left out.
    """
    requests: list[str] = []
    places: dict[Line, int] = {}
    examples: list[Example] = []
    for source in sources:
        lines = {tool.id: tool_line(tool) for tool in source.tools}
        for query in source.queries:
            found = mined[source.name].get(query.id)
            if found is None or query.id in held.get(source.name, ()):
                continue
            right = [lines[tool] for tool in query.relevant if tool in lines]
            wrong = [
                line for tool in certain(query.id, found.hits, query.relevant) if (line := lines[tool]) not in right
            ]
            numbered = [tuple(places.setdefault(line, len(places)) for line in part) for part in (right, wrong)]
            examples.append(Example(request=len(requests), right=numbered[0], wrong=numbered[1]))
            requests.append(plain(query.query))
    every = [*places, *boasting(list(places), min(BOASTS, len(places)), chance)]
    return Lessons(requests=tuple(requests), lines=tuple(every), tools=len(places), examples=tuple(examples))


def certain(request: str, hits: Sequence[str], relevant: Mapping[str, int]) -> list[str]:
    """The wrong ones among hits that surely are: of a joined source, a tool of another part may help as well.

    So only those of the request's own part count, and of others those that rank below a right tool.
    """
    first = min((hits.index(tool) for tool in relevant if tool in hits), default=len(hits))
    return [
        tool
        for place, tool in enumerate(hits)
        if tool not in relevant and (home(tool) == home(request) or (relevant and place > first))
    ]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Texts that were read, in flat arrays, so that a batch is taken in one step."""

    torch: Any
    vectors: Any
    ids: Any
    parts: Any
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, torch: Any, texts: Sequence[Text]) -> Shelf:
        """The texts in their order; one without any token counts as one unknown token."""
        lengths = np.array([len(one.ids) for one in texts], np.int64)

        def flat(name: str) -> Any:
            return torch.from_numpy(np.concatenate([getattr(one, name) for one in texts]))

        return cls(torch, flat("vectors"), flat("ids"), flat("parts"), np.cumsum(lengths) - lengths, lengths)

    def padded(self, places: Sequence[int]) -> Padded:
        """Some of the texts."""
        starts, lengths = self.starts[list(places)], self.lengths[list(places)]
        along = np.arange(max(1, int(lengths.max())))[None]
        shown = self.torch.from_numpy(along < lengths[:, None])
        where = self.torch.from_numpy(np.minimum(starts[:, None] + along, len(self.ids) - 1))
        vectors = self.vectors[where].float() * shown[..., None]
        return Padded(vectors, self.ids[where] * shown, self.parts[where] * shown)


def rarity(tools: Sequence[Text], words: int) -> NDArray[np.float32]:
    """How much each token of the vocabulary tells, (words,): rare ones of tools more."""
    counts = Counter(int(one) for text in tools for one in set(text.ids.tolist()))
    found = np.full(words, np.log(max(2, len(tools))), np.float64)
    for token, count in counts.items():
        found[token] = np.log(max(2, len(tools)) / (count + 0.5))
    return (np.maximum(found, COMMON) / SCALE).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where and with what a judge learns: torch, the size of the vocabulary, a folder for checkpoints, who is told."""

    torch: Any
    words: int
    folder: Path
    told: Told


def train(
    recipe: Recipe, taught: Lessons, read: tuple[Sequence[Text], Sequence[Text]], place: Place
) -> tuple[dict[str, Any], float]:
    """All weights of the judge by name, and seconds of CPU that the steps took. `read`: requests and lines."""
    torch = place.torch
    matcher, (requests, tools) = Matcher(torch), (Shelf.of(torch, texts) for texts in read)
    rare = torch.from_numpy(rarity(read[1][: taught.tools], place.words))
    boasts = len(taught.lines) - taught.tools
    draw = Drawing(examples=taught.examples, tools=taught.tools, boasts=boasts, candidates=recipe.candidates)
    start = matcher.weights(read[1][0].vectors.shape[1], recipe.seed)
    run = Run(torch, recipe, start, {}, place.folder)

    def loss(weights: dict[str, Any], chance: random.Random) -> Any:
        pairs = draw.batch(recipe.requests, chance)
        asked = list(dict.fromkeys((pair.group, pair.request) for pair in pairs))
        numbers = {group: number for number, (group, _) in enumerate(asked)}
        of = torch.tensor([numbers[pair.group] for pair in pairs])
        shown = requests.padded([request for _, request in asked]), tools.padded([pair.tool for pair in pairs])
        return _loss(torch, matcher.logits({**weights, "rarity": rare}, *shown, of), pairs)

    learnt = run.learn(loss, place.told)
    return {**learnt, "rarity": rare}, run.seconds


def _loss(torch: Any, logits: Any, pairs: Sequence[Pair]) -> Any:
    """What each pair costs, and each list: how far the wrong ones together are above a right one."""
    right = torch.tensor([pair.right for pair in pairs])
    groups = torch.tensor([pair.group for pair in pairs])
    alone = torch.nn.functional.binary_cross_entropy_with_logits(logits, right.float())
    lists = [
        torch.nn.functional.softplus(torch.logsumexp(logits[here & ~right], 0) - logits[here & right]).mean()
        for group in dict.fromkeys(pair.group for pair in pairs)
        for here in [groups == group]
        if (here & right).any() and (here & ~right).any()
    ]
    return ALONE * alone + (LISTWISE * torch.stack(lists).mean() if lists else 0.0)
