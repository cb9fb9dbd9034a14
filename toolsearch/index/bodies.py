"""What a build asks the truth about bodies: are they here, how long are they, which line gave them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolsearch.index.store import Store


def lines(store: Store, digests: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Those lines that were read before and whose body is here: digest -> id, hash of the body, origin."""
    statement = (
        "SELECT l.line, l.tool, l.body, l.origin FROM json_each(?) j CROSS JOIN lines l ON l.line = j.value "
        "CROSS JOIN bodies b ON b.hash = l.body"
    )
    found = store.read(statement, (json.dumps(digests),))
    return {str(line): (str(tool), str(body), str(origin)) for line, tool, body, origin in found}


def lengths(store: Store, hashes: Sequence[str]) -> list[tuple[int, str]]:
    """Length of the JSON of each body that is here, with its hash."""
    statement = "SELECT length(b.body), b.hash FROM json_each(?) j CROSS JOIN bodies b ON b.hash = j.value"
    return [(cast("int", size), str(own)) for size, own in store.read(statement, (json.dumps(hashes),))]


def unencoded(store: Store, encoder: str) -> list[tuple[int, str]]:
    """Length of the JSON, and hash, of each body whose text has no vector of an encoder."""
    # In the order of the texts, so that both tables are read from one end to the other.
    statement = (
        "SELECT length(b.body), b.hash FROM bodies b INDEXED BY texts "
        "WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.encoder = ? AND v.text = b.text) ORDER BY b.text"
    )
    return [(cast("int", size), str(own)) for size, own in store.read(statement, (encoder,))]


def by_hash(store: Store, hashes: Sequence[str]) -> list[tuple[str, str]]:
    """Hash of the encoder's text, and JSON, of each body that is here."""
    statement = "SELECT b.text, b.body FROM json_each(?) j CROSS JOIN bodies b ON b.hash = j.value"
    return [(str(text), str(body)) for text, body in store.read(statement, (json.dumps(hashes),))]
