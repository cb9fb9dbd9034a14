"""`toolsearch calibrate`: confidence fitted to a catalog by judged requests."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolsearch.cli import options
from toolsearch.cli.reading import tell_strangers
from toolsearch.errors import InvalidSource

if TYPE_CHECKING:
    from toolsearch.evaluation.judged import JudgedQuery
    from toolsearch.protocols import ToolView
    from toolsearch.questions import DecisionModel
    from toolsearch.strategies.calibration import Calibration, Fitted
    from toolsearch.strategies.ranking import Ranker

FEW = 30
LEGEND = """Answerable requests have a right tool in this catalog. AUC: how often an answerable request has a higher
confidence than one that is not (1 always, 0.5 as by chance). ECE: mean gap between confidence and truth. Refused:
answerable requests below the threshold. False offers: the others above it. In brackets: where the true value lies
in 95 of 100 such measurements. "fitted" is measured on requests that were left out of its fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateOptions:
    """What `calibrate` is given."""

    index: options.Index
    queries: Annotated[
        Path, typer.Option(help="Judged requests: JSONL, BEIR, TREC or ToolRet layout.", show_default=False)
    ]
    strategy: Annotated[
        list[str] | None, typer.Option(help="Repeatable; by default hybrid, and hybrid+judge with a judge.")
    ] = None
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="systemone:URL#MODEL, chat:PROVIDER:MODEL, onnx:FOLDER ...")
    ] = None
    split: Annotated[str | None, typer.Option(help="Fit by requests of this split only.")] = None
    check: Annotated[str | None, typer.Option(help="Measure on requests of this other split.")] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only measure; write nothing.")] = False


@options.taking(CalibrateOptions)
def calibrate(given: CalibrateOptions) -> None:
    """Fit confidence to this catalog: requests that have a right tool, and some that have none, are needed."""
    from toolsearch import ToolIndex
    from toolsearch.evaluation.judged import read_queries
    from toolsearch.strategies.calibration import FILE
    from toolsearch.strategies.judges import open_judge

    queries = read_queries(given.queries)
    judge = open_judge(given.judge, cached=True) if given.judge else None
    names = given.strategy or (["hybrid", "hybrid+judge"] if judge else ["hybrid"])
    with ToolIndex.open(given.index, read_only=True) as index:
        tell_strangers(index, queries)
        view = index.view()
        known = _known(given.index / FILE, view, len(index))
        for name in names:
            fitted = _one(name, judge, view, queries, given)
            known = replace(known, strategies={**known.strategies, name: replace(fitted, judge=given.judge or "")})
    if not given.dry_run:
        known.write(given.index / FILE)
        print(f"\nwritten to {given.index / FILE}")


def _one(
    name: str, judge: DecisionModel | None, view: ToolView, queries: list[JudgedQuery], given: CalibrateOptions
) -> Fitted:
    from toolsearch.evaluation import calibrating as fit
    from toolsearch.strategies.retrievers import open_retriever

    mine = [one for one in queries if given.split in (None, one.split)]
    ranker, said = _with_place(open_retriever(name, judge=judge).ranker, view, mine)
    told = fit.samples(ranker, view, mine)
    fit.check_enough(told)
    known, taught = fit.likeness(told, view)
    fitted, unseen = fit.calibrated(taught, known)
    fitted = replace(fitted, answer=said.answer, place=said.place)
    before = fit.quality(taught, [one.estimate for one in taught], 0.1)
    after = fit.quality(taught, unseen, fitted.threshold)
    print(f"# {name}\n\n{_tables(taught, unseen, (before, after))}\n\n{_threshold(fitted, taught, unseen)}")
    if given.check:
        fresh = fit.samples(open_retriever(name, judge=judge, calibration=_only(name, fitted)).ranker, view,
                            [one for one in queries if one.split == given.check])  # fmt: skip
        measured = fit.quality(fresh, [one.estimate for one in fresh], fitted.threshold)
        print(f"\non split {given.check}:\n\n{_rows([('fitted', measured)])}")
    print(f"\n{LEGEND}\n", *(f"note: {one}" for one in _doubts(before, after)), sep="\n")
    return replace(fitted, report=asdict(after))


def _with_place(ranker: Ranker, view: ToolView, queries: list[JudgedQuery]) -> tuple[Ranker, Fitted]:
    """The ranking, with how much its places and the answers of its judge say; as it is without a judge."""
    from toolsearch.evaluation.placing import placed
    from toolsearch.strategies.calibration import Fitted
    from toolsearch.strategies.reranking import Reranked

    if not isinstance(ranker, Reranked):
        return ranker, Fitted()
    said = placed(ranker, view, queries)
    print(
        f"weight of the logit of the judge's answer: {said.answer:.2f}; of a place in the ranking: {said.place:.2f}\n"
    )
    return replace(ranker, fitted=said), said


def _only(name: str, fitted: Fitted) -> Calibration:
    from toolsearch.strategies.calibration import Calibration

    return Calibration(strategies={name: fitted})


def _known(path: Path, view: ToolView, tools: int) -> Calibration:
    """The calibration that is there, when it was made with the same encoder; else an empty one."""
    from toolsearch.encoders.adapted import request_id
    from toolsearch.strategies.calibration import Calibration

    encoder = request_id(view.corpus.encoder) if view.corpus.encoder else ""
    try:
        kept = Calibration.read(path) if path.is_file() else Calibration()
    except InvalidSource:
        kept = Calibration()
    return Calibration(strategies=kept.strategies if kept.encoder == encoder else {}, encoder=encoder, tools=tools)


def _tables(taught: Any, unseen: list[float], measured: Any) -> str:
    from toolsearch.evaluation.calibrating import reliability
    from toolsearch.evaluation.tables import table

    rows = [
        [name, f"{100 * share:.0f} %", f"{mean:.2f}", f"{truth:.2f}"]
        for name, share, mean, truth in reliability(taught, unseen)
    ]
    curve = table(["confidence", "weight", "mean", "answerable"], rows)
    return f"{_rows(zip(('as it was', 'fitted'), measured, strict=True))}\n\n{curve}"


def _threshold(fitted: Fitted, taught: Any, unseen: list[float]) -> str:
    from toolsearch.evaluation.calibrating import found_values, threshold_of
    from toolsearch.evaluation.uncertainty import drawn_interval

    low, high = drawn_interval(found_values(taught, unseen), threshold_of)
    return f"threshold {fitted.threshold:.3f} (other requests of this kind would give {low:.3f} to {high:.3f})"


def _rows(measured: Any) -> str:
    from toolsearch.evaluation.tables import table
    from toolsearch.evaluation.uncertainty import auc_interval, share_interval

    rows = [
        [name, one.answerable, one.unanswerable,
         _with(one.auc, auc_interval(one.auc, one.answerable, one.unanswerable), 1, 3), f"{one.ece:.3f}",
         _with(one.refused, share_interval(one.refused, one.answerable)),
         _with(one.offered, share_interval(one.offered, one.unanswerable))]
        for name, one in measured
    ]  # fmt: skip
    head = ["", "answerable", "unanswerable", "AUC", "ECE", "refused %", "false offers %"]
    return table(head, rows)


def _with(value: float, ends: tuple[float, float], unit: int = 100, places: int = 1) -> str:
    """A figure with its interval."""
    low, high = ends
    return f"{unit * value:.{places}f} ({unit * low:.{places}f} to {unit * high:.{places}f})"


def _doubts(before: Any, after: Any) -> list[str]:
    """When the fit should not be trusted elsewhere, or not at all."""
    found: list[str] = []
    if min(after.answerable, after.unanswerable) < FEW:
        found.append(f"fewer than {FEW} requests of a kind: these figures are rough")
    if after.auc < before.auc and after.ece > before.ece:
        found.append("the fit is no better than what was there; more judged requests are needed")
    found.append("it holds for this catalog and encoder; it transfers neither to others nor to one changed a lot")
    return found
