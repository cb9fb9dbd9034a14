"""How far a build is, for whoever waits for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a build is: stage is read, encode, analyse, train or write; done of total things, 0 when unknown."""

    stage: str
    done: int
    total: int


def silent(_: Progress) -> None:
    """Say nothing."""
