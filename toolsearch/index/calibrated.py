"""The calibration beside an index's definition: used when it fits, named when it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolsearch.encoders.adapted import request_id
from toolsearch.errors import InvalidSource
from toolsearch.strategies.calibration import FILE, Calibration

if TYPE_CHECKING:
    from toolsearch.index.opening import Parts

CHANGED: Final = 0.2
"""Share by which the number of tools may differ before a calibration is called old."""


def calibration_of(parts: Parts, tools: int) -> tuple[Calibration | None, tuple[str, ...]]:
    """The calibration of an index that has so many tools now, and what to say of it."""
    path = None if parts.layout is None else parts.layout.root / FILE
    if path is None or not path.is_file():
        return None, ()
    way_out = f"make it anew with: toolsearch calibrate -i {path.parent} --queries FILE"
    try:
        found = Calibration.read(path)
    except InvalidSource as error:
        return None, (f"{error!s:.200}",)
    encoder = request_id(parts.encoder) if parts.encoder else ""
    if found.encoder != encoder:
        return None, (f"{FILE} was made with another encoder or adaptation and is not used; {way_out}",)
    if abs(tools - found.tools) > CHANGED * max(1, found.tools):
        return found, (f"{FILE} was made for {found.tools} tools, there are {tools}; {way_out}",)
    return found, ()
