"""Building an index in a folder: read the sources, encode what is new, write the truth, derive the arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolsearch import text
from toolsearch.catalog.sources import load
from toolsearch.errors import IndexNotFound, InvalidInput
from toolsearch.index import changes
from toolsearch.index.definition import Definition
from toolsearch.index.encoding import Progress, encode_missing, silent
from toolsearch.index.faults import named_faults
from toolsearch.index.keeper import Keeper
from toolsearch.index.layout import Layout
from toolsearch.index.leases import oldest
from toolsearch.index.locks import BuildLock
from toolsearch.index.opening import open_encoder, remember
from toolsearch.index.store import Store
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolsearch.index.changes import Changes
    from toolsearch.protocols import Encoder

DEFAULT_ENCODER: Final = "builtin"
ALIVE: Final = "SELECT b.body FROM entries e JOIN bodies b ON b.number = e.body WHERE e.died IS NULL ORDER BY e.place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to build. `specs` None means: from the definition's sources, or else the tools that are there."""

    specs: Sequence[ToolSpec] | None
    definition: Definition | None = None
    encoder: Encoder | str | None = None
    progress: Callable[[Progress], None] = silent


def build(path: str | Path, order: Order) -> Changes:
    """Make the index in a folder hold what the order says; see `ToolIndex.build`."""
    layout = Layout(Path(path))
    if layout.root.exists() and not layout.root.is_dir():
        raise InvalidInput(f"{str(path)!r} is a file; an index is a folder")
    definition = order.definition
    if definition is None and layout.definition.is_file():
        definition = Definition.read(layout.definition)
    specs = order.specs if order.specs is not None or definition is None else from_sources(definition)
    if specs is None and not layout.truth.is_file():
        raise IndexNotFound(
            f"nothing to build {str(path)!r} from: give tools, or write {layout.definition} with sources = [...]"
        )
    with named_faults(layout.root), BuildLock(layout.lock):
        store = Store(layout.root)
        try:
            return _built(store, layout, specs, definition, order)
        finally:
            store.close()


def from_sources(definition: Definition) -> list[ToolSpec]:
    """The tools of all sources of a definition, in order.

    Raises:
        InvalidInput: a source cannot be read, or one of its tools is not acceptable.
    """
    return [tool.spec for source in definition.resolved() for tool in load(source).tools]


def _built(
    store: Store,
    layout: Layout,
    specs: Sequence[ToolSpec] | None,
    definition: Definition | None,
    order: Order,
) -> Changes:
    if specs is None:
        specs = [ToolSpec.from_json(str(body)) for (body,) in store.read(ALIVE)]
    order.progress(Progress(stage="read", done=len(specs), total=len(specs)))
    tools = changes.prepared(specs)
    name, encoder = _encoder(store, definition, order)
    if store.meta("analyser") not in (None, text.ANALYSER):
        changes.retext(store, tools)
    if encoder is not None:
        encode_missing(store, encoder, tools, order.progress)
    done = changes.arrange(store, tools)
    remember(store, encoder, name)
    order.progress(Progress(stage="write", done=0, total=1))
    Keeper(store, None, layout, encoder).rebase(encoder)
    changes.collect(store, oldest(layout, store.generation), None if encoder is None else encoder.id)
    order.progress(Progress(stage="write", done=1, total=1))
    return done


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
