"""What produced a result: enough to make it again, and to know when it cannot be compared."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from toolsearch.evaluation.judged import JudgedQuery
from toolsearch.tool import ToolSpec

PACKAGES = ("toolsearch", "numpy", "faiss-cpu", "onnxruntime", "tokenizers", "pystemmer", "ir-measures")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One run's origin. `digests` holds, per task, SHA-256 of catalog, of requests and of settings.

    `build` is seconds of CPU and `size` bytes on disk, per task; `settings` names strategy, k and encoder.
    """

    commit: str
    versions: Mapping[str, str]
    cpu: str
    python: str
    seed: int
    settings: Mapping[str, Any]
    digests: Mapping[str, Mapping[str, str]]
    build: Mapping[str, float]
    size: Mapping[str, int]

    def write(self, path: Path) -> None:
        """Write as JSON with sorted keys."""
        path.write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n", "utf-8")


def origin() -> dict[str, Any]:
    """Commit, versions, CPU and Python of this process, as fields of a Record."""
    return {"commit": _commit(), "versions": _versions(), "cpu": _cpu(), "python": platform.python_version()}


def catalog_digest(tools: Iterable[ToolSpec]) -> str:
    """SHA-256 over the content hashes, in catalog order."""
    return _digest(tool.content_hash for tool in tools)


def queries_digest(queries: Iterable[JudgedQuery]) -> str:
    """SHA-256 over ids, texts and grades, in order."""
    return _digest(json.dumps([q.id, q.query, sorted(q.relevant.items())], ensure_ascii=False) for q in queries)


def settings_digest(settings: Mapping[str, Any]) -> str:
    """SHA-256 over settings, whatever their order."""
    return _digest([json.dumps(settings, sort_keys=True)])


def folder_size(path: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _digest(parts: Iterable[str]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(part.encode("utf-8", "surrogatepass") + b"\n")
    return total.hexdigest()


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _commit() -> str:
    """The checkout's commit, marked when files differ from it; empty outside a checkout."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            command, capture_output=True, text=True, timeout=10, check=False, cwd=Path(__file__).parent
        )
    except OSError:
        return ""
    return done.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()} x {os.cpu_count()}"
