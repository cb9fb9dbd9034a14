"""Vectors for the truth: only texts without one are encoded, and every batch is kept as soon as it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolsearch.strategies.vectors import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolsearch.index.changes import Prepared
    from toolsearch.index.store import Store
    from toolsearch.protocols import Encoder

BATCH: Final = 128
"""Texts encoded and kept at a time: what a kill costs at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a build is: stage is read, encode or write; done of total things."""

    stage: str
    done: int
    total: int


def silent(_: Progress) -> None:
    """Say nothing."""


def encode_missing(
    store: Store, encoder: Encoder, tools: Sequence[Prepared], progress: Callable[[Progress], None] = silent
) -> int:
    """Encode the texts of tools that have no vector yet, shortest first; gives how many were encoded.

    Raises:
        EncoderFailed: the encoder failed; what it had done is kept.
    """
    done = store.vectored(encoder.id, [one.hash for one in tools])
    texts = {one.text_hash: one.text for one in tools if one.hash not in done}
    for known in store.encoded(encoder.id, list(texts)):
        del texts[known]
    waiting = sorted(texts.items(), key=lambda pair: len(pair[1]))
    for start in range(0, len(waiting), BATCH):
        batch = waiting[start : start + BATCH]
        vectors = checked(encoder, [words for _, words in batch])
        store.keep_vectors(encoder.id, {key: vectors[place] for place, (key, _) in enumerate(batch)})
        progress(Progress(stage="encode", done=start + len(batch), total=len(waiting)))
    return len(waiting)
