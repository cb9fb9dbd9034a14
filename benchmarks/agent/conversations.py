"""Conversations made of judged requests whose right tools are few, so that they fit catalogs of any size."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.tasks import Task
from toolsearch.evaluation.judged import JudgedQuery

Conversation = tuple[JudgedQuery, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many conversations of how many turns, over requests that need at most `tools` tools together."""

    conversations: int = 10
    turns: int = 12
    tools: int = 20
    seed: int = 0


def pool(queries: Sequence[JudgedQuery], tools: int, seed: int) -> list[JudgedQuery]:
    """Requests in a random order, each taken while the tools needed so far are no more than `tools`."""
    shuffled = [query for query in queries if query.answerable and query.lang in ("", "en")]
    random.Random(seed).shuffle(shuffled)
    needed: set[str] = set()
    taken: list[JudgedQuery] = []
    for query in shuffled:
        more = needed | set(query.relevant)
        if len(more) <= tools:
            needed = more
            taken.append(query)
    return taken


def conversations(task: Task, plan: Plan) -> list[Conversation]:
    """Conversations drawn from the pool; a request may come again, as tasks do in a long conversation."""
    asked = pool(task.queries, plan.tools, plan.seed)
    generator = random.Random(plan.seed + 1)
    return [tuple(generator.choice(asked) for _ in range(plan.turns)) for _ in range(plan.conversations)]


def catalog(task: Task, talks: Sequence[Conversation], size: int) -> Task:
    """The task with a catalog of `size` tools, those that the conversations need among them."""
    needed = {query.id: query for talk in talks for query in talk}
    return replace(task, queries=tuple(needed.values()), limit=size)
