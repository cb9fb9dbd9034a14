"""The adaptation beside an index's definition: used when it fits the encoder, named when it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolsearch.encoders.adapted import FILE, Adaptation, AdaptedEncoder
from toolsearch.errors import InvalidSource

if TYPE_CHECKING:
    from toolsearch.index.layout import Layout
    from toolsearch.protocols import Encoder


def adapted(encoder: Encoder, layout: Layout) -> tuple[Encoder, tuple[str, ...]]:
    """The encoder with the adaptation of an index's folder, or as it is with the reason."""
    path = layout.root / FILE
    if not path.is_file():
        return encoder, ()
    try:
        found = Adaptation.read(path)
    except InvalidSource as error:
        return encoder, (f"{error!s:.200}",)
    if found.encoder != encoder.id or len(found.change) != encoder.dimension:
        way_out = f"fit it anew with: toolsearch train --from-log FILE -i {layout.root}"
        return encoder, (f"{FILE} was made with another encoder and is not used; {way_out}",)
    return AdaptedEncoder(encoder, found), ()
