"""Tables of a run of peers: one over all parts, then one for each part, every mean with its interval."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.runner import answers_of
from toolsearch.evaluation.comparison import DRAWS, Difference, compare, holm
from toolsearch.evaluation.judged import read_queries
from toolsearch.evaluation.measures import measure
from toolsearch.evaluation.tables import averaged, table

NDCG, COMP = "nDCG@10", "COMP@10"
Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What one system did on one part: values by request id from 0 to 1, CPU by request in ms, seconds to build."""

    values: Mapping[str, Mapping[str, float]]
    cpu: Rows
    build: float


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One run's folder. `missing` tells why a part was not done."""

    name: str
    parts: Mapping[str, Done]
    missing: Mapping[str, str]


def read_system(folder: Path) -> System:
    """What a folder holds."""
    record: dict[str, Any] = json.loads((folder / "record.json").read_text("utf-8"))
    parts: dict[str, Done] = {}
    for name, answers in answers_of(folder).items():
        values = measure(read_queries(folder / f"{name}.queries.jsonl"), answers, [NDCG, COMP])
        cpu = np.array([answer.cpu for answer in answers])
        parts[name] = Done(values=values, cpu=cpu, build=record["build"][name])
    return System(name=folder.name, parts=parts, missing=record["settings"].get("missing", {}))


def peers_markdown(folders: Sequence[Path], against: str = "hybrid") -> str:
    """The tables of a run's folders, with the difference of every system to the one named `against`."""
    systems = [read_system(folder) for folder in folders if (folder / "record.json").exists()]
    base = next(system for system in systems if system.name == against)
    names = list(dict.fromkeys(name for system in systems for name in (*system.parts, *system.missing)))
    systems.sort(key=lambda system: (-len(system.parts), -_average(system)))
    texts = [overview(systems, base, names), costs(systems, names)]
    texts += [f"### {name}\n\n{part(systems, base, name)}" for name in names]
    return "\n\n".join(texts)


def overview(systems: Sequence[System], base: System, names: Sequence[str]) -> str:
    """nDCG@10 of every part; means over the parts that a system and the base both did, each part alike.

    Every figure has its interval; a mean over fewer parts than all says how many.
    """
    rows: list[list[str]] = []
    for system in systems:
        shared = [name for name in names if name in system.parts and name in base.parts]
        cells = [
            _with(100 * _array(system.parts[name].values[NDCG])) if name in system.parts else "-" for name in names
        ]
        means = [_macro([_array(system.parts[name].values[measure_]) for name in shared]) for measure_ in (NDCG, COMP)]
        gaps = _macro([_gaps(base.parts[name], system.parts[name]) for name in shared])
        fewer = f" of {len(shared)}" if len(shared) < len(names) else ""
        rows.append([system.name, *cells, *(mean + fewer for mean in means), "" if system is base else gaps + fewer])
    head = ["system", *names, f"mean {NDCG}", f"mean {COMP}", f"{NDCG} against {base.name}"]
    return table(head, rows)


def costs(systems: Sequence[System], names: Sequence[str]) -> str:
    """Mean CPU of a request in ms with its interval, and seconds of CPU to build (one measurement), by part."""
    rows = [
        [system.name, *(_cost(system.parts[name]) if name in system.parts else "-" for name in names)]
        for system in systems
    ]
    return table(["CPU ms a request / s to build", *names], rows)


def part(systems: Sequence[System], base: System, name: str) -> str:
    """Everything about one part; p is corrected for the number of systems in the table."""
    done = [system for system in systems if name in system.parts]
    right = base.parts[name].values[NDCG] if name in base.parts else None
    gaps = {s.name: compare(right, s.parts[name].values[NDCG]) for s in done if right is not None and s is not base}
    corrected = dict(zip(gaps, holm([gap.p for gap in gaps.values()]), strict=True))
    rows = [_row(system, system.parts[name], gaps.get(system.name), corrected) for system in done]
    rows += [[s.name, s.missing[name], *[""] * 6] for s in systems if name in s.missing]
    head = ["system", NDCG, COMP, "CPU ms", "build s", f"against {base.name}", "p (Holm)", "wins/losses"]
    return table(head, rows)


def _row(system: System, done: Done, gap: Difference | None, corrected: Mapping[str, float]) -> list[str]:
    figures = [_with(100 * _array(done.values[name])) for name in (NDCG, COMP)]
    cells = [system.name, *figures, _with(done.cpu, 2), f"{done.build:.1f}"]
    if gap is None:
        return [*cells, "", "", ""]
    told = f"{gap.mean:+.1f} ({gap.low:+.1f} to {gap.high:+.1f})"
    return [*cells, told, f"{corrected[system.name]:.4f}", f"{gap.wins}/{gap.losses}"]


def _average(system: System) -> float:
    """Mean of the parts' nDCG@10, from 0 to 1."""
    return float(np.mean([_array(done.values[NDCG]).mean() for done in system.parts.values()] or [0.0]))


def _array(values: Mapping[str, float]) -> Rows:
    return np.array([values[key] for key in sorted(values)])


def _gaps(base: Done, other: Done) -> Rows:
    return _array(other.values[NDCG]) - _array(base.values[NDCG])


def _own(system: System, name: str) -> str:
    return _with(100 * _array(system.parts[name].values[NDCG])) if name in system.parts else "-"


def _cost(done: Done) -> str:
    return f"{_with(done.cpu)} / {done.build:.0f}"


def _with(rows: Rows, places: int = 1) -> str:
    return averaged(rows.tolist(), places)


def _macro(parts: Sequence[Rows], seed: int = 0) -> str:
    """Mean of the parts' means in percent, with the bootstrap interval where each part is drawn on its own."""
    if not parts:
        return "-"
    generator = np.random.default_rng(seed)
    draws = np.zeros(DRAWS)
    for rows in parts:
        picked = (generator.integers(0, len(rows), (100, len(rows))) for _ in range(DRAWS // 100))
        draws += np.concatenate([rows[one].mean(1) for one in picked])
    low, high = np.percentile(100 * draws / len(parts), [2.5, 97.5])
    mean = 100 * float(np.mean([rows.mean() for rows in parts]))
    return f"{mean:.1f} ({low:.1f} to {high:.1f})"
