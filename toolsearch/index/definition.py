"""An index's definition: what it is made from, as people write it in `index.toml`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from toolsearch.catalog.running import Service, services_of
from toolsearch.errors import InvalidSource
from toolsearch.toml_files import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE: Final = "index.toml"
MAX_BYTES: Final = 1_000_000
KINDS: Final = {str: "text", list: "a list of texts", dict: "a table"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """`sources` are files, folders, patterns or `module:name`, relative to `folder`.

    `encoder` names the encoder ("" for words only), `strategy` the usual one. `python` lists the Python files or
    modules from which executors may be imported: a tool's source alone never makes anything run. `http` says where
    the operations of a namespace are called.
    """

    name: str
    sources: tuple[str, ...] = ()
    encoder: str = "builtin"
    strategy: str = "hybrid"
    python: tuple[str, ...] = ()
    http: Mapping[str, Service] = field(default_factory=dict[str, Service])
    folder: Path = Path()

    @classmethod
    def read(cls, path: str | Path) -> Definition:
        """The definition in a file, or in the folder of an index.

        Raises:
            InvalidSource: it is missing, no TOML, or has fields that are unknown or of the wrong type.
        """
        file = Path(path) / FILE if Path(path).is_dir() else Path(path)
        body = read_toml(file, "definition", MAX_BYTES)
        known = {"name": str, "sources": list, "encoder": str, "strategy": str, "python": list, "http": dict}
        for key, value in body.items():
            if key not in known:
                raise InvalidSource(f"{file}: unknown key {key[:80]!r}; use {', '.join(known)}")
            listed = cast("list[object]", value) if isinstance(value, list) else []
            if not isinstance(value, known[key]) or not all(isinstance(item, str) for item in listed):
                kind = KINDS[known[key]]
                raise InvalidSource(f"{file}: {key} must be {kind}, not {value!r:.80}")
        folder = file.resolve().parent
        http = services_of(body.get("http", {}), str(file))
        values: dict[str, Any] = {"name": folder.name, **body, **_listed(body), "http": http, "folder": folder}
        return cls(**values)

    def resolved(self) -> Iterator[str | Path]:
        """Each source as a path that exists or as it is written; patterns in order of names.

        Raises:
            InvalidSource: a pattern matches nothing.
        """
        for source in self.sources:
            if any(sign in source for sign in "*?["):
                found = sorted(self.folder.glob(source))
                if not found:
                    raise InvalidSource(f"no file matches the source {source!r} below {self.folder}")
                yield from found
            else:
                path = self.folder / source
                yield path if path.exists() or "/" in source or ":" not in source else source


def _listed(body: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(body[key]) for key in ("sources", "python") if key in body}
