"""Who asks, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """What a key may do; each role may do what those before it may."""

    SEARCH = "search"
    WRITE = "write"
    ADMIN = "admin"

    def covers(self, wanted: Role) -> bool:
        """Whether this role may do what another one may."""
        order = list(Role)
        return order.index(self) >= order.index(wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever sent a request. `groups` None sees every tool; `key` None stands for nobody in particular."""

    key: str | None
    role: Role
    groups: frozenset[str] | None

    @property
    def sees_all(self) -> bool:
        """Whether nothing in the catalog is hidden from it."""
        return self.groups is None

    @property
    def name(self) -> str:
        """What its records are kept under."""
        return self.key or ""


OWNER: Final = Caller(key=None, role=Role.ADMIN, groups=None)
"""Whoever reaches a service that has no keys: it listens on loopback only."""
