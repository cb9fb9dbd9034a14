"""The seams between rooms: small protocols, and the values that cross them.

Rows are positions in one corpus, int32. Masks are (rows,) bool. Scores are float32, larger is better.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from toolsearch.tool import Json, ToolSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.int32]
    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float32]

Role = Literal["query", "tool"]
Query_contra = TypeVar("Query_contra", contravariant=True)
Scores_co = TypeVar("Scores_co", bound="Scores", covariant=True)


class Encoder(Protocol):
    """Turns texts into unit vectors. A text has one vector, whatever is encoded beside it."""

    @property
    def id(self) -> str:
        """Names model, revision, prompts, dimension and normalisation: what vectors are kept under."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        """Vectors of the texts, (len(texts), dimension) float32, unit length or all zero.

        Raises:
            EncoderFailed: the model could not answer in its time or gave something else.
        """
        ...


class Ranking(NamedTuple):
    """Rows best first: rows (n,) int32, scores (n,) float32; ties by row."""

    rows: Rows
    scores: Floats


@dataclass(frozen=True, slots=True)
class RowSet:
    """The rows that one caller may see, None for every live row. `key` stands for the mask in caches: one for each."""

    key: Hashable
    mask: Mask | None = field(default=None, compare=False)


class Scores(Protocol):
    """What one request scores over the rows of one view, before any cut."""

    @property
    def mean(self) -> float:
        """Mean score over all rows of the view."""
        ...

    @property
    def std(self) -> float:
        """Standard deviation of the score over all rows of the view; 0 when all are equal."""
        ...

    def top(self, k: int, within: Mask | None = None) -> Ranking:
        """At most k rows of the view, of `within` too when given. Rows that match nothing are left out."""
        ...

    def at(self, rows: Rows) -> Floats:
        """Exact scores of given rows of the view, (len(rows),) float32."""
        ...


class WordScores(Scores, Protocol):
    """Scores of weighted words, which are the sum over its words."""

    def holds(self, rows: Rows) -> Mask:
        """Which of its words given rows of the view have, (words, rows) bool."""
        ...


class Engine(Protocol[Query_contra, Scores_co]):
    """Numbers in, ranked rows out. Statistics come from the rows of `view` and from nothing else."""

    def score_many(self, queries: Sequence[Query_contra], view: RowSet) -> Sequence[Scores_co]:
        """Scores of each request over a view, in their order; a request scores as it does alone."""
        ...


class Corpus(Protocol):
    """One generation of a catalog and the engines built on it. Never changes."""

    @property
    def generation(self) -> int:
        """Grows with every change of the catalog."""
        ...

    @property
    def lexical(self) -> Engine[Mapping[str, float], WordScores]:
        """Scores weighted terms."""
        ...

    @property
    def dense(self) -> Engine[Floats, Scores] | None:
        """Scores a unit vector, (dimension,) float32; None without vectors."""
        ...

    @property
    def encoder(self) -> Encoder | None:
        """The encoder of `dense`."""
        ...

    @property
    def unvectored(self) -> Mask | None:
        """Rows without a vector; None when all have one, or when there is no `dense`. They score 0 and never rank."""
        ...

    def frequencies(self, terms: Iterable[str], view: RowSet) -> tuple[int, Mapping[str, int]]:
        """How many tools the view has, and how many of them have each term."""
        ...

    def everyone(self) -> RowSet:
        """All live rows."""
        ...

    def visible_to(self, groups: frozenset[str]) -> RowSet:
        """Rows that a member of the groups may see: tools without groups, or sharing one."""
        ...

    def matching(self, condition: object, view: RowSet) -> Mask:
        """Rows of the view that a filter keeps."""
        ...

    def named(self, key: str) -> Sequence[int]:
        """Rows whose name, title, alias or id has this key (see text.name_key), in catalog order."""
        ...

    def row(self, tool_id: str) -> int | None:
        """The row of a tool, None when there is none."""
        ...

    def tool(self, row: int) -> ToolSpec:
        """The tool in a row."""
        ...

    def rows(self, view: RowSet) -> Rows:
        """All rows of a view in catalog order. Walks the whole catalog: not for the path of a search."""
        ...


@dataclass(frozen=True, slots=True)
class ToolView:
    """What one caller can find: `allowed` defines its statistics, a filter's mask `kept` and `excluded` only narrow."""

    corpus: Corpus
    allowed: RowSet
    kept: Mask | None = None
    excluded: frozenset[int] = frozenset()

    def __iter__(self) -> Iterator[ToolSpec]:
        """Every tool of the view in catalog order; walks the catalog."""
        for row in self.corpus.rows(self.allowed):
            if self._within(int(row)):
                yield self.corpus.tool(int(row))

    def get(self, tool_id: str) -> ToolSpec | None:
        """The tool with this id, None when this caller cannot find it."""
        row = self.corpus.row(tool_id)
        return self.corpus.tool(row) if row is not None and self.holds(row) else None

    def holds(self, row: int) -> bool:
        """Whether a row may be returned: the caller may see it, and neither filter nor exclusion leaves it out."""
        return self.allows(row) and self._within(row)

    def allows(self, row: int) -> bool:
        """Whether the caller may see a row."""
        return self.allowed.mask is None or bool(self.allowed.mask[row])

    def _within(self, row: int) -> bool:
        return row not in self.excluded and (self.kept is None or bool(self.kept[row]))


@dataclass(frozen=True, slots=True)
class Reason:
    """One part of a hit's score. The `points` of a hit's reasons add up to its score.

    `kind` is exact, words, similarity, clause, question, need or decision; `detail` says which field, words or what
    was asked.
    """

    kind: str
    points: float
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One tool found: larger scores are better; `need` is the place in `SearchResult.needs` of what it serves best."""

    tool: ToolSpec
    score: float
    reasons: tuple[Reason, ...] = ()
    need: int = 0

    @property
    def id(self) -> str:
        """The tool's id."""
        return self.tool.id


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits best first. An empty list is an answer: nothing fits.

    `confidence` is from 0 to 1, None when nothing is known. As it is, it estimates roughly that the best hit is right
    (a judge's highest probability, if one is asked): to compare requests on one catalog. Calibrated, it is
    the chance that the catalog has a tool at all, as if half of all requests had one. `band` may be shown,
    from none (nothing fits) to high; `shortfall` counts unfilled places; `notes` tell more. `Hit.need` counts `needs`.
    """

    hits: tuple[Hit, ...] = ()
    confidence: float | None = None
    band: str = "none"
    shortfall: int = 0
    generation: int = 0
    notes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, position: int) -> Hit:
        return self.hits[position]

    @property
    def ids(self) -> list[str]:
        """Ids of the hits, best first."""
        return [hit.id for hit in self.hits]


class Retriever(Protocol):
    """Finds tools. What the command line, the service, preselection, reranking and the benchmark use."""

    def search(self, needs: Sequence[str], view: ToolView, k: int) -> SearchResult:
        """At most k tools of the view for the needs, best first; InvalidInput for k below 1 or no need."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSearchRequest:
    """A model's call of a search tool.

    `arguments` is what the model wrote, raw. `searchable` is what it may find, `visible` what it sees already.
    """

    tool_name: str
    arguments: str
    searchable: ToolView
    visible: Sequence[ToolSpec] = ()
    context: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSearchResult:
    """The answer to a search call: ids in the order found, and the text that the model reads."""

    found: tuple[str, ...]
    text: str
    attributes: Json = field(default_factory=dict[str, Any])


class ToolSearchStrategy(Protocol):
    """What the model can call to search, and how its call is answered."""

    def search_tools(self, context: Any = None) -> Sequence[ToolSpec]:
        """The search tools to show, at least one. Asked once per run."""
        ...

    async def search(self, request: ToolSearchRequest) -> ToolSearchResult:
        """Answer one call.

        Raises:
            ToolExecutionError: the call cannot be answered; the text is for the model.
        """
        ...
