"""From an encoder's name to the encoder."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from toolsearch.errors import InvalidInput

if TYPE_CHECKING:
    from toolsearch.protocols import Encoder

ENCODERS: Final = {
    "builtin": "toolsearch.encoders.builtin:BuiltinEncoder",
    "multilingual": "toolsearch.encoders.multilingual:MultilingualEncoder",
    "use": "toolsearch.encoders.use:UseEncoder",
}
"""Names that stand alone."""

FAMILIES: Final = {
    "multilingual": "toolsearch.encoders.multilingual:with_map",
    "openai": "toolsearch.encoders.openai:OpenAIEncoder",
    "st": "toolsearch.encoders.transformer:TransformerEncoder",
    "trained": "toolsearch.encoders.builtin:trained",
}
"""Kinds that need a model's name after a colon."""


def open_encoder(name: str) -> Encoder:
    """The encoder that a name stands for. Loads no model and asks no endpoint: that happens at the first text.

    Raises:
        InvalidInput: there is no such encoder, or what follows its kind is malformed.
        MissingExtra: it needs a package that is not installed.
    """
    kind, colon, model = name.partition(":")
    place = FAMILIES.get(kind) if colon else ENCODERS.get(name)
    if place is None:
        known = [*ENCODERS, "multilingual:FOLDER", "st:MODEL", "trained:FOLDER", "openai:https://host/v1#MODEL"]
        raise InvalidInput(f"there is no encoder {_shown(name)!r}; known are {', '.join(known)}")
    module, _, attribute = place.partition(":")
    made = getattr(import_module(module), attribute)
    return cast("Encoder", made(model) if colon else made())


def _shown(name: str) -> str:
    """A name as errors show it: without what may be a password."""
    return name[:200].rpartition("@")[2]
