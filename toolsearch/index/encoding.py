"""Vectors for the truth: only texts without one are encoded, and every batch is kept as soon as it is there."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from toolsearch.index import bodies
from toolsearch.index.changes import Encoded, keep_vectors
from toolsearch.index.progress import Progress, silent
from toolsearch.strategies.vectors import checked
from toolsearch.text import encoder_text
from toolsearch.tool import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from toolsearch.index.changes import Prepared, Staged
    from toolsearch.index.store import Store
    from toolsearch.protocols import Encoder, Floats

    Batch = list[tuple[str, str]]

BATCH: Final = 128
"""Texts encoded and kept at a time: what a kill costs at most, for each job."""
AHEAD: Final = 2
"""Batches for each job that wait or run."""


def encode_missing(store: Store, encoder: Encoder, tools: Sequence[Prepared]) -> dict[str, Floats]:
    """Encode the texts of tools that have no vector yet, shortest first; gives their vectors by hash of the text.

    They must be written together with the tools, for until then nothing in the truth needs them and whoever collects
    deletes them. Only when they are many is every batch kept at once, so that a kill does not cost all.

    Raises:
        EncoderFailed: the encoder failed.
    """
    done = store.vectored(encoder.id, [one.hash for one in tools])
    texts = {one.text_hash: one.text for one in tools if one.hash not in done}
    for known in store.encoded(encoder.id, list(texts)):
        del texts[known]
    waiting = sorted(texts.items(), key=lambda pair: len(pair[1]))
    found: dict[str, Floats] = {}
    for start in range(0, len(waiting), BATCH):
        batch = waiting[start : start + BATCH]
        vectors = _vectors(encoder, batch)
        if len(waiting) > BATCH:
            _keep(store, encoder, batch, vectors)
        found |= {key: vectors[place] for place, (key, _) in enumerate(batch)}
    return found


def encode_staged(
    store: Store,
    encoder: Encoder,
    tools: Sequence[Staged],
    progress: Callable[[Progress], None] = silent,
    jobs: int = 1,
) -> int:
    """The same for tools whose bodies are in the truth, `jobs` batches at a time; gives how many were encoded.

    Raises:
        EncoderFailed: the encoder failed; what it had done is kept.
    """
    waiting = _waiting(store, encoder.id, tools)
    done = 0
    for batch, vectors in _encoded(encoder, _batches(store, encoder.id, waiting), jobs):
        _keep(store, encoder, batch, vectors)
        done += len(batch)
        progress(Progress(stage="encode", done=done, total=len(waiting)))
    return done


def _encoded(encoder: Encoder, batches: Iterable[Batch], jobs: int) -> Iterator[tuple[Batch, Floats]]:
    """Batches with their vectors, in order. One job needs no thread of its own, and Ctrl-C ends it at once."""
    if jobs == 1:
        yield from ((batch, _vectors(encoder, batch)) for batch in batches)
        return
    running: deque[tuple[Batch, Future[Floats]]] = deque()
    with ThreadPoolExecutor(jobs, "encode") as pool:
        try:
            for batch in batches:
                running.append((batch, pool.submit(_vectors, encoder, batch)))
                if len(running) >= AHEAD * jobs:
                    done, vectors = running.popleft()
                    yield done, vectors.result()
            yield from ((done, vectors.result()) for done, vectors in running)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _keep(store: Store, encoder: Encoder, batch: Batch, vectors: Floats) -> None:
    found = {key: vectors[place] for place, (key, _) in enumerate(batch)}
    with store.writing() as transaction:
        keep_vectors(transaction, Encoded(encoder.id, found))


def _vectors(encoder: Encoder, batch: Batch) -> Floats:
    return checked(encoder, [words for _, words in batch])


def _waiting(store: Store, encoder: str, tools: Sequence[Staged]) -> list[str]:
    """Hashes of bodies whose text has no vector, shortest first."""
    lacking = bodies.unencoded(store, encoder)
    wanted = {one.hash for one in tools} if lacking else set[str]()
    return [own for _, own in sorted(pair for pair in lacking if pair[1] in wanted)]


def _batches(store: Store, encoder: str, waiting: Sequence[str]) -> Iterator[Batch]:
    """Texts in batches, by length within a block; a text that several tools have once."""
    seen: set[str] = set()
    for start in range(0, len(waiting), BATCH * 8):
        found = bodies.by_hash(store, waiting[start : start + BATCH * 8])
        texts = {key: encoder_text(ToolSpec.from_json(body)) for key, body in found if key not in seen}
        seen.update(texts)
        for known in store.encoded(encoder, list(texts)):
            del texts[known]
        ordered = sorted(texts.items(), key=lambda pair: len(pair[1]))
        yield from (ordered[first : first + BATCH] for first in range(0, len(ordered), BATCH))
