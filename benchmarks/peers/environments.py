"""Each peer's own environment, made from the packages that its file pins."""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / "envs"


def requirements(peer: str) -> list[str]:
    """The pinned packages that a peer's file names, read without running it.

    Raises:
        ValueError: there is no such peer, or it pins nothing.
    """
    file = HERE / f"{peer}.py"
    for node in ast.parse(file.read_text("utf-8")).body if file.is_file() else ():
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "REQUIREMENTS" for t in node.targets
        ):
            return list(ast.literal_eval(node.value))
    raise ValueError(f"{peer[:80]!r} is no peer that pins its packages")


def environment(peer: str, made: Path | None = None) -> Path:
    """The peer's Python: of a folder below `made` that holds its packages, else installed at first use."""
    wanted = requirements(peer)
    for folder in sorted(made.iterdir()) if made else ():
        if (folder / "bin" / "python").exists() and holds(folder, wanted):
            return folder / "bin" / "python"
    return _installed(wanted)


def holds(folder: Path, wanted: list[str]) -> bool:
    """Whether an environment has every pinned package in the pinned version."""
    places = [str(place) for place in folder.glob("lib/python*/site-packages")]
    found = {f"{_plain(one.name)}=={one.version}" for one in distributions(path=places)}
    return {f"{_plain(name)}=={version}" for name, version in (one.split("==") for one in wanted)} <= found


def _installed(wanted: list[str]) -> Path:
    """An environment named after its packages, so that peers with equal ones share it."""
    folder = ENVIRONMENTS / hashlib.sha256(" ".join(wanted).encode()).hexdigest()[:12]
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], check=True)
        (folder / "ready").touch()
    return python


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
