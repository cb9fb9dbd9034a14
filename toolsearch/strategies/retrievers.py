"""The ways of searching an index, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast

from toolsearch.errors import InvalidInput
from toolsearch.questions import DecisionModel
from toolsearch.strategies.calibration import Calibration, Fitted
from toolsearch.strategies.deciding import Asking
from toolsearch.strategies.exact import ExactFirst
from toolsearch.strategies.hybrid import HybridRanker
from toolsearch.strategies.ranking import Ranker
from toolsearch.strategies.reranking import DELIMITING, DETAILED, Reranked
from toolsearch.strategies.retriever import RankedRetriever
from toolsearch.strategies.scan import ScanRanker
from toolsearch.strategies.settings import HYBRID, VECTOR, WORDS, Settings

JUDGED: Final = "+judge"
"""Ending of the name of a strategy whose hits a judge looks at again."""


def _hybrid(settings: Settings) -> Callable[[Fitted], Ranker]:
    return lambda fitted: HybridRanker(settings=settings, fit=fitted.fit, likeness=fitted.likeness)


RANKERS: Final[dict[str, Callable[[Fitted], Ranker]]] = {
    "hybrid": _hybrid(HYBRID),
    "lexical": _hybrid(WORDS),
    "simple": lambda _: ScanRanker(),
    "vector": _hybrid(VECTOR),
}
"""Name -> what makes the ranking. All of them put tools that the request names first."""


def retriever_of(
    strategy: str | RankedRetriever, calibration: Calibration | None, judge: DecisionModel | None
) -> RankedRetriever:
    """A retriever is itself; of a name it is the one with that judge behind it, if one is given.

    Raises:
        InvalidInput: there is no such name, or it ends in +judge and none is given.
    """
    if not isinstance(strategy, str):
        return strategy
    name = f"{strategy.removesuffix(JUDGED)}{JUDGED}" if judge else strategy
    return open_retriever(name, calibration=calibration, judge=judge)


def open_retriever(
    name: str = "hybrid", *, calibration: Calibration | None = None, judge: DecisionModel | None = None
) -> RankedRetriever:
    """The retriever of a name: "hybrid" (the default), "lexical", "vector" or "simple".

    With "+judge" behind it ("hybrid+judge") the judge that is given puts the best hits in order. A calibration of the
    catalog makes the bands of confidence fit it.

    Raises:
        InvalidInput: there is no such name, or a judge is named and none given.
    """
    plain = name.removesuffix(JUDGED)
    if plain not in RANKERS:
        raise InvalidInput(f"no strategy {name!r:.80}; there are {', '.join(sorted(RANKERS))}, each also with {JUDGED}")
    known = (calibration or Calibration()).strategies
    fitted = known.get(plain, Fitted())
    ranker: Ranker = ExactFirst(RANKERS[plain](fitted))
    if plain == name:
        return RankedRetriever(ranker, fitted.bands)
    if judge is None:
        raise InvalidInput(f"the strategy {name!r:.80} needs a judge: name one with --judge, or give judge=...")
    beside, asking = beside_of(judge)
    judged = known.get(name, beside)
    return RankedRetriever(Reranked(ranker=ranker, judge=judge, fitted=judged, asking=asking), judged.bands)


def beside_of(judge: DecisionModel) -> tuple[Fitted, Asking]:
    """How a judge's answers stand beside a ranking before any calibration, and how it is asked.

    One that says so itself has its `beside`, whatever is wrapped around it, and reads names of parameters too.
    """
    inner: object = judge
    while inner is not None and not hasattr(inner, "beside"):
        inner = getattr(inner, "model", None)
    if inner is None:
        return Fitted(), DELIMITING
    known = cast("Mapping[str, float]", getattr(inner, "beside", {}))
    return Fitted(scale=known["scale"], bias=known["bias"], place=known["place"]), DETAILED
