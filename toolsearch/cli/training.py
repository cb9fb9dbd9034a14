"""`toolsearch train`: our own models from a recipe, or an index adapted to what its users mean."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final

import typer

from toolsearch.cli import options
from toolsearch.cli.reading import tell_strangers
from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from toolsearch.evaluation.comparison import Difference
    from toolsearch.evaluation.judged import JudgedQuery

SQLITE: Final = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """What `train` is given."""

    from_log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Adapt an index: a service's state file, or judged requests.")
    ] = None
    index: Annotated[Path | None, typer.Option("--index", "-i", help="The index to adapt.")] = None
    forget: Annotated[bool, typer.Option("--forget", help="Take the adaptation of an index away again.")] = False


@options.taking(TrainOptions)
def train(given: TrainOptions) -> None:
    """Adapt an index to what its users mean: requests move, tools' vectors stay; kept only if it clearly wins."""
    from toolsearch.encoders.adapted import FILE

    if given.index is None:
        raise InvalidInput("name the index to adapt: toolsearch train --from-log FILE -i INDEX")
    path = given.index / FILE
    if given.forget:
        path.unlink(missing_ok=True)
        print(f"{given.index} searches as it did before any adaptation")
        return
    if given.from_log is None:
        raise InvalidInput("say what to learn from: toolsearch train --from-log FILE -i INDEX")
    _adapt(given.index, given.from_log, path)


def _adapt(place: Path, log: Path, path: Path) -> None:
    from toolsearch import ToolIndex
    from toolsearch.training.adapting import adapt

    with ToolIndex.open(place, read_only=True) as index:
        queries = _judged(log, place.resolve().name)
        tell_strangers(index, queries)
        done = adapt(queries, index)
    print(f"learnt from the {done.learnt} earliest requests, tested on the {done.tested} latest\n\n{_row(done.gain)}\n")
    if not done.kept:
        print("no clear gain: nothing was changed")
        return
    done.adaptation.write(path)
    print(
        f"kept in {path}; calibrate anew where the index is calibrated; back with: toolsearch train --forget -i {place}"
    )


def _judged(path: Path, name: str) -> list[JudgedQuery]:
    """Judged requests of a file, or searches that led to a call, earliest first, of a service's state file."""
    from toolsearch.evaluation.judged import read_queries
    from toolsearch.server.state import StateFile
    from toolsearch.server.usage import Usage

    if not _is_database(path):
        return read_queries(path)
    with closing(StateFile(path)) as state:
        lines = "".join(Usage(state, "off", 0).judged(name))
    if not lines:
        raise InvalidInput(f"{str(path)!r:.120} knows no search of {name!r:.80} in plain text that led to a call")
    with TemporaryDirectory() as folder:
        kept = Path(folder) / "usage.jsonl"
        kept.write_text(lines, "utf-8")
        return read_queries(kept)


def _is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _row(gain: Difference) -> str:
    return (
        f"NDCG@10 {gain.mean:+.1f} points (95 % from {gain.low:+.1f} to {gain.high:+.1f}); "
        f"{gain.wins} better, {gain.losses} worse, {gain.ties} alike"
    )
