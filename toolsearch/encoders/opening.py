"""From an encoder's name to the encoder."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder

ENCODERS: Final = {
    "builtin": "toolsearch.encoders.builtin:BuiltinEncoder",
}
"""Names that stand alone."""


def open_encoder(name: str) -> Encoder:
    """The encoder that a name stands for. Loads no model: that happens at the first text.

    Raises:
        InvalidInput: there is no such encoder.
    """
    place = ENCODERS.get(name)
    if place is None:
        raise InvalidInput(f"there is no encoder {name[:200]!r}; known are {', '.join(ENCODERS)}")
    module, _, attribute = place.partition(":")
    return cast("Encoder", getattr(import_module(module), attribute)())
