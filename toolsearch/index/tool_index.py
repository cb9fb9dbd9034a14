"""`ToolIndex`: a catalog that can be searched while it changes, in memory or in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from toolsearch.index import opening, reports
from toolsearch.index.building import Order, build
from toolsearch.index.calibrated import calibration_of
from toolsearch.index.changes import Changes
from toolsearch.index.executors import Executors
from toolsearch.index.given import feed_of
from toolsearch.index.progress import silent
from toolsearch.index.writing import Writer
from toolsearch.strategies import corpus as corpora
from toolsearch.strategies.retrievers import retriever_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from toolsearch.index.definition import Definition
    from toolsearch.index.given import Given
    from toolsearch.index.progress import Progress
    from toolsearch.protocols import Encoder, SearchResult, ToolView
    from toolsearch.questions import DecisionModel
    from toolsearch.strategies.explain import Explanation
    from toolsearch.strategies.retriever import RankedRetriever
    from toolsearch.tool import Executor, ToolSpec

    Strategy = str | RankedRetriever | None


class ToolIndex:
    """A catalog of tools made searchable. Safe under threads; made by `from_tools`, `open` or `build`.

    `caller` is the groups of whoever asks, None an owner who sees everything. A changed tool goes to the end of the
    order. `changes` is what `from_tools` or `build` did; others raise IndexReadOnly when it was opened to be read.
    """

    def __init__(self, parts: opening.Parts, changes: Changes | None = None) -> None:
        self.changes = Changes(generation=parts.keeper.current().corpus.generation) if changes is None else changes
        self._parts = parts
        self._writer = Writer(parts)
        self._calibration, self._doubts = calibration_of(parts, len(parts.keeper.current().corpus))
        self._executors = Executors.of(parts.definition, parts.layout.root if parts.layout else None)
        self.running = self._executors.running

    @classmethod
    def from_tools(cls, tools: Iterable[Given], *, encoder: Encoder | str | None = "builtin") -> Self:
        """An index in memory; `encoder` is a name, an encoder, or None for words only.

        Raises:
            InvalidTool: something given is not a tool.
            DuplicateTool: two tools have one id.
            EncoderFailed: the tools could not be encoded.
        """
        index = cls(opening.in_memory(encoder))
        index.changes = index._writer.fill(index._executors.taken(tools))
        return index

    @classmethod
    def open(cls, path: str | Path, *, read_only: bool = False, encoder: Encoder | str | None = None) -> Self:
        """The index in a folder, with another `encoder` than it names if given. Notes of `status` name what is amiss.

        Raises:
            IndexNotFound: there is none.
            IndexDamaged: its database cannot be read.
            IndexMismatch: another version of toolsearch wrote it.
        """
        return cls(opening.in_folder(path, read_only=read_only, encoder=encoder))

    @classmethod
    def build(
        cls,
        path: str | Path,
        tools: Iterable[Given] | None = None,
        *,
        definition: Definition | None = None,
        encoder: Encoder | str | None = None,
        progress: Callable[[Progress], None] | None = None,
        jobs: int = 1,
    ) -> Self:
        """Make the index in a folder hold exactly these tools, in this order, and encode what changed.

        Without tools they come from the definition's sources (by default of `index.toml` in the folder); without one
        the tools that are there stay. A stopped build goes on where it was. `jobs`: how many processors may be used.

        Raises:
            IndexBusy: another process is building it, or writes derived files for too long.
            InvalidInput: a tool, a source or the definition is not acceptable.
            EncoderFailed: a text could not be encoded; what was encoded is kept, and what was searchable still is.
        """
        feed, given = feed_of(tools)
        order = Order(tools=feed, definition=definition, encoder=encoder, progress=progress or silent, jobs=jobs)
        done = build(path, order)
        index = cls(opening.in_folder(path, read_only=False, encoder=encoder), done)
        index._executors.taken(given)
        return index

    def search(
        self,
        needs: str | Sequence[str],
        *,
        k: int = 5,
        strategy: Strategy = None,
        caller: Iterable[str] | None = None,
        filter: object = None,  # noqa: A002 - the word users expect
        exclude: Iterable[str] = (),
    ) -> SearchResult:
        """At most k tools for one need or several, best first; `strategy` is what `retriever` takes or made.

        Raises:
            InvalidInput: k, a need, the strategy or the filter is not acceptable.
        """
        found = self.retriever(strategy).search(needs, self.view(caller=caller, filter=filter, exclude=exclude), k)
        return replace(found, notes=(*found.notes, *self._parts.notes, *self._parts.keeper.notes, *self._doubts))

    def explain(
        self, need: str, tool_id: str, *, strategy: Strategy = None, caller: Iterable[str] | None = None, k: int = 5
    ) -> Explanation:
        """Why a tool is where it is for a need, or why it is not among the first k."""
        return self.retriever(strategy).explain(need, self.view(caller=caller), tool_id, k)

    def view(
        self,
        *,
        caller: Iterable[str] | None = None,
        filter: object = None,  # noqa: A002 - the word users expect
        exclude: Iterable[str] = (),
    ) -> ToolView:
        """What a caller can find in the newest generation; it stays as it is while the index changes.

        Raises:
            InvalidFilter: the filter is outside its language.
        """
        return corpora.view(self._parts.keeper.current().corpus, caller, filter, exclude)

    def retriever(self, strategy: Strategy = None, *, judge: DecisionModel | None = None) -> RankedRetriever:
        """The retriever of a name, by default the definition's: hybrid, lexical, vector or simple; judged if you will.

        Raises:
            InvalidInput: the name is unknown, or ends in +judge and none is given.
        """
        return retriever_of(strategy or reports.strategy(self._parts), self._calibration, judge)

    def upsert(self, tools: Iterable[Given]) -> Changes:
        """Add tools, or change those with their ids; on disk, and shown by every search, when this returns.

        Raises:
            InvalidTool: something given is not a tool.
        """
        return self._writer.upsert(self._executors.taken(tools))

    def remove(self, ids: Iterable[str]) -> Changes:
        """Take tools out; ids that are not there are ignored. No search shows them when this returns."""
        return self._writer.remove([ids] if isinstance(ids, str) else ids)

    def replace(self, source: str, tools: Iterable[Given]) -> Changes:
        """Make these all the tools that came from a source, such as one MCP server; errors as `upsert`."""
        return self._writer.replace(source, self._executors.taken(tools))

    def origin(self, tool_id: str) -> str | None:
        """Who put a tool here, as `replace` was told, else the tool's source; None when it is not here."""
        return reports.origin(self._parts, tool_id)

    def get(self, tool_id: str, caller: Iterable[str] | None = None) -> ToolSpec | None:
        """A tool by id; None when it is not there for this caller."""
        return self.view(caller=caller).get(tool_id)

    def tools(
        self,
        *,
        caller: Iterable[str] | None = None,
        filter: object = None,  # noqa: A002 - the word users expect
        cursor: str | None = None,
        limit: int = 100,
    ) -> reports.Page:
        """A page of tools in catalog order, at most 1000. A cursor stays good while the catalog changes.

        Raises:
            InvalidInput: the limit, the cursor or the filter is not acceptable.
        """
        state = self._parts.keeper.current()
        return reports.page(state, corpora.view(state.corpus, caller, filter), cursor, limit)

    def row_numbers(self, view: ToolView) -> NDArray[np.int64] | None:
        """What tells one catalog of a view's caller from another; see `reports.row_numbers`."""
        return reports.row_numbers(self._parts.keeper.current(), view)

    def bind(self, executors: Mapping[str, Callable[..., Any]]) -> None:
        """Say what runs tools, by id: `executor(arguments, context)`."""
        self._executors.bind(executors)

    def executor(self, tool_id: str) -> Executor | None:
        """What runs a tool: what was bound, or the Python object its source names and the definition allows.

        Raises:
            InvalidSource: its source names something else.
        """
        spec = self.get(tool_id)
        return None if spec is None else self._executors.find(spec)

    def verify(self, *, repair: bool = False) -> reports.Report:
        """Read every file and say what is wrong; `repair` makes the derived files anew."""
        if repair:
            self._writer.rederive()
        return reports.verified(self._parts)

    @property
    def status(self) -> reports.Status:
        """What this index is, and what does not fit."""
        return reports.status(self._parts, self._writer.notes)

    def __len__(self) -> int:
        return len(self._parts.keeper.current().corpus)

    def reopen(self) -> None:
        """Read everything in the folder anew; searches under way end on the old form. One in memory stays as it is."""
        if (layout := self._parts.layout) is not None:
            fresh = self.open(layout.root, read_only=self._parts.writer is None)
            fresh.bind(self._executors.bound)
            vars(self).update(vars(fresh))

    def close(self) -> None:
        """Let the files go, when changes are compacted; later calls raise IndexFault."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
