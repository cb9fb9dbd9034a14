"""`toolsearch train`: our own models from a recipe, or an index adapted to what its users mean."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final

import typer

from toolsearch.cli import options
from toolsearch.cli.progress import stages
from toolsearch.cli.reading import tell_strangers
from toolsearch.errors import IndexNotFound, InvalidInput

if TYPE_CHECKING:
    from toolsearch.evaluation.comparison import Difference
    from toolsearch.evaluation.judged import JudgedQuery
    from toolsearch.training.adapting import Adapted
    from toolsearch.training.gathering import Place
    from toolsearch.training.recipe import Recipe

SQLITE: Final = b"SQLite format 3\0"
RELOAD: Final = "a running service follows when told: POST /v1/indexes/NAME/reload"


class Kind(StrEnum):
    """Models that there are recipes for."""

    encoder = "encoder"
    judge = "judge"
    map = "map"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """What `train` is given."""

    kind: Annotated[Kind | None, typer.Argument(help="What to train.", show_default=False)] = None
    data: Annotated[Path | None, typer.Option(help="Folder of the sources that the recipe names.")] = None
    out: Annotated[Path | None, typer.Option(help="Folder of what is made; a stopped run goes on there.")] = None
    recipe: Annotated[Path | None, typer.Option(help="TOML file; by default that of the project.")] = None
    leave_out: Annotated[list[str] | None, typer.Option(metavar="PART", help="Not trained on; repeatable.")] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Another seed than the recipe's.")] = None
    steps: Annotated[int | None, typer.Option(min=1, help="Other steps than the recipe's.")] = None
    from_log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Adapt an index: a service's state file, or judged requests.")
    ] = None
    index: Annotated[Path | None, typer.Option("--index", "-i", help="The index to adapt.")] = None
    forget: Annotated[bool, typer.Option("--forget", help="Take the adaptation of an index away again.")] = False


@options.taking(TrainOptions)
def train(given: TrainOptions) -> None:
    """Train encoder, judge or map from a recipe (extra train), or adapt an index to what its users mean (--from-log).

    An index is adapted by moving requests; tools' vectors stay, and nothing is kept unless it clearly wins.
    """
    if given.kind is not None:
        _make(given)
        return
    _change(given)


def _make(given: TrainOptions) -> None:
    from toolsearch.training.gathering import Place
    from toolsearch.training.recipe import FOLDER, read_recipe

    if given.data is None or given.out is None:
        raise InvalidInput("say where the data is and where to keep what is made: toolsearch train KIND --data --out")
    recipe = read_recipe(given.recipe or FOLDER / f"{given.kind}.toml")
    if recipe.kind != given.kind:
        raise InvalidInput(f"that recipe makes a {recipe.kind}, not a {given.kind}")
    parts = tuple(one for one in recipe.parts if one.name not in (given.leave_out or []))
    changes = {name: value for name in ("seed", "steps") if (value := getattr(given, name)) is not None}
    with stages() as told:
        _maker(recipe.kind)(replace(recipe, parts=parts, **changes), Place(data=given.data, out=given.out, told=told))
    print((given.out / "CARD.md").read_text("utf-8"))


def _maker(kind: str) -> Callable[[Recipe, Place], object]:
    if kind == "encoder":
        from toolsearch.training.encoder_making import make_encoder

        return make_encoder
    if kind == "map":
        from toolsearch.training.map_making import make_map

        return make_map
    from toolsearch.training.judge_making import make_judge

    return make_judge


def _change(given: TrainOptions) -> None:
    """Adapt an index, or take its adaptation away."""
    from toolsearch.encoders.adapted import FILE

    if given.index is None:
        raise InvalidInput("name the index to adapt: toolsearch train --from-log FILE -i INDEX")
    path = given.index / FILE
    if given.forget:
        _forget(given.index, path)
        return
    if given.from_log is None:
        raise InvalidInput("say what to learn from: toolsearch train --from-log FILE -i INDEX")
    _adapt(given.index, given.from_log, path)


def _forget(place: Path, path: Path) -> None:
    from toolsearch.index.layout import Layout

    if not path.is_file():
        if not Layout(place).truth.is_file():
            raise IndexNotFound(f"there is no index at {str(place)!r:.200}, so there is nothing to forget")
        print(f"{place} has no adaptation; nothing was changed")
        return
    path.unlink()
    print(f"{place} searches as it did before any adaptation; {RELOAD}")


def _adapt(place: Path, log: Path, path: Path) -> None:
    from toolsearch import ToolIndex
    from toolsearch.training.adapting import adapt

    with ToolIndex.open(place, read_only=True) as index:
        queries = _judged(log, place.resolve().name)
        tell_strangers(index, queries)
        done = adapt(queries, index)
    print(f"learnt from the {done.learnt} earliest requests, tested on the {done.tested} latest\n\n{_rows(done)}\n")
    back = f"toolsearch train --forget -i {place}"
    if done.kept:
        done.adaptation.write(path)
        print(f"kept in {path}; {RELOAD}; calibrate anew where the index is calibrated; back with: {back}")
    elif done.before is not None:
        doubt = f", which does worse than none here; take it away with: {back}" if done.before.mean < 0 else ""
        print(f"no clear gain: nothing was changed, and the index keeps the adaptation it has{doubt}")
    else:
        print("no clear gain: nothing was changed")


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


def _rows(done: Adapted) -> str:
    """One line for each comparison that was made."""
    named = {
        "new adaptation over none": done.gain,
        "new adaptation over the present one": done.ahead,
        "present adaptation over none": done.before,
    }
    return "\n".join(f"{name}: {_row(gain)}" for name, gain in named.items() if gain is not None)


def _row(gain: Difference) -> str:
    return (
        f"NDCG@10 {gain.mean:+.1f} points (95 % from {gain.low:+.1f} to {gain.high:+.1f}); "
        f"{gain.wins} better, {gain.losses} worse, {gain.ties} alike"
    )
