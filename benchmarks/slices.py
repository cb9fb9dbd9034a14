"""Does search know that nothing fits? The demo in slices of three namespaces, each a catalog of its own.

Requests whose right tools lie in a slice are answerable there; English requests whose right tools all lie elsewhere
are the unrelated ones. Confidence is fitted to each slice by the development half and measured on the test half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.tasks import DEMO
from toolsearch import ToolIndex, ToolSpec, open_encoder
from toolsearch.catalog.sources import load
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.evaluation.abstention import Abstention, auc
from toolsearch.evaluation.calibrating import Sample, calibrated, confidence, likeness, samples
from toolsearch.evaluation.judged import JudgedQuery, read_queries
from toolsearch.evaluation.tables import rates, table
from toolsearch.protocols import Encoder, ToolView
from toolsearch.strategies.calibration import Calibration, Fitted
from toolsearch.strategies.confidence import FIT
from toolsearch.strategies.likeness import Likeness
from toolsearch.strategies.retrievers import open_retriever

SIZE = 3
REFUSED = 0.10
Pair = tuple[float, bool]
"""A confidence, and whether the request is answerable."""


def slices() -> Iterator[list[ToolSpec]]:
    """The catalogs: namespaces by name, three at a time, a rest left out."""
    tools = [tool.spec for tool in load(DEMO / "tools").tools]
    names = sorted({spec.namespace for spec in tools})
    for start in range(0, len(names) - SIZE + 1, SIZE):
        inside = set(names[start : start + SIZE])
        yield [spec for spec in tools if spec.namespace in inside]


def asked_of(tools: Sequence[ToolSpec], split: str) -> list[JudgedQuery]:
    """The requests of a split for one slice: all that it answers, and the English ones that others answer."""
    ids = {spec.id for spec in tools}
    known = read_queries(DEMO / "requests.jsonl")
    mine = [query for query in known if query.split == split and query.answerable]
    return [query for query in mine if query.lang == "en" or ids & set(query.relevant)]


@dataclass(frozen=True)
class Slice:
    """What one slice says of its development requests and of its test requests, each with its language."""

    view: ToolView
    taught: list[tuple[str, Sample]]
    test: list[tuple[str, Sample]]
    known: Likeness | None


def slices_table(encoder_name: str = "builtin", strategy: str = "hybrid") -> str:
    """Refused answerable requests and false offers on unrelated ones, as confidence is and as it is when fitted."""
    encoder = CachedEncoder(open_encoder(encoder_name), 10_000)
    found = [_slice(tools, encoder, strategy) for tools in slices()]
    rows: list[list[str]] = []
    for what, languages in (("English", ["en"]), ("all languages", [])):
        plain: list[Pair] = []
        fitted: list[Pair] = []
        passed: list[tuple[bool, bool]] = []
        for one in found:
            fit, _ = calibrated([sample for lang, sample in one.taught if lang in (languages or [lang])], one.known)
            test = [sample for lang, sample in one.test if lang in (languages or [lang])]
            values = [(confidence(fit, sample), sample.answerable) for sample in test]
            plain += [(FIT.of(sample.evidence) if sample.evidence else sample.estimate, sample.answerable)
                      for sample in test]  # fmt: skip
            fitted += values
            passed += [(0 < value >= fit.threshold, answerable) for value, answerable in values]
        rows += [[f"{what}, as it is", *at_one(plain)], [f"{what}, fitted, one threshold", *at_one(fitted)]]
        rows.append([f"{what}, fitted, a threshold a slice", *_cells(passed, fitted)])
    return table(["", "refused %", "false offers %", "AUC"], rows)


def _slice(tools: Sequence[ToolSpec], encoder: Encoder, strategy: str) -> Slice:
    view = ToolIndex.from_tools(tools, encoder=encoder).view()
    development, test = asked_of(tools, "development"), asked_of(tools, "test")
    known, taught = likeness(samples(open_retriever(strategy).ranker, view, development), view)
    liking = Calibration(strategies={strategy: Fitted(likeness=known)})
    seen = samples(open_retriever(strategy, calibration=liking).ranker, view, test)
    return Slice(
        view,
        [(query.lang, one) for query, one in zip(development, taught, strict=True)],
        [(query.lang, one) for query, one in zip(test, seen, strict=True)],
        known,
    )


def at_one(pairs: Sequence[Pair]) -> tuple[str, str, str]:
    """At the threshold that refuses REFUSED of the answerable ones of all slices; cells with intervals."""
    right = sorted(value for value, answerable in pairs if answerable)
    bound = right[int(REFUSED * len(right))]
    return _cells([(0 < value >= bound, answerable) for value, answerable in pairs], pairs)


def _cells(passed: Sequence[tuple[bool, bool]], pairs: Sequence[Pair]) -> tuple[str, str, str]:
    """Refused, false offers and AUC; which requests pass is told apart from their confidences."""
    right = [one for one, answerable in passed if answerable]
    wrong = [one for one, answerable in passed if not answerable]
    refused, offered = 1 - sum(right) / len(right), sum(wrong) / len(wrong)
    found = Abstention(threshold=0.0, refused=refused, offered=offered, auc=_area(pairs))
    return rates(found, len(right), len(wrong))


def _area(pairs: Sequence[Pair]) -> float:
    return auc([value for value, right in pairs if right], [value for value, right in pairs if not right])
