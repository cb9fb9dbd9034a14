"""Where a run reads and keeps things, and its first half: sources read, hard negatives mined.

What is done is kept in the run's folder, so a stopped run goes on where it was when it is started again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolsearch.training.data import Source, joined, sources
from toolsearch.training.judge import Mined
from toolsearch.training.learning import Told
from toolsearch.training.mining import shortlists
from toolsearch.training.recipe import Recipe

MINED: Final = "mined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a run reads its data and keeps what it makes; told how far each stage is."""

    data: Path
    out: Path
    told: Callable[[str], Told]

    def counted(self, stage: str) -> Callable[[int, int], None]:
        """What tells of a stage that has no loss."""
        told = self.told(stage)
        return lambda done, total: told(done, total, 0.0)


def gathered(recipe: Recipe, place: Place, groups: int = 0) -> tuple[list[Source], Mined]:
    """The sources of a recipe, and a shortlist for each of their requests; our own joined to so many, if named.

    Raises:
        InvalidSource: a source is missing or broken.
    """
    taught = list(sources(place.data, recipe.parts, recipe.seed))
    taught = joined(taught, groups) if groups else taught
    mined = {one.name: shortlists(one, place.out / MINED, place.counted(f"mine {one.name}")) for one in taught}
    return taught, mined


def marked(name: str, recipe: Recipe) -> str:
    """The name of a part that is measured; those whose catalog was trained on say so."""
    known = {part.name for part in recipe.parts}
    return f"{name} (seen catalog)" if name.split("/")[0] in known else name
