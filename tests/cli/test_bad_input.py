"""What is not acceptable gets one clear line and exit code 2, and nothing is lost."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import TOOLS, Run, write

COMMAND = [sys.executable, "-m", "toolsearch"]
DEEP = '{"name": "a", "parameters": ' + '{"a":' * 10_000 + "{}" + "}" * 10_000 + "}"
BAD_FILES = {
    "broken line": (['{"name": "a"}', "{broken", '{"name": "b"}'], "t.jsonl:2"),
    "duplicate ids": (['{"name": "a"}', '{"name": "a"}'], "the id 'a' is taken by t.jsonl:1"),
    "100 MB description": (['{"name": "a", "description": "' + "x" * 100_000_000 + '"}'], "a tool may have 1000000"),
    "nested 10,000 deep": ([DEEP], "t.jsonl:1"),
    "no name": (['{"parameters": {}}'], "name"),
}


def one_clear_line(answer: tuple[int, str, str], *said: object) -> None:
    """Exit 2, nothing on standard output, and one line on standard error with the words that matter."""
    code, out, err = answer
    assert (code, out) == (2, "")
    assert err.startswith("toolsearch: ")
    assert err.count("\n") == 1
    assert len(err) < 1_100
    for word in said:
        assert str(word) in err


def ended(command: list[str], **more: object) -> tuple[int, str, str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **more)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("fault", BAD_FILES)
def test_bad_files(tmp_path: Path, index: Path, run: Run, fault: str) -> None:
    """The file and line are named, and the index stays as it was."""
    lines, said = BAD_FILES[fault]
    bad = write(tmp_path / "t.jsonl", *lines)
    one_clear_line(run("index", "build", index, "--from", bad), said)
    one_clear_line(run("index", "add", index, bad), said)
    assert "refund_payment" in run("search", "refund", "-i", index)[1]


def test_the_good_lines_are_kept_on_request(tmp_path: Path, run: Run) -> None:
    """With --keep-going the others are built, and what is left out is told."""
    bad = write(tmp_path / "t.jsonl", *BAD_FILES["broken line"][0], '{"name": "a"}')
    code, out, err = run("index", "build", tmp_path / "i", "--from", bad, "--encoder", "", "--keep-going")
    assert (code, "2 tools" in out) == (0, True)
    assert [line[:19] for line in err.splitlines()] == ["left out: t.jsonl:2", "left out: t.jsonl:4"]


def test_equal_ids_of_two_sources(tmp_path: Path, run: Run) -> None:
    """The id and both places are named."""
    one, two = write(tmp_path / "1.jsonl", TOOLS[0]), write(tmp_path / "2.jsonl", TOOLS[0])
    answer = run("index", "build", tmp_path / "i", "--from", one, "--from", two)
    one_clear_line(answer, "pay/refund_payment", "1.jsonl", "2.jsonl")


def test_a_file_that_is_a_folder(tmp_path: Path, index: Path, run: Run) -> None:
    """A folder called like a file of tools is named."""
    (tmp_path / "d.jsonl").mkdir()
    one_clear_line(run("index", "add", index, tmp_path / "d.jsonl"), "d.jsonl")


def test_a_folder_that_is_a_file(tools: Path, run: Run) -> None:
    """A file where an index should be is named."""
    one_clear_line(run("index", "build", tools, "--from", tools), "is a file", tools.name)
    one_clear_line(run("search", "x", "-i", tools), tools.name)


def test_sources_that_are_not_there(tmp_path: Path, index: Path, run: Run) -> None:
    """A missing source, and none at all, are named with the way out."""
    one_clear_line(run("index", "add", index, tmp_path / "gone.jsonl"), "gone.jsonl")
    one_clear_line(run("index", "build", tmp_path / "new"), "--from SOURCE")
    one_clear_line(run("index", "list", tmp_path / "nowhere"), "nowhere")


def test_a_broken_definition(tmp_path: Path, run: Run) -> None:
    """What is wrong in index.toml is named."""
    (tmp_path / "index.toml").write_text("sources = 3\n")
    one_clear_line(run("index", "build", tmp_path), "index.toml", "sources")


def test_a_definition_as_windows_writes_it(tmp_path: Path, tools: Path, run: Run) -> None:
    """A mark at the beginning is no TOML and does no harm."""
    place = tmp_path / "win"
    place.mkdir()
    (place / "index.toml").write_bytes(b'\xef\xbb\xbfsources = ["../tools.jsonl"]\r\nencoder = ""\r\n')
    assert run("index", "build", place)[0] == 0


def test_an_index_that_is_not_there(tmp_path: Path, run: Run) -> None:
    """The command that makes one is stated."""
    place = tmp_path / "nowhere"
    one_clear_line(run("search", "x", "-i", place), f"toolsearch index build {place}")


def test_searches_that_cannot_be_done(index: Path, run: Run) -> None:
    """An empty request, an unknown strategy and a broken filter are named."""
    one_clear_line(run("search", " ", "-i", index), "empty")
    one_clear_line(run("search", "x", "-i", index, "--strategy", "magic"), "magic", "hybrid")
    one_clear_line(run("search", "x", "-i", index, "--filter", "namespace ~ pay"), "~")
    one_clear_line(run("search", "x", "-i", index, "--filter", "bogus"), "'bogus' ends", "namespace, source, tags")
    one_clear_line(run("search", "x", "-i", index, "--filter", "bogus=1"), "'bogus'", "namespace, source, tags")


def test_ids_that_are_not_there(index: Path, run: Run) -> None:
    """Near ids are offered; nothing is removed when one of several is missing."""
    one_clear_line(run("tool", "show", "refund_payment", "-i", index), "pay/refund_payment")
    one_clear_line(run("explain", "x", "nope", "-i", index), "nope")
    one_clear_line(run("index", "remove", index, "mail/send_mail", "nope"), "nope", "nothing was removed")
    assert "send_mail" in run("search", "write", "-i", index)[1]


def test_options_that_do_not_exist(index: Path, run: Run) -> None:
    """Mistakes in the command itself show how it is used."""
    for wrong in (["serach"], ["search", "x"], ["search", "x", "-i", str(index), "-k", "0"]):
        code, _, err = run(*wrong)
        assert (code, "Usage: toolsearch" in err) == (2, True)


def test_unknown_forms_are_named(index: Path, run: Run) -> None:
    """The value and all that are known."""
    err = run("tool", "show", "pay/refund_payment", "-i", index, "--as", "bogus")[2]
    assert "'bogus' is not one of" in err
    assert "'anthropic'" in err


def test_misspelt_keys_of_a_tool_are_told(tmp_path: Path, run: Run) -> None:
    """The tool is kept; of many slips only the first are told."""
    lines = [{"name": f"t{number}", "descripton": "x"} for number in range(9)]
    told = run("index", "build", tmp_path / "i", "--from", write(tmp_path / "t.jsonl", *lines), "--encoder", "")
    assert (told[0], "9 tools" in told[1]) == (0, True)
    assert told[2].splitlines()[0] == "note: t.jsonl:1: the key 'descripton' is not read; did you mean 'description'?"
    assert told[2].splitlines()[5:] == ["note: and 4 more of this kind"]


def test_debug_shows_where(index: Path, run: Run) -> None:
    """With --debug the error is not caught."""
    with pytest.raises(ValueError, match="magic"):
        run("--debug", "search", "x", "-i", index, "--strategy", "magic")


def test_nothing_steers_the_terminal(tmp_path: Path, run: Run) -> None:
    """Escapes and changes of direction in a catalog reach neither output nor complaints."""
    hostile = write(tmp_path / "t.jsonl", {"name": "a\u202e\x1b[31m", "description": "red\x1b[2J\u202eder\nnext"})
    run("index", "build", tmp_path / "i", "--from", hostile, "--encoder", "")
    answers = [
        run("search", "red", "-i", tmp_path / "i"),
        run("explain", "red", "a\u202e\x1b[31m", "-i", tmp_path / "i"),
        run("tool", "show", "a\u202e\x1b[31m", "-i", tmp_path / "i"),
        run("tool", "show", "b\x1b[31m", "-i", tmp_path / "i"),
    ]
    assert [code for code, _, _ in answers] == [0, 0, 0, 2]
    assert not [text for _, *texts in answers for text in texts if "\x1b" in text or "\u202e" in text]


def test_a_terminal_without_unicode(tmp_path: Path, index: Path, run: Run) -> None:
    """Characters that the terminal cannot show are escaped."""
    run("index", "add", index, write(tmp_path / "t.jsonl", {"name": "tui", "description": "退款"}))
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    code, out, err = ended([*COMMAND, "search", "tui", "-i", str(index)], env=env)
    assert (code, "\\u9000" in out, err) == (0, True, "")


HOLD = """
import sys
from pathlib import Path
from toolsearch.index.layout import Layout
from toolsearch.index.locks import BuildLock
with BuildLock(Layout(Path(sys.argv[1])).lock, builds=True):
    print('held', flush=True)
    sys.stdin.read()
"""


def test_a_second_build_at_once(index: Path, tools: Path, run: Run) -> None:
    """It does not wait, names the first one, and searching goes on."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLD, str(index)], **pipes) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        one_clear_line(run("index", "build", index, "--from", tools), "being built", holder.pid)
        assert run("search", "refund", "-i", index)[0] == 0
        holder.communicate()


def many(path: Path) -> Path:
    return write(path, *({"name": f"tool_{number}", "description": "word " * 200} for number in range(3_000)))


def test_files_that_may_not_grow(tmp_path: Path, index: Path) -> None:
    """When no more can be written the build ends with one line, and the old catalog is whole."""
    limit = max(file.stat().st_size for file in index.rglob("*") if file.is_file()) + 200_000
    build = [*COMMAND, "index", "build", str(index), "--from", str(many(tmp_path / "many.jsonl"))]

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    one_clear_line(ended(build, preexec_fn=small_files), index)
    assert ended([*COMMAND, "index", "verify", str(index)])[0] == 0
    assert "refund_payment" in ended([*COMMAND, "search", "refund", "-i", str(index)])[1]


FULL = 'mount -t tmpfs -o size=2m none "$1" || exit 77; shift; PYTHON=$1; PLACE=$2; SMALL=$3; LARGE=$4\n' + "\n".join(
    [
        '"$PYTHON" -m toolsearch index build "$PLACE" --encoder "" --from "$SMALL" >&2 || exit 70',
        '"$PYTHON" -m toolsearch index build "$PLACE" --from "$LARGE"; echo "ended with $?"',
        '"$PYTHON" -m toolsearch index verify "$PLACE"',
        '"$PYTHON" -m toolsearch search refund -i "$PLACE"',
    ]
)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk that only the test sees")
def test_a_full_disk(tmp_path: Path, tools: Path) -> None:
    """The line says what is full, and the old catalog is whole."""
    disk = tmp_path / "disk"
    disk.mkdir()
    given = [str(one) for one in (disk, sys.executable, disk / "shop", tools, many(tmp_path / "many.jsonl"))]
    code, out, err = ended(["unshare", "--mount", "sh", "-c", FULL, "sh", *given])
    if code == 77 or "unshare" in err:
        pytest.skip("this user may not mount a disk")
    assert "no space left" in err
    assert "Traceback" not in err
    assert "ended with 2\nall files are sound\n 1. pay/refund_payment" in out


@pytest.fixture
def hanging() -> Iterator[socket.socket]:
    """A server on loopback that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        yield server


def test_ctrl_c_at_a_server_that_hangs(index: Path, tmp_path: Path, hanging: socket.socket) -> None:
    """A build that waits for a server can be stopped: exit 130, one line at most, and the old index answers."""
    encoder = f"openai:http://127.0.0.1:{hanging.getsockname()[1]}/v1#model"
    other = write(tmp_path / "other.jsonl", {"name": "other"})
    build = [*COMMAND, "index", "build", str(index), "--from", str(other), "--encoder", encoder]
    with subprocess.Popen(build, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as building:
        connection, _ = hanging.accept()
        building.send_signal(signal.SIGINT)
        out, err = building.communicate(timeout=60)
        connection.close()
    assert (building.returncode, out, err) == (130, "", "")
    assert "refund_payment" in ended([*COMMAND, "search", "refund", "-i", str(index)])[1]
