"""Reading what an embeddings endpoint answers. Nothing in it is trusted."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, Final, cast

from toolsearch.errors import EncoderFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_DIMENSION: Final = 16_384
BYTES_A_NUMBER: Final = 32
"""More than a number takes in JSON."""


def largest_answer(texts: int, dimension: int | None) -> int:
    """Bytes that an honest answer for so many texts stays below."""
    return 100_000 + texts * (1_000 + BYTES_A_NUMBER * (dimension or MAX_DIMENSION))


def rows_of(answer: object, texts: int) -> NDArray[np.float32]:
    """The vectors of an answer in the order of the texts, (texts, dimension) float32, not yet normalised.

    Raises:
        EncoderFailed: not one vector for each text, all of one length, made of numbers.
    """
    import numpy as np

    data = cast("dict[str, object]", answer).get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        raise EncoderFailed("the answer has no list 'data' of vectors")
    items = cast("list[object]", data)
    if len(items) != texts:
        raise EncoderFailed(f"the answer holds {len(items)} vectors for {texts} texts")
    rows: dict[int, NDArray[np.float32]] = {}
    for position, item in enumerate(items):
        if not isinstance(item, dict):
            raise EncoderFailed(f"vector {position} of the answer is not an object")
        one = cast("dict[str, object]", item)
        index = one.get("index", position)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < texts or index in rows:
            raise EncoderFailed(f"vector {position} of the answer has the index {index!r:.80}, wrong or used before")
        rows[index] = _vector(one.get("embedding"), position)
    lengths = sorted({len(row) for row in rows.values()})
    if len(lengths) != 1 or not 1 <= lengths[0] <= MAX_DIMENSION:
        raise EncoderFailed(f"the answer holds vectors of {str(lengths)[:80]} numbers; they must be alike, 1 to 16384")
    return np.stack([rows[index] for index in range(texts)])


def _vector(value: object, position: int) -> NDArray[np.float32]:
    """A list of numbers, or little-endian float32 in base64."""
    import numpy as np

    if isinstance(value, str):
        try:
            return np.frombuffer(base64.b64decode(value, validate=True), "<f4")
        except (binascii.Error, ValueError):
            raise EncoderFailed(f"vector {position} of the answer is not base64 of float32") from None
    if not isinstance(value, list) or not all(_number(item) for item in cast("list[Any]", value)):
        raise EncoderFailed(f"vector {position} of the answer is not a list of numbers: {value!r:.80}")
    with np.errstate(over="ignore"):
        return np.array(value, np.float64).astype(np.float32)


def _number(item: object) -> bool:
    return isinstance(item, float) or (isinstance(item, int) and not isinstance(item, bool) and abs(item) < 1 << 64)
