"""Vectors of texts seen lately, so that a request asked again costs nothing."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder, Floats, Role

SKILLS: Final = ("languages", "knows", "for_others", "elsewhere", "request_id", "keeps")
"""What an encoder may say about itself besides the protocol; passed on as the encoder behind says it."""


class CachedEncoder:
    """Another encoder, with its last `size` vectors of some roles kept by text. May be shared between threads.

    Nothing is kept of a call that failed. An index keeps tools' vectors itself and caches requests only.

    Raises:
        InvalidInput: the size is not positive.
    """

    def __init__(self, encoder: Encoder, size: int = 4096, roles: Sequence[Role] = ("query", "tool")) -> None:
        if size < 1:
            raise InvalidInput(f"a cache must hold at least 1 vector, not {size}")
        self._encoder = encoder
        self._size = size
        self._roles = roles
        self.keeps = "query" in roles
        """Whether vectors of requests are kept, so that others may keep them too."""
        self._kept: OrderedDict[bytes, Floats] = OrderedDict()
        self._lock = Lock()

    @property
    def id(self) -> str:
        """That of the encoder behind."""
        return self._encoder.id

    @property
    def dimension(self) -> int:
        """That of the encoder behind."""
        return self._encoder.dimension

    def __getattr__(self, name: str) -> Any:
        if name in SKILLS:
            # Kept, for it is asked for several times in every search.
            found = vars(self)[name] = getattr(self._encoder, name)
            return found
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def encode(self, texts: Sequence[str], role: Role) -> Floats:
        """The same vectors as the encoder behind gives; it sees each text that is not kept once.

        Raises:
            EncoderFailed: the encoder behind failed.
        """
        import numpy as np

        if not texts or role not in self._roles:
            return self._encoder.encode(texts, role)
        keys = [_key(text, role) for text in texts]
        found = self._known(keys)
        if len(found) == len(keys):
            return np.array([found[key] for key in keys])
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        rows = dict(zip(missing, self._encoder.encode(list(missing.values()), role), strict=True))
        self._keep(rows)
        found |= rows
        return np.stack([found[key] for key in keys])

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Floats]:
        with self._lock:
            found = {key: self._kept[key] for key in keys if key in self._kept}
            for key in found:
                self._kept.move_to_end(key)
        return found

    def _keep(self, rows: dict[bytes, Floats]) -> None:
        with self._lock:
            for key, vector in list(rows.items())[-self._size :]:
                self._kept[key] = vector.copy()
                self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


def _key(text: str, role: Role) -> bytes:
    """A digest instead of the text, so that what a cache holds does not grow with the texts."""
    return hashlib.blake2b(f"{role}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
