"""An ad-hoc list of tools is a small catalog; the last ones used are kept, by content."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from toolsearch.encoders.adapted import request_id
from toolsearch.strategies.corpus import MemoryCorpus

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from toolsearch.protocols import Encoder
    from toolsearch.tool import ToolSpec

MAX_CORPORA: Final = 16
MAX_TOOLS: Final = 20_000
"""Tools in all kept corpora together; a longer list is built anew each time."""


@dataclass(slots=True, eq=False)
class _Kept:
    specs: tuple[ToolSpec, ...]
    encoder: str | None
    building: threading.Lock = field(default_factory=threading.Lock)
    corpus: MemoryCorpus | None = None

    def same_objects(self, specs: Sequence[ToolSpec], encoder: str | None) -> bool:
        """Whether these are the very same frozen tools, which is quicker to see than equal content."""
        equal = self.encoder == encoder and len(self.specs) == len(specs)
        return equal and all(mine is given for mine, given in zip(self.specs, specs, strict=True))


class SmallCorpora:
    """Corpora of lists of tools, least recently used out first. Equal requests at one time share one build."""

    def __init__(self, corpora: int = MAX_CORPORA, tools: int = MAX_TOOLS) -> None:
        self._corpora, self._tools = corpora, tools
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, specs: Sequence[ToolSpec], encoder: Encoder | None) -> MemoryCorpus:
        """The corpus of these tools in this order.

        Raises:
            EncoderFailed: the tools could not be encoded; the next call tries again.
        """
        one = self._entry(specs, None if encoder is None else request_id(encoder))
        with one.building:
            if one.corpus is None:
                one.corpus = MemoryCorpus.build(one.specs, encoder)
            return one.corpus

    def __len__(self) -> int:
        return len(self._kept)

    def _entry(self, specs: Sequence[ToolSpec], encoder: str | None) -> _Kept:
        with self._lock:
            known = [key for key, one in self._kept.items() if one.same_objects(specs, encoder)]
        key = known[0] if known else (encoder, *(spec.content_hash for spec in specs))
        with self._lock:
            one = self._kept.setdefault(key, _Kept(tuple(specs), encoder))
            self._kept.move_to_end(key)
            while self._kept and self._too_much():
                self._kept.popitem(last=False)
        return one

    def _too_much(self) -> bool:
        return len(self._kept) > self._corpora or sum(len(one.specs) for one in self._kept.values()) > self._tools


_SHARED: Final = SmallCorpora()


def small_corpus(specs: Sequence[ToolSpec], encoder: Encoder | None = None) -> MemoryCorpus:
    """An ad-hoc list of tools as a corpus, taken from a bounded cache when the same list was used lately.

    Raises:
        EncoderFailed: the tools could not be encoded.
    """
    return _SHARED.get(specs, encoder)
