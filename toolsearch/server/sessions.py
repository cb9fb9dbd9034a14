"""Sessions: for a while, what one agent has found. Tools are only added, until it is reset."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolsearch.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolsearch.server.callers import Caller
    from toolsearch.server.state import StateFile

MAX_SESSIONS: Final = 10_000
"""Of one key."""
MAX_FOUND: Final = 2_000
ADD: Final = """
INSERT OR IGNORE INTO found SELECT :session, 1 + coalesce(max(place), 0), :tool FROM found WHERE session = :session"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of one key in one index; `found` in the order found, `expires` in seconds since 1970."""

    id: str
    index: str
    found: tuple[str, ...]
    expires: float


class Sessions:
    """All sessions. Each is known to the key that opened it and to nobody else."""

    def __init__(self, state: StateFile, seconds: float) -> None:
        self._state, self._seconds = state, seconds

    def open(self, caller: Caller, index: str) -> Session:
        """A new session; what has expired goes.

        Raises:
            Problem: the key has too many.
        """
        now = time.time()
        made = Session(id=secrets.token_urlsafe(18), index=index, found=(), expires=now + self._seconds)
        with self._state.writing() as transaction:
            gone = "SELECT id FROM sessions WHERE expires <= ?"
            transaction.execute(f"DELETE FROM found WHERE session IN ({gone})", (now,))  # noqa: S608 - constant
            transaction.execute("DELETE FROM sessions WHERE expires <= ?", (now,))
            [count] = transaction.execute("SELECT count(*) FROM sessions WHERE key = ?", (caller.name,)).fetchone()
            if count >= MAX_SESSIONS:
                raise Problem(429, f"a key has at most {MAX_SESSIONS} sessions; close some", {"Retry-After": "60"})
            transaction.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", (made.id, caller.name, index, made.expires))
        return made

    def get(self, session: str, caller: Caller) -> Session:
        """A session of this caller.

        Raises:
            Problem: there is none, or it has expired.
        """
        rows = self._state.read(
            "SELECT name, expires FROM sessions WHERE id = ? AND key = ? AND expires > ?",
            (session, caller.name, time.time()),
        )
        if not rows:
            raise Problem(404, "there is no such session, or it has expired; open a new one")
        found = self._state.read("SELECT tool FROM found WHERE session = ? ORDER BY place", (session,))
        return Session(id=session, index=rows[0][0], found=tuple(tool for (tool,) in found), expires=rows[0][1])

    def add(self, session: Session, tools: Sequence[str]) -> None:
        """Note what was found, and let the session live on.

        Raises:
            Problem: it has found too much.
        """
        fresh = [tool for tool in tools if tool not in session.found]
        if len(session.found) + len(fresh) > MAX_FOUND:
            raise Problem(409, f"a session holds at most {MAX_FOUND} tools; reset it")
        with self._state.writing() as transaction:
            transaction.executemany(ADD, [{"session": session.id, "tool": tool} for tool in fresh])
            later = (time.time() + self._seconds, session.id)
            transaction.execute("UPDATE sessions SET expires = ? WHERE id = ?", later)

    def reset(self, session: Session) -> None:
        """Forget what was found."""
        self._state.read("DELETE FROM found WHERE session = ?", (session.id,))

    def close(self, session: Session) -> None:
        """Forget the session."""
        with self._state.writing() as transaction:
            transaction.execute("DELETE FROM found WHERE session = ?", (session.id,))
            transaction.execute("DELETE FROM sessions WHERE id = ?", (session.id,))
