"""The parts of an index, opened: connections, encoder, keeper; and what to say when they do not fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolsearch import encoders, text
from toolsearch.encoders.cached import CachedEncoder
from toolsearch.errors import EncoderFailed, IndexNotFound, InvalidInput, MissingExtra
from toolsearch.index.adapting import adapted
from toolsearch.index.copies import settle
from toolsearch.index.definition import Definition
from toolsearch.index.keeper import Keeper
from toolsearch.index.layout import Layout
from toolsearch.index.store import Store

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """An opened index. `writer` is None when it may only be read; `encoder` is the one that fits its vectors."""

    layout: Layout | None
    definition: Definition | None
    reader: Store
    writer: Store | None
    watch: Store | None
    keeper: Keeper
    encoder: Encoder | None
    notes: tuple[str, ...] = ()

    def close(self) -> None:
        """Let the databases go."""
        for store in (self.watch, self.writer, self.reader):
            if store is not None:
                store.close()


def in_memory(encoder: Encoder | str | None) -> Parts:
    """An empty index in memory.

    Raises:
        InvalidInput: the encoder's name is unknown.
        MissingExtra: its package is not installed.
    """
    store, chosen = Store(None), open_encoder(encoder)
    remember(store, chosen, _name_of(encoder))
    keeper = Keeper(store, None, None, chosen)
    return Parts(layout=None, definition=None, reader=store, writer=store, watch=None, keeper=keeper, encoder=chosen)


def in_folder(path: str | Path, *, read_only: bool, encoder: Encoder | str | None = None) -> Parts:
    """An index in a folder; what does not fit is named in the notes, and what fits is searched.

    Raises:
        IndexNotFound: there is none.
        IndexDamaged: its database cannot be read.
        IndexMismatch: it has another format.
    """
    layout = Layout(Path(path))
    if not read_only:
        settle(layout)
    if not layout.truth.is_file():
        raise IndexNotFound(f"there is no index at {str(path)!r}; {_way_out(layout)}")
    definition = Definition.read(layout.definition) if layout.definition.is_file() else None
    reader = Store(layout.root, read_only=True)
    chosen, notes = _fitting(layout, reader, encoder)
    writer = None if read_only else Store(layout.root)
    watch = Store(layout.root, read_only=True)
    return Parts(
        layout=layout,
        definition=definition,
        reader=reader,
        writer=writer,
        watch=watch,
        keeper=Keeper(reader, watch, layout, chosen, publish=not read_only),
        encoder=chosen,
        notes=(*notes, *_unfinished(layout)),
    )


def _way_out(layout: Layout) -> str:
    return next(iter(_unfinished(layout)), f"make one with: {layout.mend}")


def _unfinished(layout: Layout) -> tuple[str, ...]:
    """A restore that runs or was killed, which an opening only to read does not end."""
    if not layout.restoring.is_file():
        return ()
    return (
        f"a copy is being restored, or that was stopped; to end it: toolsearch index verify --repair {layout.root}",
    )


def open_encoder(encoder: Encoder | str | None) -> Encoder | None:
    """The encoder of a name, with its last requests kept; an encoder is itself, and nothing or "" is none.

    Raises:
        InvalidInput: the name is unknown.
        MissingExtra: its package is not installed.
    """
    if isinstance(encoder, str):
        return CachedEncoder(encoders.open_encoder(encoder), roles=("query",)) if encoder else None
    return encoder


def remember(store: Store, encoder: Encoder | None, name: str) -> None:
    """Write down what vectors and words were made with."""
    facts = {"encoder": "" if encoder is None else encoder.id, "encoder_name": name, "analyser": text.ANALYSER}
    with store.writing() as transaction:
        transaction.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(facts.items()))


def _name_of(encoder: Encoder | str | None) -> str:
    return encoder if isinstance(encoder, str) else ""


def _fitting(layout: Layout, store: Store, encoder: Encoder | str | None) -> tuple[Encoder | None, tuple[str, ...]]:
    """The encoder that made the index's vectors, or None and the reason."""
    made_by, name = store.meta("encoder") or "", store.meta("encoder_name") or ""
    notes: list[str] = []
    if (store.meta("analyser") or text.ANALYSER) != text.ANALYSER:
        notes.append(
            f"made by analyser {store.meta('analyser')!r}, this is {text.ANALYSER!r}; its words were analysed anew. "
            f"To keep that: {layout.mend}"
        )
    if not made_by:
        return None, tuple(notes)
    try:
        found = open_encoder(encoder if encoder is not None else name)
    except (EncoderFailed, InvalidInput, MissingExtra) as error:
        return None, (*notes, f"encoder {name!r} cannot be opened ({error}); only words are searched")
    if found is None:
        why = "was given to it as an object: give it again with ToolIndex.open(path, encoder=...)"
        return None, (*notes, f"the encoder {made_by[:120]!r} {why}; until then only words are searched")
    if found.id != made_by:
        return None, (
            *notes,
            f"vectors were made by encoder {made_by[:120]!r}, this is {found.id[:120]!r}; only words are searched. "
            f"To encode anew: {layout.mend}",
        )
    moved, doubts = adapted(found, layout)
    return moved, (*notes, *doubts)
