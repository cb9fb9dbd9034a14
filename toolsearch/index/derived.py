"""Arrays on disk, derived from the truth: written beside, synced, renamed, and never changed in place."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import shutil
import uuid
from dataclasses import dataclass
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from toolsearch.engines.dense import DenseSegment
from toolsearch.errors import IndexDamaged
from toolsearch.index.copies import sync
from toolsearch.index.layout import FORMAT
from toolsearch.index.pieces import Piece
from toolsearch.index.store import Rows
from toolsearch.strategies.segment import Segment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from toolsearch.engines.postings import Arrays
    from toolsearch.index.layout import Layout

MANIFEST: Final = "manifest.json"
MAPPED: Final = ("vectors", "nearest")
"""Arrays that are mapped into memory, not read."""
TYPES: Final = {
    "lengths": "float32",
    "vectors": "float32",
    "missing": "bool",
    "nearest": "uint8",
    "nearest_effort": "float64",
    "sums": "float64",
    "products": "float64",
    "truth_rows": "int64",
    "truth_bodies": "int64",
    "truth_places": "int64",
    "_terms": "uint8",
    "_ends": "int64",
    "_bounds": "int64",
    "_rows": "int32",
    "_weights": "float32",
    "_hashes": "uint64",
}

UNREADABLE: Final = (
    KeyError,
    TypeError,
    ValueError,
    OSError,
    EOFError,
    # What numpy lets through from reading a damaged header as Python.
    SyntaxError,
    TokenError,
    MemoryError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What derived arrays were made from; `encoder` None without vectors."""

    generation: int
    encoder: str | None
    analyser: str


def publish(layout: Layout, piece: Piece, facts: Facts) -> Path:
    """Write a piece as the newest derived arrays; gives their folder. Older ones are left for their readers.

    Raises:
        OSError: the disk failed; what was there before is as it was.
    """
    layout.segments.mkdir(parents=True, exist_ok=True)
    fresh = layout.segments / f".new-{uuid.uuid4().hex}"
    fresh.mkdir()
    try:
        files = {name: _written(fresh / f"{name}.npy", array) for name, array in _arrays(piece).items()}
        manifest = {
            "format": FORMAT,
            "generation": facts.generation,
            "encoder": facts.encoder,
            "analyser": facts.analyser,
            "files": files,
        }
        _synced(fresh / MANIFEST, json.dumps(manifest, indent=1).encode())
        sync(fresh)
        target = layout.segments / f"{facts.generation:012d}-{uuid.uuid4().hex[:8]}"
        fresh.rename(target)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    sync(layout.segments)
    return target


def newest(layout: Layout) -> Path | None:
    """The folder of the newest derived arrays."""
    return max(_folders(layout), default=None)


def load(folder: Path) -> tuple[Piece, Facts]:
    """The arrays of a folder; sizes, types and bounds are checked, checksums are not (see `damage`).

    Raises:
        IndexDamaged: a file is missing, cut, of another format or not what it should be.
    """
    manifest = _manifest(folder)
    try:
        arrays = {name: _read(folder / f"{name}.npy", size) for name, (size, _) in manifest["files"].items()}
        dense = DenseSegment.from_arrays(arrays) if "vectors" in arrays else None
        if "nearest" in arrays:
            _read_singly(arrays["vectors"])
        segment = Segment.from_arrays(arrays, dense)
        rows = Rows(*(cast("Any", arrays[f"truth_{part}"]) for part in Rows._fields))
        facts = Facts(
            generation=int(manifest["generation"]), encoder=manifest["encoder"], analyser=str(manifest["analyser"])
        )
    except UNREADABLE as error:
        raise IndexDamaged(f"derived files in {str(folder)!r} cannot be read ({str(error)[:160]})") from None
    _check_bounds(folder, segment, rows)
    return Piece(segment, rows), facts


def damage(folder: Path) -> list[str]:
    """What is wrong with the files of a folder, by checksum; reads all of them."""
    try:
        manifest = _manifest(folder)
        return [
            f"{folder.name}/{name}.npy has changed since it was written"
            for name, (_, checksum) in manifest["files"].items()
            if not (folder / f"{name}.npy").is_file() or _checksum(folder / f"{name}.npy") != checksum
        ]
    except (IndexDamaged, OSError) as error:
        return [str(error)]


def sweep(layout: Layout, keep: Path) -> None:
    """Delete other derived arrays than these; mapped files live on with their readers."""
    for folder in [*_folders(layout), *layout.segments.glob(".new-*")]:
        if folder != keep:
            shutil.rmtree(folder, ignore_errors=True)


def _folders(layout: Layout) -> Iterator[Path]:
    return (folder for folder in layout.segments.glob("[0-9]*-*") if folder.is_dir())


def _arrays(piece: Piece) -> Arrays:
    dense = {} if piece.segment.dense is None else piece.segment.dense.to_arrays()
    rows: Arrays = {f"truth_{part}": own for part, own in piece.rows._asdict().items()}
    return {**piece.segment.to_arrays(), **dense, **rows}


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        body: object = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise IndexDamaged(f"the manifest of {str(folder)!r} cannot be read ({str(error)[:120]})") from None
    manifest = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    if manifest.get("format") != FORMAT or not isinstance(manifest.get("files"), dict):
        raise IndexDamaged(f"derived files in {str(folder)!r} have another format than {FORMAT}")
    return manifest


def _read_singly(vectors: NDArray[np.generic]) -> None:
    """Tell the system that rows are read here and there, so that it does not read their neighbours into memory too."""
    mapping = cast("mmap.mmap | None", getattr(vectors.base, "_mmap", None))
    if mapping is not None and hasattr(mmap, "MADV_RANDOM"):
        mapping.madvise(mmap.MADV_RANDOM)


def _read(path: Path, size: int) -> NDArray[np.generic]:
    if path.stat().st_size != size:
        raise ValueError(f"{path.name} has {path.stat().st_size} bytes where {size} were written")
    # Arrays of objects would be unpickled, which runs code: refused.
    array = cast(
        "NDArray[np.generic]", np.load(path, mmap_mode="r" if path.stem in MAPPED else None, allow_pickle=False)
    )
    expected = next(kind for end, kind in TYPES.items() if path.stem.endswith(end))
    if array.dtype != np.dtype(expected) or array.ndim != (2 if path.stem == "vectors" else 1):
        raise ValueError(f"{path.name} holds {array.dtype} in {array.ndim} dimensions")
    return np.asarray(array)


def _check_bounds(folder: Path, segment: Segment, rows: Rows) -> None:
    """Numbers that point outside would only show in the middle of a search."""
    size = len(segment)
    pointing = [segment.lexical.postings.rows, segment.facets.rows, segment.names.rows, segment.ids.rows]
    inside = all(not len(own) or (int(own.min()) >= 0 and int(own.max()) < size) for own in pointing)
    ascending = all(bool((np.diff(own.bounds) >= 0).all()) for own in (segment.lexical.postings, segment.facets))
    dense = size if segment.dense is None else len(segment.dense)
    if not inside or not ascending or {dense, *map(len, rows)} != {size}:
        raise IndexDamaged(f"derived files in {str(folder)!r} do not fit each other")


def _written(path: Path, array: NDArray[np.generic]) -> list[object]:
    with path.open("wb") as file:
        np.save(file, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    return [path.stat().st_size, _checksum(path)]


def _synced(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
