"""Names for operations: their operationId, or else method and path in words."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an operation stands, and the id that the document gives it."""

    method: str
    path: str
    operation_id: str = ""

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"


def operation_names(places: Iterable[Place]) -> dict[Place, str]:
    """A name for each operation; adding an operation changes no other name, unless both would be called the same.

    Then all of them end in the beginning of a hash of method and path, which does not depend on their number.
    """
    listed = list(places)
    plain = {place: identifier(place.operation_id) or path_name(place) for place in listed}
    by_id = Counter(plain.values())
    named = {place: name if by_id[name] == 1 else path_name(place) for place, name in plain.items()}
    count = Counter(named.values())
    return {place: name if count[name] == 1 else f"{name}_{_digest(place)}" for place, name in named.items()}


def path_name(place: Place) -> str:
    """`get /api/maps/{map_id}/sheets` as `get_api_maps_by_map_id_sheets`."""
    words = re.sub(r"\{([^}]*)\}", r"by_\1", place.path)
    return identifier(f"{place.method}_{words}")


def identifier(text: str) -> str:
    """Letters, digits, underscores and hyphens of a text, the rest as underscores."""
    return re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_-]+", "_", text)).strip("_-")


def _digest(place: Place) -> str:
    return hashlib.sha256(str(place).encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
