"""What terms add to the rows they occur in, kept for the terms that were asked for last.

Requests share words: what "file" adds to each of its rows is the same for all of them, and working it out costs as much
as adding it up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolsearch.engines.views import Recent

if TYPE_CHECKING:
    from toolsearch.protocols import Floats

MOST: Final = 8_000_000
"""Numbers that are kept, 4 bytes each."""
LEAST: Final = 2_048
"""As so many numbers each term counts at least, so that rare ones do not fill memory with what lies around them."""


def kept_points(most: int = MOST) -> Recent[Floats]:
    """Arrays of numbers by key, `most` numbers in all."""
    return Recent(most, lambda found: max(len(found), LEAST))
