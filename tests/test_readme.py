"""The README's Python runs as it stands and prints what the README shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\s*(?:^```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
EXAMPLES = [(code, shown or "") for code, shown in EXAMPLE.findall(README)]


@pytest.mark.parametrize("position", range(len(EXAMPLES)))
def test_examples_print_what_is_shown(position: int, tmp_path: Path) -> None:
    """Each example runs alone, in an empty folder."""
    code, shown = EXAMPLES[position]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown


def test_there_are_examples() -> None:
    """The pattern above finds the README's examples, with what they print."""
    assert EXAMPLES
    assert any(shown for _, shown in EXAMPLES)


def test_links_lead_somewhere() -> None:
    """Files that the README names are there."""
    assert [target for target in LINK.findall(README) if not (ROOT / target).exists()] == []
