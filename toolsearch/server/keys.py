"""API keys: random, shown once, kept as hashes."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from toolsearch.errors import InvalidInput
from toolsearch.server.callers import Caller, Role

if TYPE_CHECKING:
    from toolsearch.server.state import StateFile

MARK: Final = "tsk"
MAX_NAME: Final = 100
MAX_GROUPS: Final = 100
MAX_TOKEN: Final = 200
COLUMNS: Final = "id, name, digest, role, groups, created, expires, revoked"
NOBODY: Final = bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key as it is kept. Times are seconds since 1970; `groups` None sees every tool."""

    id: str
    name: str
    digest: bytes
    role: Role
    groups: frozenset[str] | None
    created: float
    expires: float | None
    revoked: float | None

    def good(self, now: float) -> bool:
        """Whether it may be used."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    @property
    def caller(self) -> Caller:
        """Whoever holds it."""
        return Caller(key=self.id, role=self.role, groups=self.groups)


class Keys:
    """The keys of a service. Hashes are plain SHA-256, for secrets have 256 random bits and cannot be guessed."""

    def __init__(self, state: StateFile) -> None:
        self._state = state
        self._moved = -1
        self._known: dict[str, Key] = {}

    def create(self, name: str, role: Role, groups: Iterable[str] | None, days: float | None = None) -> tuple[Key, str]:
        """A new key, and the token to hand to its holder: it cannot be shown again.

        Raises:
            InvalidInput: the name, the groups or the days are not acceptable, or a key that works has the name.
        """
        chosen = None if groups is None else frozenset(groups)
        _check(name, role, chosen, days)
        made, secret, now = secrets.token_hex(6), secrets.token_urlsafe(32), time.time()
        expires = None if days is None else now + 86_400 * days
        listed = None if chosen is None else json.dumps(sorted(chosen))
        values = (made, name, _digest(secret), role.value, listed, now, expires, None)
        with self._state.writing() as transaction:
            if self._good(name):
                raise InvalidInput(f"there is a key {name!r:.120} that works; revoke it, or choose another name")
            transaction.execute(f"INSERT INTO keys ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)  # noqa: S608
        return self._row(values), f"{MARK}_{made}_{secret}"

    def revoke(self, key: str) -> Key:
        """Make a key useless, named by its id or its name.

        Raises:
            InvalidInput: no key of this id or name works, or several of the name do.
        """
        found = [one for one in self.list() if one.revoked is None and one.id == key] or self._good(key)
        if not found:
            raise InvalidInput(f"there is no key {key[:80]!r} that works; see: toolsearch keys list")
        if len(found) > 1:
            raise InvalidInput(
                f"{len(found)} keys are called {key[:80]!r}: {', '.join(one.id for one in found)}; say which"
            )
        self._state.read("UPDATE keys SET revoked = ? WHERE id = ?", (time.time(), found[0].id))
        self._moved = -1
        return found[0]

    def _good(self, name: str) -> list[Key]:
        """The keys of a name that work."""
        now = time.time()
        return [one for one in self.list() if one.name == name and one.good(now)]

    def list(self) -> list[Key]:
        """All keys that were ever made, oldest first."""
        rows = self._state.read(f"SELECT {COLUMNS} FROM keys ORDER BY created, id")  # noqa: S608 - constant
        return [self._row(row) for row in rows]

    def any_works(self) -> bool:
        """Whether somebody can enter with a key."""
        now = time.time()
        return any(one.good(now) for one in self.list())

    def refresh(self) -> None:
        """Take in keys that this or another process made or revoked."""
        moved = self._state.moved()
        if moved != self._moved:
            self._known = {key.id: key for key in self.list()}
            self._moved = moved

    def find(self, token: str) -> Caller | None:
        """The holder of a token, as of the last refresh. Takes the same steps for a wrong secret as for no such key."""
        mark, _, rest = token[:MAX_TOKEN].partition("_")
        made, _, secret = rest.partition("_")
        key = self._known.get(made)
        same = hmac.compare_digest(_digest(secret), key.digest if key else NOBODY)
        return key.caller if key and same and mark == MARK and key.good(time.time()) else None

    @property
    def needed(self) -> bool:
        """Whether a key is needed, as of the last refresh."""
        return bool(self._known)

    def _row(self, row: tuple[Any, ...]) -> Key:
        made, name, digest, role, groups, created, expires, revoked = row
        return Key(
            id=made,
            name=name,
            digest=digest,
            role=Role(role),
            groups=None if groups is None else frozenset(json.loads(groups)),
            created=created,
            expires=expires,
            revoked=revoked,
        )


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _check(name: str, role: Role, groups: frozenset[str] | None, days: float | None) -> None:
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidInput(f"a key needs a name of at most {MAX_NAME} printable characters, not {name!r:.120}")
    if days is not None and not 0 < days <= 36_500:
        raise InvalidInput(f"a key lasts more than 0 and at most 36500 days, not {days}")
    if groups is None:
        return
    if role is not Role.SEARCH:
        raise InvalidInput(
            f"a key of the role {role.value!r} sees the whole catalog, so it takes no groups: whoever writes a tool "
            "would learn whether one of its id is there"
        )
    if len(groups) > MAX_GROUPS or not all(0 < len(group) <= MAX_NAME for group in groups):
        raise InvalidInput(f"a key has at most {MAX_GROUPS} groups of 1 to {MAX_NAME} characters")
