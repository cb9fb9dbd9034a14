"""Commands as people type them: what they print and how they end."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from toolsearch.cli import main

TOOLS = [
    {"name": "refund_payment", "namespace": "pay", "description": "Give money back to a customer"},
    {"name": "void_payment", "namespace": "pay", "description": "Cancel an authorisation", "groups": ["finance"]},
    {"name": "send_mail", "namespace": "mail", "description": "Write to somebody", "tags": ["office"]},
]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process: exit code, standard output, standard error."""

    def command(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return command


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A file of three tools."""
    path = tmp_path / "tools.jsonl"
    path.write_text("".join(json.dumps(tool) + "\n" for tool in TOOLS))
    return path


@pytest.fixture
def index(tmp_path: Path, tools: Path, run: Run) -> Path:
    """An index of the three tools, by words only so that it is quick."""
    place = tmp_path / "shop"
    assert run("index", "build", place, "--from", tools, "--encoder", "")[0] == 0
    return place


def test_build_says_what_changed(tmp_path: Path, tools: Path, run: Run) -> None:
    """Added the first time, unchanged the second, removed when the source lost a tool."""
    place = tmp_path / "shop"
    assert (
        "3 tools (3 added, 0 changed, 0 removed, 0 unchanged)"
        in run("index", "build", place, "--from", tools, "--encoder", "")[1]
    )
    assert "3 unchanged" in run("index", "build", place, "--from", tools)[1]
    tools.write_text(json.dumps(TOOLS[0]) + "\n")
    assert "1 tools (0 added, 0 changed, 2 removed, 1 unchanged)" in run("index", "build", place, "--from", tools)[1]


def test_search_finds_and_says_why(index: Path, run: Run) -> None:
    """The best tool comes first, with its reasons; exit 0."""
    code, out, _ = run("search", "money", "back", "-i", index)
    assert code == 0
    assert out.startswith(" 1. pay/refund_payment")
    assert "why: words" in out


def test_search_as_json(index: Path, run: Run) -> None:
    """JSON holds ids, scores, reasons and the estimate."""
    code, out, _ = run("search", "refund", "-i", index, "--json")
    body = json.loads(out)
    assert code == 0
    assert body["hits"][0]["id"] == "pay/refund_payment"
    assert body["hits"][0]["score"] == pytest.approx(sum(r["points"] for r in body["hits"][0]["reasons"]), abs=1e-3)


def test_nothing_fits_is_exit_one(index: Path, run: Run) -> None:
    """No hit, and hits below the wanted confidence, both end with 1."""
    assert run("search", "zzzz", "-i", index)[0] == 1
    code, out, _ = run("search", "somebody", "-i", index, "--min-confidence", "high")
    assert (code, "nothing fits" in out) == (1, True)


def test_callers_see_their_groups(index: Path, run: Run) -> None:
    """A tool of another group is neither found nor shown; its own group finds it."""
    assert "void_payment" not in run("search", "cancel authorisation", "-i", index, "--caller", "sales")[1]
    assert "void_payment" in run("search", "cancel authorisation", "-i", index, "--caller", "finance")[1]
    assert run("tool", "show", "pay/void_payment", "-i", index, "--caller", "sales")[0] == 2


def test_filters_narrow(index: Path, run: Run) -> None:
    """Only what the filter keeps is found; a broken filter is named."""
    assert "send_mail" not in run("search", "write money", "-i", index, "--filter", "namespace = 'pay'")[1]
    code, _, err = run("search", "x", "-i", index, "--filter", "namespace ~ 'pay'")
    assert (code, err.count("\n")) == (2, 1)


def test_explain_and_show(index: Path, run: Run) -> None:
    """Explain tells the rank; show prints the tool, or a provider's form of it."""
    assert "found, rank 1" in run("explain", "money back", "pay/refund_payment", "-i", index)[1]
    assert "Give money back" in run("tool", "show", "pay/refund_payment", "-i", index)[1]
    shown = json.loads(run("tool", "show", "pay/refund_payment", "-i", index, "--as", "openai")[1])
    assert shown["function"]["name"] == "pay__refund_payment"


def test_add_remove_list_show_verify(tmp_path: Path, index: Path, run: Run) -> None:
    """The life of an index by commands."""
    more = tmp_path / "more.jsonl"
    more.write_text('{"name": "print_label", "description": "Print a label"}\n')
    assert "4 tools (1 added" in run("index", "add", index, more)[1]
    assert "3 tools" in run("index", "remove", index, "print_label")[1]
    assert run("index", "remove", index, "print_label")[0] == 2
    assert str(index) in run("index", "list", tmp_path)[1]
    assert json.loads(run("index", "show", index, "--json")[1])["tools"] == 3
    assert run("index", "verify", index)[0] == 0


def test_run_files_and_eval(tmp_path: Path, index: Path, run: Run) -> None:
    """Requests of a file are answered into a run, and judged ones measured."""
    queries = tmp_path / "q.jsonl"
    queries.write_text('{"id": "1", "query": "money back", "relevant": ["pay/refund_payment"]}\n')
    out = tmp_path / "run.trec"
    assert run("search", "-i", index, "--queries", queries, "--run", out)[0] == 0
    assert out.read_text().startswith("1 Q0 pay/refund_payment 1 ")
    assert "100.0" in run("eval", "-i", index, "--queries", queries)[1]
    assert run("search", "-i", index, "--queries", queries)[0] == 2


def test_help_and_version(run: Run) -> None:
    """Every command says what it is for."""
    assert run("--version")[1].strip()
    for command in ([], ["index"], ["index", "build"], ["search"], ["explain"], ["tool", "show"], ["eval"]):
        code, out, _ = run(*command, "--help")
        assert (code, "Usage: toolsearch" in out) == (0, True)


def one_clear_line(answer: tuple[int, str, str], *said: str) -> None:
    """Exit 2, one line on standard error, no traceback, and the words that matter."""
    code, _, err = answer
    assert code == 2
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in said:
        assert word in err


def test_a_broken_line_is_numbered(tmp_path: Path, run: Run) -> None:
    """The number is given and nothing is built; with --keep-going the others are kept and it is told."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"name": "a"}\n{broken\n{"name": "b"}\n')
    place = tmp_path / "i"
    one_clear_line(run("index", "build", place, "--from", path, "--encoder", ""), "t.jsonl:2")
    code, out, err = run("index", "build", place, "--from", path, "--encoder", "", "--keep-going")
    assert (code, "2 tools" in out, "left out: t.jsonl:2" in err) == (0, True, True)


BAD_FILES = {
    "duplicate ids": ('{"name": "a"}\n{"name": "a"}\n', "taken by"),
    "100 MB description": ('{"name": "a", "description": "' + "x" * 100_000_000 + '"}\n', "characters"),
    "nested 10,000 deep": (
        '{"name": "a", "parameters": ' + '{"a":' * 10_000 + "{}" + "}" * 10_000 + "}\n",
        "t.jsonl:1",
    ),
    "not a tool": ('{"parameters": {}}\n', "name"),
}


@pytest.mark.parametrize("fault", BAD_FILES)
def test_bad_files(tmp_path: Path, run: Run, fault: str) -> None:
    """Each gives one clear line, and an index that was there stays as it was."""
    good, bad, place = tmp_path / "good.jsonl", tmp_path / "t.jsonl", tmp_path / "i"
    good.write_text('{"name": "kept"}\n')
    run("index", "build", place, "--from", good, "--encoder", "")
    bad.write_text(BAD_FILES[fault][0])
    one_clear_line(run("index", "build", place, "--from", bad), BAD_FILES[fault][1])
    assert "kept" in run("search", "kept", "-i", place)[1]


def test_wrong_places(tmp_path: Path, index: Path, run: Run) -> None:
    """A folder instead of a file, a missing index, an empty request and an unknown strategy are named."""
    (tmp_path / "d.jsonl").mkdir()
    one_clear_line(run("index", "build", tmp_path / "x", "--from", tmp_path / "d.jsonl"), "d.jsonl")
    one_clear_line(run("search", "x", "-i", tmp_path / "nowhere"), "nowhere")
    one_clear_line(run("index", "build", tmp_path / "nowhere"), "--from")
    one_clear_line(run("search", " ", "-i", index), "what you need")
    one_clear_line(run("search", "x", "-i", index, "--strategy", "magic"), "magic", "hybrid")


def test_a_build_that_runs_already_is_named(tmp_path: Path, index: Path, tools: Path, run: Run) -> None:
    """A second builder does not wait and does not harm."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom toolsearch.index.locks import BuildLock\n"
        "with BuildLock(Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(index / "data" / "build.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        one_clear_line(run("index", "build", index, "--from", tools), "being built", str(holder.pid))
    finally:
        holder.communicate()
    assert run("search", "refund", "-i", index)[0] == 0


def test_a_full_disk_loses_nothing(tmp_path: Path, index: Path) -> None:
    """When no more can be written, the build ends with one line and the old catalog is searchable."""
    many = tmp_path / "many.jsonl"
    many.write_text(
        "".join(json.dumps({"name": f"tool_{i}", "description": "word " * 200}) + "\n" for i in range(3000))
    )
    command = [sys.executable, "-m", "toolsearch", "index", "build", str(index), "--from", str(many)]
    limit = max(file.stat().st_size for file in index.rglob("*") if file.is_file()) + 200_000

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=small_files, timeout=120, env={**os.environ}, check=False
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    search = [sys.executable, "-m", "toolsearch", "search", "refund payment", "-i", str(index)]
    assert "refund_payment" in subprocess.run(search, capture_output=True, text=True, timeout=60, check=False).stdout
    base = sqlite3.connect(next(index.rglob("*.sqlite*")))
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    base.close()
