"""The wheel: what is in it, and that it works where there is nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOL = '{"name": "refund_payment", "description": "Give the customer their money back"}\n'
LABEL = '{"name": "print_label", "description": "Print an address label"}\n'

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built once with what is installed."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def target(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the wheel is installed into."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(folder)]
    subprocess.run([*command, str(wheel)], check=True, timeout=300)
    return folder


@pytest.fixture
def run(target: Path, tmp_path: Path):
    """Runs Python on the installed package, in a folder without the sources."""

    def runner(*arguments: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(target), "NO_COLOR": "1", "COLUMNS": "100"}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)

    return runner


def test_what_is_inside(wheel: Path) -> None:
    """The model, the marker of types, licence and notice are there."""
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"toolsearch/py.typed", "toolsearch/encoders/minilm/model.onnx"} <= names
    assert "toolsearch/encoders/minilm/tokenizer.json" in names
    assert {name.rpartition("/")[2] for name in names if ".dist-info/licenses/" in name} == {"LICENSE", "NOTICE"}


def test_what_is_not_inside(wheel: Path) -> None:
    """Nothing but the package and its metadata is there: no tests, no benchmarks, no indexes."""
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert sorted(top.partition("-")[0] for top in tops) == ["toolsearch", "toolsearch"]


def test_it_is_the_installed_package_that_runs(run, target: Path) -> None:
    """The other tests here do not fall back to the sources."""
    done = run("-c", "import toolsearch; print(toolsearch.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(target)


def test_searching_in_python(run) -> None:
    """The built-in encoder and the engines work from the wheel."""
    code = (
        "from toolsearch import ToolIndex, ToolSpec\n"
        "index = ToolIndex.from_tools([ToolSpec(name='print_label', description='Print an address label'),\n"
        "    ToolSpec(name='refund_payment', description='Return a payment')])\n"
        "print(index.search('money back to the buyer', k=1).ids)\n"
    )
    done = run("-W", "error", "-c", code)
    assert (done.stdout.strip(), done.stderr) == ("['refund_payment']", "")


def test_searching_by_command(run, tmp_path: Path) -> None:
    """An index is built and searched with the command."""
    (tmp_path / "tools.jsonl").write_text(TOOL + LABEL)
    built = run("-m", "toolsearch", "index", "build", "small", "--from", "tools.jsonl")
    assert built.returncode == 0, built.stderr
    found = run("-m", "toolsearch", "search", "money back", "-i", "small")
    assert (found.returncode, "refund_payment" in found.stdout) == (0, True)


def test_help(run) -> None:
    """The command says what it can do."""
    done = run("-m", "toolsearch", "--help")
    assert (done.returncode, "search" in done.stdout, "explain" in done.stdout) == (0, True, True)
