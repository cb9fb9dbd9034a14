"""What lies in an index's folder, and where.

NAME/index.toml            the definition, written by people
NAME/.restoring            held by the process that restores a copy here; names its folders
NAME/data/truth.sqlite     tools, generations, vectors: the truth
NAME/data/build.lock       held by the process that builds; names it
NAME/data/segments/GEN-*/  arrays derived from the truth at generation GEN, with a manifest
NAME/data/leases/GEN-*     held by readers of generation GEN
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = 1
"""Version of the truth's tables and of the derived arrays."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one index."""

    root: Path

    @property
    def definition(self) -> Path:
        """What the index is made from."""
        return self.root / "index.toml"

    @property
    def restoring(self) -> Path:
        """Names the folders of a restore, and is there until it has ended."""
        return self.root / ".restoring"

    @property
    def data(self) -> Path:
        """What is built."""
        return self.root / "data"

    @property
    def truth(self) -> Path:
        """The database."""
        return self.data / "truth.sqlite"

    @property
    def lock(self) -> Path:
        """Held while building."""
        return self.data / "build.lock"

    @property
    def segments(self) -> Path:
        """Derived arrays, one folder a generation."""
        return self.data / "segments"

    @property
    def leases(self) -> Path:
        """Generations that readers hold."""
        return self.data / "leases"

    @property
    def mend(self) -> str:
        """The command that mends what can be mended."""
        return f"toolsearch index build {self.root}"
