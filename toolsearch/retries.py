"""Whether and when to ask a server again: one rule for every client."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

AGAIN: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which asking again may help."""
NEVER: Final = frozenset({501, 505, 511})
"""Statuses from 500 on that asking again does not mend."""


def may_heal(status: int) -> bool:
    """Whether asking again may help after this HTTP status."""
    return status in AGAIN or (status >= 500 and status not in NEVER)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait for, 0 or more; None when it does not say.

    Reads `retry-after-ms` and `retry-after` as seconds or as a date (RFC 9110, section 10.2.3). The names are looked
    up in lower case; HTTP libraries' headers take any.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        said = headers.get(name, "")
        try:
            seconds = float(said) * unit
        except ValueError:
            seconds = _until(said) if name == "retry-after" else math.nan
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _until(date: str) -> float:
    """Seconds from now to an HTTP date; NaN when it is none."""
    try:
        return parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return math.nan
