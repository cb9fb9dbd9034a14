"""Idempotency: a change that is sent twice under one key happens once, and is answered the same."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolsearch.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolsearch.server.callers import Caller
    from toolsearch.server.state import StateFile

KEPT: Final = 86_400.0
"""Seconds that an answer is kept."""
ABANDONED: Final = 600.0
"""Seconds after which a change without an answer counts as never begun: its worker has died."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer's body, and whether it was given before."""

    body: bytes
    again: bool = False


class Replies:
    """Answers to changes, by caller and the token that it gave."""

    def __init__(self, state: StateFile) -> None:
        self._state = state

    def once(self, caller: Caller, token: str | None, sent: bytes, work: Callable[[], bytes]) -> Reply:
        """Do the work, unless its answer is known; without a token always.

        Raises:
            Problem: the token stands for another body, or the work is under way.
        """
        if token is None:
            return Reply(work())
        known = self._begun(caller, token, hashlib.sha256(sent).hexdigest())
        if known is not None:
            return Reply(known, again=True)
        try:
            body = work()
        except BaseException:
            self._state.read("DELETE FROM replies WHERE key = ? AND token = ?", (caller.name, token))
            raise
        values = (body, caller.name, token)
        self._state.read("UPDATE replies SET status = 200, body = ? WHERE key = ? AND token = ?", values)
        return Reply(body)

    def _begun(self, caller: Caller, token: str, digest: str) -> bytes | None:
        """The answer if there is one; None when the work is now ours."""
        now = time.time()
        with self._state.writing() as transaction:
            transaction.execute(
                "DELETE FROM replies WHERE at < ? OR (status IS NULL AND at < ?)", (now - KEPT, now - ABANDONED)
            )
            row = transaction.execute(
                "SELECT digest, status, body FROM replies WHERE key = ? AND token = ?", (caller.name, token)
            ).fetchone()
            if row is None:
                values = (caller.name, token, digest, None, None, now)
                transaction.execute("INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?)", values)
                return None
        if row[0] != digest:
            raise Problem(422, f"the Idempotency-Key {token[:80]!r} was used for another body; make a new one")
        if row[1] is None:
            raise Problem(409, "the same change is under way", {"Retry-After": "1"})
        return row[2]
