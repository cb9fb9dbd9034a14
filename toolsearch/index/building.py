"""Building an index in a folder: read the sources, encode what is new, write the truth, derive the arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from toolsearch import text
from toolsearch.errors import IndexNotFound, InvalidInput, MissingExtra
from toolsearch.index import changes
from toolsearch.index.copies import settle
from toolsearch.index.definition import Definition
from toolsearch.index.encoding import encode_staged
from toolsearch.index.faults import named_faults
from toolsearch.index.feeds import Feed, GivenTools, SourceTools
from toolsearch.index.keeper import Course, Keeper
from toolsearch.index.layout import Layout
from toolsearch.index.leases import oldest
from toolsearch.index.locks import WAIT, BuildLock
from toolsearch.index.opening import open_encoder, remember
from toolsearch.index.pieces import parsed_body
from toolsearch.index.progress import Progress, silent
from toolsearch.index.staging import Stage
from toolsearch.index.store import Store
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolsearch.index.changes import Changes
    from toolsearch.index.store import Entry
    from toolsearch.protocols import Encoder

DEFAULT_ENCODER: Final = "builtin"
READ: Final = 4096
"""Tools that are read from the truth at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to build. `tools` None means: from the definition's sources, or else the tools that are there.

    `jobs` is how many batches are encoded, and blocks of tools analysed, at a time. `kept` tells of a tool that is
    there and not among them, by id and origin, whether it stays; then what came while they were read stays too.
    """

    tools: Feed | None
    definition: Definition | None = None
    encoder: Encoder | str | None = None
    progress: Callable[[Progress], None] = silent
    jobs: int = 1
    kept: Callable[[str, str], bool] | None = None


def build(path: str | Path, order: Order) -> Changes:
    """Make the index in a folder hold what the order says; see `ToolIndex.build`."""
    layout = Layout(Path(path))
    if layout.root.exists() and not layout.root.is_dir():
        raise InvalidInput(f"{str(path)!r} is a file; an index is a folder")
    settle(layout)
    definition = order.definition
    if definition is None and layout.definition.is_file():
        definition = Definition.read(layout.definition)
    feed = order.tools
    if feed is None and definition is not None and (definition.sources or not layout.truth.is_file()):
        feed = SourceTools(definition.resolved())
    if feed is None and not layout.truth.is_file():
        raise IndexNotFound(
            f"nothing to build {str(path)!r} from: give tools, or write {layout.definition} with sources = [...]"
        )
    with named_faults(layout.root), BuildLock(layout.lock, builds=True, patience=WAIT):
        fresh = not layout.truth.is_file()
        store = Store(layout.root)
        store.make_room()
        try:
            return _built(store, layout, feed, definition, order)
        except (InvalidInput, MissingExtra):
            if not fresh:
                changes.collect(store, oldest(layout, store), None)
            store.close()
            if fresh:
                _unmake(layout)
            raise
        finally:
            store.close()


def _unmake(layout: Layout) -> None:
    """Leave no empty index behind where there was none."""
    for file in layout.data.glob(f"{layout.truth.name}*"):
        file.unlink(missing_ok=True)


def _built(
    store: Store,
    layout: Layout,
    feed: Feed | None,
    definition: Definition | None,
    order: Order,
) -> Changes:
    stays = _stays(store, order.kept)
    name, encoder = _encoder(store, definition, order)
    anew = store.meta("analyser") not in (None, text.ANALYSER)
    if feed is None and not anew:
        tools = [changes.Staged(tool, entry.hash, entry.origin) for tool, entry in store.entries().items()]
        order.progress(Progress(stage="read", done=len(tools), total=len(tools)))
    else:
        tools = Stage(store, feed or GivenTools(_present(store)), anew=anew).filled(order.progress)
    if encoder is not None:
        others = changes.staying(store.entries(), tools, stays) if stays else []
        encode_staged(store, encoder, [*tools, *others], order.progress, order.jobs)
    if feed is None:
        done = changes.Changes(unchanged=len(tools), generation=store.generation)
    else:
        done = changes.arrange(store, tools, stays)
    remember(store, encoder, name)
    del tools
    course = Course(jobs=order.jobs, progress=order.progress)
    keeper = Keeper(store, None, layout, encoder, course=course)
    order.progress(Progress(stage="write", done=0, total=1))
    keeper.rebase(encoder)
    changes.collect(store, oldest(layout, store), None if encoder is None else encoder.id)
    store.give_back()
    order.progress(Progress(stage="write", done=1, total=1))
    return done


def _stays(store: Store, kept: Callable[[str, str], bool] | None) -> Callable[[str, Entry], bool] | None:
    """What tells whether a tool stays that is not given; None when none does."""
    if kept is None:
        return None
    [(last,)] = store.read("SELECT coalesce(max(row), 0) FROM entries")
    return lambda tool, entry: entry.row > cast("int", last) or kept(tool, entry.origin)


def _present(store: Store) -> Iterator[ToolSpec]:
    """The tools that are there, in order; those of one generation, whatever is written meanwhile."""
    bodies = store.rows(store.generation).bodies
    for start in range(0, len(bodies), READ):
        numbers: list[int] = bodies[start : start + READ].tolist()
        texts = store.texts(numbers)
        yield from (parsed_body(number, texts[number]) for number in numbers)


def _encoder(store: Store, definition: Definition | None, order: Order) -> tuple[str, Encoder | None]:
    """The name and the encoder that the order, the definition or the index asks for; else the built-in one."""
    wanted = order.encoder
    if wanted is None and definition is not None:
        wanted = definition.encoder
    if wanted is None:
        wanted = store.meta("encoder_name")
        if wanted == "" and store.meta("encoder"):
            raise InvalidInput(
                f"the encoder {str(store.meta('encoder'))[:120]!r} was given as an object: give it again, or name one"
            )
    if wanted is None:
        wanted = DEFAULT_ENCODER
    return (wanted if isinstance(wanted, str) else "", open_encoder(wanted))
