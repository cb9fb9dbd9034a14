"""Plain tables of a run's figures, in Markdown. Every mean comes with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median

from toolsearch.evaluation.abstention import REFUSALS, abstention
from toolsearch.evaluation.comparison import Difference, interval
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.measures import MEASURES, PerQuery, by, mean, measure
from toolsearch.evaluation.runs import Answer


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; numbers are aligned right."""
    lines = [list(map(str, row)) for row in rows]
    widths = [max(len(str(row[i])) for row in [list(head), *lines]) for i in range(len(head))]
    marks = ["-" * (w - 1) + ":" if i else "-" * w for i, w in enumerate(widths)]
    body = [
        [cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
        for row in lines
    ]
    first = [cell.ljust(w) for cell, w in zip(head, widths, strict=True)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [first, marks, *body])


def summary(values: PerQuery, answers: Sequence[Answer]) -> list[str]:
    """Cells of one run: the measures with the interval of the first, CPU per request, tokens."""
    import numpy as np

    cells: list[str] = []
    for position, name in enumerate(MEASURES):
        cell = f"{mean(values[name]):.1f}"
        if position == 0:
            low, high = interval(100 * np.array(list(values[name].values())))
            cell += f" ({low:.1f} to {high:.1f})"
        cells.append(cell)
    cpu = f"{median(a.cpu for a in answers):.1f}" if answers else "0"
    tokens = f"{fmean(a.tokens for a in answers):.0f}" if answers else "0"
    return [*cells, cpu, tokens]


HEAD = [*MEASURES, "CPU ms", "tokens"]


def groups(queries: Sequence[JudgedQuery], values: PerQuery, attribute: str) -> str:
    """Means by split, kind or lang; empty when the requests carry none."""
    counts = {
        name: len([q for q in queries if getattr(q, attribute) == name])
        for name in {getattr(q, attribute) for q in queries}
    }
    columns = {name: by(queries, values[name], attribute) for name in MEASURES}
    names = [name for name in columns[MEASURES[0]] if name]
    rows = [[name, counts[name], *(f"{columns[m][name]:.1f}" for m in MEASURES)] for name in names]
    return table([attribute, "requests", *MEASURES], rows) if rows else ""


def differences(found: Mapping[str, tuple[Difference, float]]) -> str:
    """One row a task: difference with interval, p and its corrected value, wins and losses."""
    rows = [
        [
            name,
            f"{d.mean:+.2f}",
            f"{d.low:+.2f} to {d.high:+.2f}",
            f"{d.p:.4f}",
            f"{corrected:.4f}",
            d.wins,
            d.losses,
            d.ties,
        ]
        for name, (d, corrected) in found.items()
    ]
    return table(["task", "B - A", "95 %", "p", "p (Holm)", "wins", "losses", "ties"], rows)


OFFERS = ["allowed refusals", "refused", "false offers", "AUC"]
OFFERS_LEGEND = """Refused: share of the answerable requests, in percent, below the confidence at which no more
than allowed are. False offers: share of the other requests above it. AUC: how often an answerable request has a
higher confidence than one that is not (1 always, 0.5 as by chance)."""
LEGEND = """CPU: milliseconds a request. Tokens: estimate of what a model reads of the tools found for a request.
In brackets: where the true mean lies in 95 of 100 such measurements."""


def offers(queries: Sequence[JudgedQuery], answers: Sequence[Answer]) -> list[list[str]]:
    """Cells of abstention, one row for each allowed share of refusals; none without unanswerable requests.

    Shares that come to the same threshold, as with few requests, have one row.
    """
    right, wrong = _parted(queries, answers)
    found: dict[tuple[str, ...], list[str]] = {}
    for allowed, row in zip(REFUSALS, abstention(right, wrong), strict=False):
        cells = (f"{100 * row.refused:.1f}", f"{100 * row.offered:.1f}", f"{row.auc:.3f}")
        found.setdefault(cells, []).append(f"{100 * allowed:.0f} %")
    return [[" and ".join(allowed), *cells] for cells, allowed in found.items()]


def overview(queries: Sequence[JudgedQuery], answers: Sequence[Answer]) -> str:
    """All figures of one run: means with an interval, abstention, and means by split, kind and language."""
    values = measure(queries, answers)
    right, _ = _parted(queries, answers)
    parts = [table(["requests", *HEAD], [[len(right), *summary(values, right)]])]
    if rows := offers(queries, answers):
        parts.append(table(OFFERS, rows))
        parts.append(OFFERS_LEGEND)
    parts.append(LEGEND)
    parts += [groups(queries, values, attribute) for attribute in ("split", "kind", "lang")]
    return "\n\n".join(part for part in parts if part)


def _parted(queries: Sequence[JudgedQuery], answers: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Answers to answerable requests, and to the others."""
    known = {query.id: query.answerable for query in queries}
    return [one for one in answers if known[one.id]], [one for one in answers if not known[one.id]]
