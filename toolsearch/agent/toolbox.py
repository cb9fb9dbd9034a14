"""The tools of one caller at one moment: what can be found, shown and run."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final, Protocol, runtime_checkable

from toolsearch.agent.exposing import name_of
from toolsearch.errors import DuplicateTool, InvalidInput
from toolsearch.protocols import Encoder, ToolView
from toolsearch.stemming import stem
from toolsearch.strategies.corpus import view
from toolsearch.strategies.joined import joined
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.strategies.small import small_corpus
from toolsearch.text import identifier_parts, name_key, name_keys
from toolsearch.tool import Executor, SearchBehavior, Tool, ToolSpec

EMPTY: Final = frozenset({"tool", "function", "api"})
"""Words that models put behind the name of a tool."""
NEAR: Final = 5
"""How many near names are told."""
_HASH: Final = re.compile(r"_[0-9a-f]{10}$")


@runtime_checkable
class Library(Protocol):
    """A searchable catalog, such as a ToolIndex.

    One that has `running`, too, says there which servers and services run the tools that it has no executor for.
    """

    def view(self, *, caller: Iterable[str] | None = None) -> ToolView:
        """What a caller can find now."""
        ...

    def executor(self, tool_id: str) -> Executor | None:
        """What runs a tool; None when nothing does."""
        ...


@dataclass(frozen=True, slots=True)
class Shelf:
    """A library as one caller sees it at one moment."""

    library: Library
    view: ToolView
    pinned: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """Tools by id: `fixed` ones of the agent and its providers, `dynamic` ones of this request, and `shelves`.

    Nothing that the caller may not see is in it. `encoder` makes an ad-hoc list of tools searchable; `runner` runs
    tools of a library that has no executor for them itself.
    """

    fixed: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    dynamic: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    shelves: Sequence[Shelf] = ()
    encoder: Callable[[], Encoder | None] = lambda: None
    runner: Callable[[Library, ToolSpec], Executor | None] = lambda library, spec: None
    _looked_up: dict[str, ToolSpec | None] = field(
        default_factory=dict[str, ToolSpec | None], init=False, repr=False, compare=False
    )
    """Every request asks for its tools several times over; what the shelves say is kept."""

    def get(self, tool_id: str) -> ToolSpec | None:
        """A tool by id; None when the caller has none."""
        own = self.fixed.get(tool_id) or self.dynamic.get(tool_id)
        if own:
            return own.spec
        if tool_id not in self._looked_up:
            found = (shelf.view.get(tool_id) for shelf in self.shelves)
            self._looked_up[tool_id] = next((spec for spec in found if spec), None)
        return self._looked_up[tool_id]

    def executor(self, tool_id: str) -> Executor | None:
        """What runs a tool; None when nothing does.

        Raises:
            InvalidSource: the tool's source names something that may not run.
        """
        own = self.fixed.get(tool_id) or self.dynamic.get(tool_id)
        if own:
            return own.execute
        for shelf in self.shelves:
            spec = shelf.view.get(tool_id)
            if spec is not None:
                return shelf.library.executor(tool_id) or self.runner(shelf.library, spec)
        return None

    def called(self, name: str) -> ToolSpec | None:
        """The tool that a model calls by this name; None when the caller has none.

        A tool of a library whose id had to be altered is looked for by the words that are left of it in the name.
        """
        own = next((tool.spec for tool in self._own() if name_of(tool.spec) == name), None)
        found = own or next((spec for spec in self._similar(name) if name_of(spec) == name), None)
        if found or not _HASH.search(name):
            return found
        return next((spec for spec in self._fitting(_HASH.sub("", name)) if name_of(spec) == name), None)

    def meant(self, name: str) -> ToolSpec | None:
        """The one tool whose name, title or alias is written like this name; None when there is none, or several.

        Where no tool is, the one whose name has the same words in other forms, such as turn_off_lights for
        turn_off_light, or with "tool" or "function" behind them.
        """
        key = name_key(name[:200])
        own = [one.spec for one in self._own() if key and key in name_keys(one.spec)]
        found = {spec.id: spec for spec in [*own, *self._similar(name[:200])]}
        if not found:
            stems = _stems(name[:200])
            near = [*(one.spec for one in self._own()), *self._fitting(name)]
            found = {spec.id: spec for spec in near if stems and _stems(spec.name) == stems}
        return next(iter(found.values())) if len(found) == 1 else None

    def near(self, name: str) -> list[str]:
        """At most NEAR names that a model may have meant, nearest first; only such as the caller may see."""
        named = [name_of(spec) for spec in self._similar(name)]
        own = {name_of(tool.spec): name_key(tool.spec.name) for tool in self._own()}
        close = get_close_matches(name_key(name[:80]), list(own.values()), n=NEAR, cutoff=0.6)
        named += [one for key in close for one, its in own.items() if its == key]
        if len(named) < NEAR and self.shelves:
            named += map(name_of, self._fitting(name))
        return list(dict.fromkeys(named))[:NEAR]

    def searchable(self, hidden: Collection[str]) -> ToolView:
        """All tools that may be found, without those whose ids are given."""
        views = [view_without(shelf.view, hidden) for shelf in self.shelves]
        loose = [one.spec for one in self.fixed.values() if one.spec.search is SearchBehavior.SEARCHABLE]
        if loose or not views:
            corpus = small_corpus(loose, self._encoder())
            views.append(view(corpus, exclude_ids=[spec.id for spec in loose if spec.id in hidden]))
        return joined(views)

    def pinned(self) -> Iterator[ToolSpec]:
        """Tools that are always visible, in order."""
        yield from (one.spec for one in self.fixed.values() if one.spec.search is SearchBehavior.ALWAYS_VISIBLE)
        for shelf in self.shelves:
            yield from shelf.pinned

    def count(self) -> int:
        """How many tools there are, dynamic ones left out."""
        return len(self.fixed) + sum(len(shelf.view.corpus.rows(shelf.view.allowed)) for shelf in self.shelves)

    def all(self) -> Iterator[ToolSpec]:
        """Every tool but dynamic ones; walks the libraries."""
        yield from (one.spec for one in self.fixed.values())
        for shelf in self.shelves:
            yield from shelf.view

    def check(self) -> None:
        """Refuse ids that occur in two places.

        Raises:
            DuplicateTool: it names the tool.
        """
        for tool_id in self.fixed:
            if any(shelf.view.get(tool_id) for shelf in self.shelves):
                raise DuplicateTool(f"Duplicated definition for tool: {tool_id[:200]}")

    def _own(self) -> Iterator[Tool]:
        yield from self.fixed.values()
        yield from self.dynamic.values()

    def _encoder(self) -> Encoder | None:
        found = (shelf.view.corpus.encoder for shelf in self.shelves)
        return next((one for one in found if one is not None), None) or self.encoder()

    def _similar(self, name: str) -> Iterator[ToolSpec]:
        """Tools of the shelves whose name or id is written like this name."""
        keys = dict.fromkeys([name_key(name), name_key(_HASH.sub("", name))])
        for shelf in self.shelves:
            for key in keys:
                rows = shelf.view.corpus.named(key) if key else ()
                yield from (shelf.view.corpus.tool(row) for row in rows if shelf.view.holds(row))

    def _fitting(self, name: str) -> list[ToolSpec]:
        words = " ".join(part for part in identifier_parts(name[:80]) if part)
        found: list[ToolSpec] = []
        for shelf in self.shelves if words.strip() else ():
            try:
                fitting = open_retriever("lexical").search([words], shelf.view, NEAR)
            except InvalidInput:
                continue
            found += [hit.tool for hit in fitting if fitting.band != "none"]
        return found


def _stems(name: str) -> list[str]:
    """The words of a name without their endings; "tool" and the like at its end say nothing."""
    found = [stem(part.casefold(), "en") for part in identifier_parts(name) if part]
    while len(found) > 1 and found[-1] in EMPTY:
        found.pop()
    return found


def view_without(own: ToolView, hidden: Collection[str]) -> ToolView:
    """A view with some ids left out."""
    rows = (own.corpus.row(tool_id) for tool_id in hidden)
    more = frozenset(row for row in rows if row is not None)
    return ToolView(own.corpus, own.allowed, own.kept, own.excluded | more)


def allowed_to(spec: ToolSpec, caller: frozenset[str] | None) -> bool:
    """Whether a caller may see a tool: it has no groups, they share one, or the caller is the trusted owner."""
    return caller is None or not spec.groups or not caller.isdisjoint(spec.groups)
