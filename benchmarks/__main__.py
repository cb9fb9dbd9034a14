"""The commands: run, compare, report, baseline, judges, attack, slices, confidence, peers, table, agent, service ..."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import baseline
from benchmarks import report as reports
from benchmarks.agent.bill import WAYS, Row, bills_of
from benchmarks.agent.bill import write as write_bills
from benchmarks.agent.table import bill_table
from benchmarks.attack import attacked
from benchmarks.changes import Compared, changes
from benchmarks.confidence import confidence_table
from benchmarks.cpu import cpu_table
from benchmarks.endurance import endure
from benchmarks.fit import fit
from benchmarks.flame import flame
from benchmarks.fuzz import fuzz
from benchmarks.judges import SPARROW, Course, compared
from benchmarks.languages import languages_table
from benchmarks.peers import PEERS
from benchmarks.peers.run import Order, run_peers
from benchmarks.peers.table import peers_markdown
from benchmarks.runner import RUNS, answers_of, run_all
from benchmarks.scale.churn import churn
from benchmarks.scale.command import scale
from benchmarks.scale.planner import planner
from benchmarks.scale.survival import survival
from benchmarks.service import measure as measure_service
from benchmarks.slices import slices_table
from benchmarks.tasks import Task, demo, development_parts, evenly
from benchmarks.weights import weights_table
from toolsearch.evaluation.comparison import compare, holm
from toolsearch.evaluation.judged import read_queries
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.tables import differences

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Measure retrieval quality and cost.")

app.command()(scale)
app.command()(fuzz)
app.command()(survival)
app.command()(churn)
app.command()(flame)
app.command()(planner)


@app.command()
def run(
    data: Annotated[Path | None, typer.Option(help="Folder with parts.json and sets; without it, the demo.")] = None,
    strategies: Annotated[str, typer.Option(help="Names, separated by commas.")] = "simple,vector,hybrid",
    encoder: Annotated[str, typer.Option(help="Encoder of the indexes.")] = "builtin",
    split: Annotated[str, typer.Option(help="Split of the demo: development or test.")] = "development",
    name: Annotated[str, typer.Option(help="Name of the run; default is the time.")] = "",
    only: Annotated[str, typer.Option(help="Names of tasks, separated by commas; all when empty.")] = "",
) -> None:
    """Run strategies over every task; prints a table and keeps each answer."""
    tasks = _wanted([demo(split), *(development_parts(data) if data else [])], only)
    out = _place(name)
    folders = run_all(tasks, _names(strategies), out=out, encoder=encoder)
    print(reports.markdown(folders))
    print(f"\nkept in {out}")


@app.command()
def judges(
    data: Annotated[Path | None, typer.Option(help="Folder with parts.json and sets; without it, the demo.")] = None,
    judges: Annotated[str, typer.Option(help="sparrow, or names such as onnx:FOLDER; separated by commas.")] = SPARROW,
    only: Annotated[str, typer.Option(help="Names of tasks, separated by commas; all when empty.")] = "",
    most: Annotated[int, typer.Option(help="Requests of each task, evenly picked; 0 for all.")] = 100,
    shortlist: Annotated[int, typer.Option(help="Hits that a judge looks at.")] = 20,
    split: Annotated[str, typer.Option(help="Split of the demo: development or test.")] = "development",
    timeout: Annotated[float, typer.Option(help="Seconds that a judge may take for one try.")] = 60.0,
) -> None:
    """Compare search alone with search and a judge: quality, requests, tokens, time."""
    tasks = _wanted([demo(split), *(development_parts(data) if data else [])], only)
    print(compared(tasks, _names(judges), Course(most=most, shortlist=shortlist, timeout=timeout)))


@app.command()
def attack(
    judges: Annotated[str, typer.Option(help="sparrow, or names such as onnx:FOLDER; separated by commas.")] = SPARROW,
    most: Annotated[int, typer.Option(min=1, help="Requests, evenly picked.")] = 50,
    shortlist: Annotated[int, typer.Option(min=1, help="Hits beside the tool.")] = 9,
    timeout: Annotated[float, typer.Option(help="Seconds that a judge may take for one try.")] = 60.0,
) -> None:
    """Whether judges fall for a tool whose description begs to be chosen; the demo's English requests."""
    print(attacked(demo("development"), _names(judges), most=most, shortlist=shortlist, timeout=timeout))


@app.command()
def slices(
    encoder: Annotated[str, typer.Option(help="Encoder of the indexes.")] = "builtin",
    strategy: Annotated[str, typer.Option(help="One of our own.")] = "hybrid",
) -> None:
    """Whether search knows that nothing fits: unrelated requests on slices of the demo, test half."""
    print(slices_table(encoder, strategy))


@app.command()
def confidence(encoder: Annotated[str, typer.Option(help="Encoder of the indexes.")] = "builtin") -> None:
    """Fit the numbers by which confidence tells that nothing fits; development halves of the demo's slices."""
    print(confidence_table(encoder))


@app.command()
def peers(
    data: Annotated[Path | None, typer.Option(help="Folder with parts.json and sets; without it, the demo.")] = None,
    only: Annotated[str, typer.Option(help="Names of tasks, separated by commas; all when empty.")] = "",
    peers: Annotated[str, typer.Option(help="Names of peers, separated by commas.")] = ",".join(PEERS),
    strategies: Annotated[str, typer.Option(help="Our own, separated by commas.")] = "simple,lexical,vector,hybrid",
    limit: Annotated[int, typer.Option(help="Tools to keep of each catalog, needed ones first; 0 keeps all.")] = 0,
    requests: Annotated[int, typer.Option(help="Requests of each task, evenly picked; 0 for all.")] = 0,
    fill: Annotated[int, typer.Option(help="Fill the first task's catalog up to so many tools by made-up ones.")] = 0,
    seconds: Annotated[int, typer.Option(help="CPU that a peer may take for one task's requests.")] = 600,
    environments: Annotated[
        Path | None, typer.Option(envvar="TOOLSEARCH_PEERS", help="Folder of environments that are there already.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the run; default is the time.")] = "",
) -> None:
    """Run what others would pick on the same catalogs and requests, beside our own strategies."""
    tasks = _wanted(list(development_parts(data)) if data else [demo("development")], only)
    tasks = [evenly(replace(task, limit=limit), requests) for task in tasks]
    order = Order(peers=_names(peers), strategies=_names(strategies), seconds=seconds, made=environments, tools=fill)
    out = _place(name)
    folders = run_peers(tasks, order, out)
    if order.strategies:
        print(peers_markdown(folders, "hybrid" if "hybrid" in order.strategies else order.strategies[0]))
    print(f"\nkept in {out}; python -m benchmarks table {out} joins what is run in parts")


@app.command()
def table(run: Path, against: str = "hybrid") -> None:
    """The tables of a run of peers that was kept, as far as it came."""
    print(peers_markdown(sorted(path.parent for path in run.glob("*/record.json")), against))


def _names(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _wanted(tasks: list[Task], only: str) -> list[Task]:
    names = _names(only)
    return [task for task in tasks if not names or task.name in names]


def _place(name: str) -> Path:
    return RUNS / (name or datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S"))


@app.command("compare")
def compare_(
    run_a: Path,
    run_b: Path,
    measure_name: Annotated[str, typer.Option("--measure")] = "nDCG@10",
    most: Annotated[int, typer.Option(help="Changed requests of each task that are shown.")] = 10,
) -> None:
    """Compare two runs task by task: difference, interval, corrected p, wins and losses, what changed."""
    found = differing(run_a, run_b, measure_name)
    corrected = holm([one.difference.p for one in found.values()])
    print(differences({name: (one.difference, p) for (name, one), p in zip(found.items(), corrected, strict=True)}))
    for name, one in found.items():
        if told := changes(one, most):
            print(f"\n### {name}\n\n{told}")


def differing(run_a: Path, run_b: Path, measure_name: str) -> dict[str, Compared]:
    """What two runs make of every task that both hold, by one measure."""
    a, b = answers_of(run_a), answers_of(run_b)
    found: dict[str, Compared] = {}
    for task in sorted(set(a) & set(b)):
        queries = read_queries(run_a / f"{task}.queries.jsonl")
        values = [measure(queries, answers[task], [measure_name])[measure_name] for answers in (a, b)]
        found[task] = Compared(queries, a[task], b[task], compare(*values))
    return found


@app.command("languages")
def languages_(
    encoders: Annotated[str, typer.Option(help="Encoders, separated by commas.")] = "builtin,multilingual",
    split: Annotated[str, typer.Option(help="Half of the demo's requests: development or test.")] = "development",
) -> None:
    """Quality by language on slices of the demo, with and without the extra `multilingual`."""
    print(languages_table([one.strip() for one in encoders.split(",")], split))


@app.command("fit")
def fit_(
    data: Annotated[Path, typer.Option(help="Folder with parts.json and sets.")],
    only: Annotated[str, typer.Option(help="Names of tasks, separated by commas; all when empty.")] = "",
) -> None:
    """Try the numbers of the hybrid on all parts; each part is tested with what is best on the others."""
    print(fit(_wanted(list(development_parts(data)), only)))


@app.command()
def weights(
    data: Annotated[Path, typer.Option(help="Folder with parts.json and sets.")],
    only: Annotated[str, typer.Option(help="Names of tasks, separated by commas; all when empty.")] = "",
    requests: Annotated[int, typer.Option(help="Requests of each part, evenly picked; 0 for all.")] = 0,
    draws: Annotated[int, typer.Option(help="Points that are drawn around the present weights.")] = 16,
) -> None:
    """Try the weights of fields on all parts; each part is tested with what is best on the others."""
    print(weights_table(_wanted(list(development_parts(data)), only), requests, draws))


@app.command()
def cpu(
    data: Annotated[Path | None, typer.Option(help="Folder with parts.json and sets; without it, the demo.")] = None,
    task: Annotated[str, typer.Option(help="Whose catalog and requests; the last one by default.")] = "",
    requests: Annotated[int, typer.Option(help="Requests of one clause, evenly picked.")] = 100,
    stacks: Annotated[
        Path | None, typer.Option(help="File for folded stacks, as flame graph viewers read them.")
    ] = None,
) -> None:
    """CPU of one hybrid request: asked first, asked again, and its encoding alone."""
    tasks = _wanted(list(development_parts(data)) if data else [demo("development")], task)
    print(cpu_table(tasks[-1], requests, stacks))


@app.command()
def report(runs: Path = RUNS, html: Path = RUNS / "report.html") -> None:
    """Markdown on standard output, and one self-contained page with plots and a failure browser."""
    folders = sorted(path.parent for path in runs.rglob("record.json"))
    html.write_text(reports.page(folders), "utf-8")
    print(reports.markdown(folders))


@app.command()
def agent(
    data: Annotated[Path | None, typer.Option(help="Folder with parts.json and sets; without it, the demo.")] = None,
    task: Annotated[str, typer.Option(help="Whose requests the conversations are made of.")] = "",
    sizes: Annotated[str, typer.Option(help="Sizes of the catalog, separated by commas.")] = "20,100,1000,17330",
    ways: Annotated[str, typer.Option(help="Ways of showing tools, separated by commas.")] = ",".join(WAYS),
    strategy: Annotated[str, typer.Option(help="What finds the tools.")] = "hybrid",
    name: Annotated[str, typer.Option(help="Name of the run; default is the time.")] = "",
) -> None:
    """Count what whole conversations cost a model's user, by the way in which tools are shown."""
    tasks = list(development_parts(data)) if data else [demo("development")]
    chosen = next((one for one in tasks if one.name == task), tasks[-1])
    file = _place(name) / "agent.jsonl"
    counts, shown = [int(one) for one in _names(sizes)], _names(ways)
    rows: list[Row] = []
    for size in counts:
        rows += bills_of(chosen, size, shown, strategy)
        write_bills(rows, file)
    print(bill_table(rows, counts, shown))
    print(f"\nkept in {file}")


@app.command("baseline")
def baseline_(
    write: Annotated[bool, typer.Option("--write", help="Take today's answers as the new baseline.")] = False,
) -> None:
    """Compare the demo's answers with the committed ones; ends with 1 when they are worse."""
    rows = baseline.now(demo("development"))
    told = baseline.faults(baseline.read(), rows) if baseline.FILE.exists() else ["there is no baseline yet"]
    print("\n".join(told) or f"as before: {len(rows)} requests")
    if write:
        baseline.write(rows)
        print(f"written: {baseline.FILE}")
    elif told:
        raise typer.Exit(1)


@app.command()
def service(
    requests: Annotated[int, typer.Option(help="Searches of each load.")] = 300,
    clients: Annotated[str, typer.Option(help="Numbers of clients, separated by commas.")] = "1,4,16,64",
    workers: Annotated[int, typer.Option(help="Processes of the service.")] = 1,
    endurance: Annotated[int, typer.Option(metavar="N", help="Instead: N mixed requests, watching its memory.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Let no text of those come twice.")] = False,
    keys: Annotated[int, typer.Option(help="Keys that ask those, each with a group of its own.")] = 0,
    fill: Annotated[int, typer.Option(help="Searches for new texts before those, which fill what is kept.")] = 0,
) -> None:
    """Put the service under load on loopback: throughput, times, CPU against searches in process, failures."""
    if endurance:
        print(endure(endurance, workers, keys, fresh=fresh, fill=fill))
        return
    print(measure_service(requests, [int(one) for one in _names(clients)], workers))


if __name__ == "__main__":
    app()
