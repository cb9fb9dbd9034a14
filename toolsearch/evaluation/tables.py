"""Plain tables of a run's figures, in Markdown. Every mean comes with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from toolsearch.evaluation.abstention import REFUSALS, Abstention, abstention
from toolsearch.evaluation.comparison import Difference, interval
from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.evaluation.measures import MEASURES, PerQuery, measure, parted
from toolsearch.evaluation.runs import Answer
from toolsearch.evaluation.uncertainty import auc_interval, share_interval


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


def bounded(figure: float, bounds: tuple[float, float], places: int = 1) -> str:
    """A figure with its interval behind it."""
    low, high = bounds
    return f"{figure:,.{places}f} ({low:,.{places}f} to {high:,.{places}f})"


def averaged(values: Iterable[float], places: int = 1) -> str:
    """The mean of the values with its interval."""
    import numpy as np

    rows = np.array(list(values), np.float64)
    return bounded(float(rows.mean()) if len(rows) else 0.0, interval(rows), places)


def shared(share: float, count: int) -> str:
    """A share of `count` cases, from 0 to 1, in percent with its interval."""
    low, high = share_interval(share, count)
    return bounded(100 * share, (100 * low, 100 * high))


def summary(values: PerQuery, answers: Sequence[Answer]) -> list[str]:
    """Cells of one run: each measure, CPU and tokens a request, all with intervals."""
    cells = [averaged(100 * value for value in values[name].values()) for name in MEASURES]
    return [*cells, averaged(a.cpu for a in answers), averaged((a.tokens for a in answers), 0)]


HEAD = [*MEASURES, "CPU ms", "tokens"]


def groups(queries: Sequence[JudgedQuery], values: PerQuery, attribute: str) -> str:
    """Means of the answerable requests by split, kind or lang, with intervals; empty when the requests carry none."""
    counts = Counter(getattr(query, attribute) for query in queries if query.answerable)
    columns = {name: parted(queries, values[name], attribute) for name in MEASURES}
    names = [name for name in columns[MEASURES[0]] if name]
    rows = [[name, counts[name], *(averaged(100 * v for v in columns[m][name]) for m in MEASURES)] for name in names]
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
LEGEND = """CPU: milliseconds a request, mean. Tokens: estimate of what a model reads of the tools found for a request.
In brackets: where the true mean lies in 95 of 100 such measurements."""


def offers(queries: Sequence[JudgedQuery], answers: Sequence[Answer]) -> list[list[str]]:
    """Cells of abstention, one row for each allowed share of refusals; none without unanswerable requests.

    Shares that come to the same threshold, as with few requests, have one row.
    """
    right, wrong = _parted(queries, answers)
    found: dict[tuple[str, ...], list[str]] = {}
    for allowed, row in zip(REFUSALS, abstention(right, wrong), strict=False):
        cells = rates(row, len(right), len(wrong))
        found.setdefault(cells, []).append(f"{100 * allowed:.0f} %")
    return [[" and ".join(allowed), *cells] for cells, allowed in found.items()]


def rates(found: Abstention, right: int, wrong: int) -> tuple[str, str, str]:
    """Refused, offered and AUC of so many answerable and other requests, each with its interval."""
    area = bounded(found.auc, auc_interval(found.auc, right, wrong), 3)
    return shared(found.refused, right), shared(found.offered, wrong), area


def overview(queries: Sequence[JudgedQuery], answers: Sequence[Answer]) -> str:
    """All figures of one run: means, abstention, and means by split, kind and language, all with intervals."""
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
