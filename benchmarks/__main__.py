"""The commands: run, compare, report."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import report as reports
from benchmarks.runner import HERE, answers_of, run_all
from benchmarks.tasks import Task, demo, development_parts
from toolsearch.evaluation.comparison import Difference, compare, holm
from toolsearch.evaluation.judged import read_queries
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.tables import differences

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Measure retrieval quality and cost.")


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
    tasks: list[Task] = [demo(split)] + (list(development_parts(data)) if data else [])
    wanted = [one.strip() for one in only.split(",") if one.strip()]
    tasks = [task for task in tasks if not wanted or task.name in wanted]
    out = HERE / "runs" / (name or datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S"))
    folders = run_all(tasks, [one.strip() for one in strategies.split(",")], out=out, encoder=encoder)
    print(reports.markdown(folders))
    print(f"\nkept in {out}")


@app.command("compare")
def compare_(run_a: Path, run_b: Path, measure_name: Annotated[str, typer.Option("--measure")] = "nDCG@10") -> None:
    """Compare two runs task by task: difference, interval, corrected p, wins and losses, what changed."""
    found = differing(run_a, run_b, measure_name)
    corrected = holm([difference.p for difference in found.values()])
    print(differences({name: (d, p) for (name, d), p in zip(found.items(), corrected, strict=True)}))
    for name, difference in found.items():
        for query, gap in difference.changed[:10]:
            print(f"{name}\t{query}\t{gap:+.1f}")


def differing(run_a: Path, run_b: Path, measure_name: str) -> dict[str, Difference]:
    """Differences of one measure for every task that both runs hold."""
    a, b = answers_of(run_a), answers_of(run_b)
    found: dict[str, Difference] = {}
    for task in sorted(set(a) & set(b)):
        queries = read_queries(run_a / f"{task}.queries.jsonl")
        values = [measure(queries, answers[task], [measure_name])[measure_name] for answers in (a, b)]
        found[task] = compare(*values)
    return found


@app.command()
def report(runs: Path = HERE / "runs", html: Path = HERE / "runs" / "report.html") -> None:
    """Markdown on standard output, and one self-contained page with plots and a failure browser."""
    folders = sorted(path.parent for path in runs.rglob("record.json"))
    print(reports.markdown(folders))
    html.write_text(reports.page(folders), "utf-8")


if __name__ == "__main__":
    app()
