"""Search alone against search with a judge behind it: what the judge gains, and what it costs."""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from benchmarks.runner import Built, K, build
from benchmarks.tasks import Task
from toolsearch import ToolIndex, open_judge
from toolsearch.errors import DecisionFailed, InvalidInput
from toolsearch.evaluation.comparison import compare
from toolsearch.evaluation.measures import mean, measure
from toolsearch.evaluation.runs import Answer, run, tokens_of
from toolsearch.evaluation.tables import table
from toolsearch.protocols import Retriever
from toolsearch.questions import Decision, DecisionModel, DecisionUsage, Question, State
from toolsearch.strategies.deciding import DELIMITED, Asking
from toolsearch.strategies.reranking import Reranked
from toolsearch.strategies.retriever import RankedRetriever

SPARROW = "sparrow"
"""A judge that is started here: `sparrow-decider serve`, with the small model of its package."""
ALONE = "search alone"


@dataclass
class Counted:
    """A judge, and what it was asked for. Tokens are estimated where the judge does not count them.

    `failed` counts answers that were of no use; such a request keeps the order of the search.
    """

    model: DecisionModel
    failed: int = 0
    used: DecisionUsage = field(default_factory=lambda: DecisionUsage(requests=0))

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`."""
        try:
            decision = await self.model.decide(state, questions)
        except DecisionFailed:
            self.failed += 1
            raise
        told = DecisionUsage(input_tokens=tokens_of(f"{state}{dict(questions)}"), requests=0)
        self.used = self.used + decision.usage + (DecisionUsage(requests=0) if decision.usage.input_tokens else told)
        return decision


@dataclass(frozen=True)
class Row:
    """One way of searching over one task's requests. Times in milliseconds a request."""

    name: str
    answers: list[Answer]
    used: DecisionUsage
    failed: int
    latency: float
    judge_cpu: float


@dataclass(frozen=True, kw_only=True)
class Course:
    """At most `most` requests of a task, the judge looks at `shortlist` hits and has `timeout` seconds."""

    most: int
    shortlist: int
    timeout: float
    encoder: str = "builtin"


def compared(tasks: Sequence[Task], judges: Sequence[str], course: Course) -> str:
    """A table for each task: the hybrid search alone, then with each judge, as a yes/no question and as a choice.

    The requests of a task are picked evenly.
    """
    texts: list[str] = []
    for task in tasks:
        answerable = tuple(query for query in task.queries if query.answerable)
        step = max(1, len(answerable) // course.most) if course.most else 1
        queries = answerable[::step][: course.most or None]
        part = Task(task.name, task.catalog, task.source, queries)
        rows = list(_rows(part, build(part, course.encoder), judges, course))
        texts.append(f"## {task.name}: {len(queries)} requests\n\n{_table(part, rows)}")
    return "\n\n".join(texts)


def _rows(task: Task, built: Built, judges: Sequence[str], course: Course) -> Generator[Row]:
    with ToolIndex.open(built.folder, read_only=True) as index:
        plain = index.retriever("hybrid")
        yield _timed(ALONE, task, index, plain, Counted(_Nobody()))
        for name in judges:
            for choice in (False, True):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                with opened(name, course.timeout) as model:
                    counted = Counted(model)
                    ranker = Reranked(
                        ranker=plain.ranker,
                        judge=counted,
                        shortlist=course.shortlist,
                        asking=Asking(template=DELIMITED, choice=choice),
                        on_failure="shortlist",
                    )
                    how = "choice" if choice else "yes/no"
                    row = _timed(f"{name}, {how}", task, index, RankedRetriever(ranker), counted)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                yield Row(
                    row.name, row.answers, row.used, row.failed, row.latency, 1000 * spent / max(1, len(task.queries))
                )


class _Nobody:
    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """Never asked."""
        raise InvalidInput("there is no judge")


def _timed(name: str, task: Task, index: ToolIndex, retriever: Retriever, judge: Counted) -> Row:
    pairs = [(query.id, query.query) for query in task.queries]
    view = index.view()
    retriever.search([pairs[0][1]], view, K)
    judge.used, judge.failed = DecisionUsage(requests=0), 0
    answers: list[Answer] = []
    seconds: list[float] = []
    for pair in pairs:
        started = time.perf_counter()
        answers += run(retriever, view, [pair], k=K)
        seconds.append(time.perf_counter() - started)
    return Row(name, answers, judge.used, judge.failed, 1000 * median(seconds), 0.0)


def _table(task: Task, rows: Sequence[Row]) -> str:
    values = [measure(task.queries, row.answers) for row in rows]
    cells: list[list[object]] = []
    for row, value in zip(rows, values, strict=True):
        gap = compare(values[0]["nDCG@10"], value["nDCG@10"])
        change = "" if row.name == ALONE else f"{gap.mean:+.1f} ({gap.low:+.1f} to {gap.high:+.1f})"
        count = max(1, len(task.queries))
        cells.append(
            [row.name, f"{mean(value['nDCG@10']):.1f}", change, f"{mean(value['P@1']):.1f}",
             row.failed, f"{row.used.requests / count:.1f}", f"{row.used.input_tokens / count:.0f}",
             f"{row.used.output_tokens / count:.0f}", f"{row.latency:.0f}",
             f"{fmean(answer.cpu for answer in row.answers):.0f}", f"{row.judge_cpu:.0f}"]
        )  # fmt: skip
    head = ["", "nDCG@10", "change (95 %)", "P@1", "failed", "requests", "tokens read", "written"]
    head += ["latency ms", "CPU ms", "judge CPU ms"]
    return table(head, cells)


@contextmanager
def opened(name: str, timeout: float) -> Generator[DecisionModel]:
    """A judge by name; `sparrow` is started here and ended afterwards."""
    if name != SPARROW:
        yield open_judge(name, timeout=timeout)
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [str(Path(sys.executable).with_name("sparrow-decider")), "serve", "--host", "127.0.0.1", "--port", port]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(int(port))
        yield open_judge(f"systemone:http://127.0.0.1:{port}#sparrow")
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(port: int) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise InvalidInput("sparrow-decider did not start; install it with: pip install sparrow-decider")
