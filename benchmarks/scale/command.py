"""`python -m benchmarks scale`: every size in a process of its own; a table, and a record of every figure."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from benchmarks.scale.alone import alone
from benchmarks.scale.bounded import asked_within
from benchmarks.scale.measure import Size, built, compared, measured
from benchmarks.scale.others import Bound
from toolsearch.evaluation.record import origin

ROUND, TENTHS = 100, 3
"""From here on figures are shown without decimals, or with one."""
PEERS_AT: Final = 100_000
"""Peers are asked at the largest size up to this one."""


def scale(
    sizes: Annotated[str, typer.Option(help="Numbers of tools, separated by commas.")] = "1000,10000,100000",
    data: Annotated[Path | None, typer.Option(help="Folder of sets to recombine; without it, the demo.")] = None,
    real: Annotated[int, typer.Option(help="Up to so many tools get vectors from the real encoder.")] = 1000,
    peers: Annotated[str, typer.Option(help="Peers that are asked too, separated by commas.")] = "",
    environments: Annotated[Path | None, typer.Option(help="Folder of ready environments of peers.")] = None,
    seconds: Annotated[int, typer.Option(help="CPU that a peer may take.")] = 300,
    keep: Annotated[Path | None, typer.Option(help="Where indexes stay; those that are there are not built.")] = None,
    jobs: Annotated[int, typer.Option(help="Processors that a build may use.")] = 1,
    build_only: Annotated[bool, typer.Option("--build-only", help="Ask nothing yet; with --keep.")] = False,
    limit: Annotated[int, typer.Option(help="Ask once more within so many MB of memory.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of tools and vectors.")] = 0,
    out: Annotated[Path, typer.Option(help="Where the record goes.")] = Path("benchmarks/runs/scale.json"),
) -> None:
    """Measure speed, memory, disk and change of large made-up catalogs."""
    found: list[dict[str, Any]] = []
    wanted = [int(one) for one in sizes.split(",") if one.strip()]
    compare_at = max((tools for tools in wanted if tools <= PEERS_AT), default=0) if peers else 0
    for tools in wanted:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) if keep is None else keep / str(tools)
            size = Size(tools=tools, data=data, real=tools <= real, seed=seed, folder=place / "index", jobs=jobs)
            found.append(_built(size))
            if not build_only:
                found[-1] |= asked_within(size, limit) if limit else {}
                found[-1] |= alone(measured, size)
        if tools == compare_at:
            bound = Bound(seconds=seconds, environments=environments)
            found[-1] |= compared(tuple(peers.split(",")), size, bound)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps({**origin(), "seed": seed, "sizes": found}, indent=1) + "\n", "utf-8")
        print(table(found) + "\n", flush=True)
    print(f"kept in {out}")


def _built(size: Size) -> dict[str, Any]:
    """What building it took, now or when it was built; an index that was changed by measuring is as good as new."""
    told = size.folder.parent / "built.json"
    if not told.is_file():
        told.parent.mkdir(parents=True, exist_ok=True)
        told.write_text(json.dumps(alone(built, size)), "utf-8")
    return json.loads(told.read_text("utf-8"))


def table(found: list[dict[str, Any]]) -> str:
    """Markdown: one row a figure, one column a size; CPU ms unless the name has a unit."""
    names = list(dict.fromkeys(name for figures in found for name in figures if name != "tools"))
    head = "| | " + " | ".join(f"{figures['tools']:,}" for figures in found) + " |"
    rows = [f"| {name} | " + " | ".join(_shown(figures.get(name)) for figures in found) + " |" for name in names]
    return "\n".join([head, "|---" + "|---:" * len(found) + "|", *rows])


def _shown(value: Any) -> str:
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:,.0f}" if value >= ROUND else f"{value:.1f}" if value >= TENTHS else f"{value:.2f}"
