"""A judge behind the search of a command: who it is, and what to say where no calibration knows it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from toolsearch.errors import InvalidSource

if TYPE_CHECKING:
    from pathlib import Path

    from toolsearch import ToolIndex
    from toolsearch.strategies.retriever import RankedRetriever


class Failure(StrEnum):
    """What to do when a judge fails."""

    error = "error"
    shortlist = "shortlist"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What a command is told of its judge."""

    judge: str
    shortlist: int
    on_failure: Failure

    def behind(self, index: ToolIndex, strategy: str | None) -> RankedRetriever:
        """The strategy of a name with this judge behind it.

        Raises:
            InvalidInput: there is no such strategy or judge.
            MissingExtra: the package behind the judge is not installed.
        """
        from toolsearch.strategies.judges import open_judge
        from toolsearch.strategies.reranking import Reranked

        made = index.retriever(strategy, judge=open_judge(self.judge))
        if not isinstance(made.ranker, Reranked):
            return made
        return replace(made, ranker=replace(made.ranker, shortlist=self.shortlist, on_failure=self.on_failure.value))

    def doubts(self, folder: Path, strategy: str) -> tuple[str, ...]:
        """What makes the confidence rough: no calibration of this judge on this catalog."""
        from toolsearch.strategies.calibration import FILE, Calibration
        from toolsearch.strategies.retrievers import JUDGED

        name = f"{strategy.removesuffix(JUDGED)}{JUDGED}"
        try:
            fitted = Calibration.read(folder / FILE).strategies.get(name) if (folder / FILE).is_file() else None
        except InvalidSource:
            return ()
        way_out = f"fit it with: toolsearch calibrate -i {folder} --judge NAME --strategy {name} --queries FILE"
        if fitted is None:
            return (f"the judge's probabilities are not calibrated for this catalog; {way_out}",)
        if fitted.judge != self.judge:
            return (f"{FILE} was made with the judge {fitted.judge[:120]!r}, this is another; {way_out}",)
        return ()
