"""Commands as people type them: what they print and how they end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import TOOLS, Run, write


def test_build_says_what_changed(tmp_path: Path, run: Run) -> None:
    """Each tool counts as added, changed, unchanged or removed."""
    place, tools = tmp_path / "shop", tmp_path / "tools.jsonl"
    build = ("index", "build", place, "--from", tools, "--encoder", "")
    write(tools, *TOOLS)
    assert run(*build) == (0, f"{place}: 3 tools (3 added, 0 changed, 0 unchanged, 0 removed)\n", "")
    assert "0 added, 0 changed, 3 unchanged, 0 removed" in run(*build)[1]
    write(tools, TOOLS[0], {**TOOLS[1], "description": "Other"}, {"name": "new"})
    assert "1 added, 1 changed, 1 unchanged, 1 removed" in run(*build)[1]


def test_build_reads_the_definition(tmp_path: Path, run: Run) -> None:
    """Without --from the tools come from index.toml, relative to its folder."""
    (tmp_path / "index.toml").write_text('sources = ["tools.jsonl"]\nencoder = ""\n')
    write(tmp_path / "tools.jsonl", *TOOLS)
    assert "3 tools" in run("index", "build", tmp_path)[1]


def test_build_joins_sources(tmp_path: Path, run: Run) -> None:
    """--from may be given more than once."""
    one, two = write(tmp_path / "1.jsonl", TOOLS[0]), write(tmp_path / "2.jsonl", TOOLS[1])
    assert "2 tools" in run("index", "build", tmp_path / "i", "--from", one, "--from", two, "--encoder", "")[1]


def test_search_finds_and_says_why(index: Path, run: Run) -> None:
    """The best tool comes first, with its reasons; exit 0."""
    code, out, err = run("search", "money", "back", "-i", index)
    assert (code, err) == (0, "")
    assert out.startswith(" 1. pay/refund_payment")
    assert "why: words" in out


def test_search_as_json(index: Path, run: Run) -> None:
    """JSON holds ids, scores with the reasons that add up to them, and the estimate."""
    code, out, _ = run("search", "refund", "-i", index, "--json")
    [hit] = json.loads(out)["hits"]
    assert (code, hit["id"]) == (0, "pay/refund_payment")
    assert hit["score"] == pytest.approx(sum(reason["points"] for reason in hit["reasons"]), abs=1e-3)
    assert json.loads(out)["band"] in ("none", "low", "medium", "high")


def test_the_number_of_hits(index: Path, run: Run) -> None:
    """-k bounds the answer."""
    assert len(json.loads(run("search", "payment", "-i", index, "--json")[1])["hits"]) == 2
    assert len(json.loads(run("search", "payment", "-i", index, "--json", "-k", "1")[1])["hits"]) == 1


def test_the_index_may_come_from_the_environment(index: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """TOOLSEARCH_INDEX stands in for -i."""
    monkeypatch.setenv("TOOLSEARCH_INDEX", str(index))
    assert run("search", "refund")[0] == 0


def test_nothing_fits(index: Path, run: Run) -> None:
    """No hit ends with 1."""
    assert run("search", "zzzz", "-i", index) == (1, "nothing fits\n", "")


def test_a_strategy_without_an_estimate_claims_none(index: Path, run: Run) -> None:
    """Word counting says nothing about confidence, and says so when some is asked for."""
    assert "confidence" not in run("search", "refund", "-i", index, "--strategy", "simple")[1]
    code, out, _ = run("search", "refund", "-i", index, "--strategy", "simple", "--min-confidence", "low")
    assert (code, "estimates no confidence" in out) == (1, True)


def test_too_little_confidence_is_nothing(index: Path, run: Run) -> None:
    """Hits below the wanted band are left out, told, and the command ends with 1."""
    code, out, _ = run("search", "write", "qqqq", "wwww", "eeee", "-i", index, "--min-confidence", "high")
    assert code == 1
    assert out.startswith("nothing fits\nnote: 1 tools were left out")


def test_callers_see_their_groups(index: Path, run: Run) -> None:
    """A tool of another group is neither found, shown nor hinted at; its own group finds it."""
    assert "void_payment" not in run("search", "cancel authorisation", "-i", index, "--caller", "sales")[1]
    assert "void_payment" in run("search", "cancel authorisation", "-i", index, "--caller", "finance")[1]
    hidden = run("tool", "show", "pay/void_payment", "-i", index, "--caller", "sales")
    absent = run("tool", "show", "pay/void_paymenx", "-i", index, "--caller", "sales")
    assert hidden[0] == absent[0] == 2
    assert hidden[2].count("void_payment") == 1


def test_filters_narrow(index: Path, run: Run) -> None:
    """Only what the filter keeps is found."""
    assert "send_mail" in run("search", "write", "-i", index, "--filter", "tags = office")[1]
    assert run("search", "write", "-i", index, "--filter", "namespace = pay")[0] == 1


@pytest.mark.parametrize("strategy", ["hybrid", "lexical", "simple"])
def test_strategies_by_name(index: Path, run: Run, strategy: str) -> None:
    """Each way of searching can be asked for."""
    assert "refund_payment" in run("search", "refund payment", "-i", index, "--strategy", strategy)[1]


def test_explain(index: Path, run: Run) -> None:
    """A tool's place is explained, and so is its absence."""
    assert "found, rank 1" in run("explain", "money back", "pay/refund_payment", "-i", index)[1]
    assert "not found" in run("explain", "money back", "mail/send_mail", "-i", index)[1]
    left_out = run("explain", "money back", "pay/refund_payment", "--filter", "namespace = mail", "-i", index)[1]
    assert "the filter leaves it out" in left_out


def test_show_a_tool(index: Path, run: Run) -> None:
    """A tool is shown for people, as our JSON, or as a provider wants it."""
    show = ("tool", "show", "pay/refund_payment", "-i", index)
    assert run(*show)[1].splitlines()[:2] == ["pay/refund_payment", "  Give money back to a customer"]
    assert json.loads(run(*show, "--as", "json")[1])["id"] == "pay/refund_payment"


@pytest.mark.parametrize("form", ["openai", "responses", "anthropic", "gemini", "mcp", "ollama"])
def test_show_for_a_provider(index: Path, run: Run, form: str) -> None:
    """Every form is JSON that holds the description."""
    code, out, _ = run("tool", "show", "pay/refund_payment", "-i", index, "--as", form)
    assert (code, "Give money back" in json.dumps(json.loads(out))) == (0, True)


def test_add_and_remove(tmp_path: Path, index: Path, run: Run) -> None:
    """Single sources are added and single tools taken out."""
    more = write(tmp_path / "more.jsonl", {"name": "print_label", "description": "Print a label"})
    assert "4 tools (1 added, 0 changed" in run("index", "add", index, more)[1]
    assert "print_label" in run("search", "label", "-i", index)[1]
    assert "3 tools (0 added, 0 changed, 0 unchanged, 1 removed)" in run("index", "remove", index, "print_label")[1]
    assert run("search", "label", "-i", index)[0] == 1


def test_list(tmp_path: Path, index: Path, run: Run) -> None:
    """Built, defined and broken indexes are told apart."""
    for name in ("defined", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "defined/index.toml").write_text("sources = []\n")
    (tmp_path / "broken/data").mkdir()
    states = {Path(one["path"]).name: one["state"] for one in json.loads(run("index", "list", tmp_path, "--json")[1])}
    assert (states["shop"], states["defined"]) == ("ready", "not built")
    assert "no index" in states["broken"]
    assert str(index) in run("index", "list", tmp_path)[1]


def test_show_an_index(index: Path, run: Run) -> None:
    """What an index holds, for people and as JSON."""
    assert json.loads(run("index", "show", index, "--json")[1])["tools"] == 3
    assert run("index", "show", index)[1].startswith("tools")


def test_verify_and_repair(index: Path, run: Run) -> None:
    """Damage is found, mended by the command that the answer states, and searching goes on."""
    assert run("index", "verify", index) == (0, "all files are sound\n", "")
    victim = max((file for file in (index / "data").rglob("*.npy")), key=lambda file: file.stat().st_size)
    content = victim.read_bytes()
    victim.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    code, out, _ = run("index", "verify", index)
    assert (code, f"toolsearch index verify {index} --repair" in out) == (2, True)
    assert run("index", "verify", index, "--repair")[0] == 0
    assert run("search", "refund", "-i", index)[0] == 0


def test_several_needs(index: Path, run: Run) -> None:
    """Each further need is served too, and each hit says which one it serves."""
    hits = json.loads(run("search", "refund", "--also", "write to somebody", "-i", index, "--json")[1])["hits"]
    assert {hit["id"]: hit["need"] for hit in hits} == {"pay/refund_payment": 0, "mail/send_mail": 1}


def test_runs_of_many_requests(tmp_path: Path, index: Path, run: Run) -> None:
    """Requests of a file are answered into a run that other programs can score."""
    queries = write(tmp_path / "q.jsonl", {"id": "1", "query": "money back", "relevant": ["pay/refund_payment"]})
    out = tmp_path / "run.trec"
    assert run("search", "-i", index, "--queries", queries, "--run", out)[0] == 0
    assert out.read_text().startswith("1 Q0 pay/refund_payment 1 ")
    assert run("search", "-i", index, "--queries", queries)[0] == 2


def test_eval(tmp_path: Path, index: Path, run: Run) -> None:
    """Judged requests are measured; a split without any is named."""
    queries = write(tmp_path / "q.jsonl", {"id": "1", "query": "money back", "relevant": ["pay/refund_payment"]})
    assert "100.0" in run("eval", "-i", index, "--queries", queries)[1]
    code, _, err = run("eval", "-i", index, "--queries", queries, "--split", "mine")
    assert (code, "'mine'" in err) == (2, True)


def test_help_and_version(run: Run) -> None:
    """Every command says what it is for."""
    assert run("--version")[1].strip()
    commands = ["search", "explain", "eval", "index", "tool", "tool show"]
    commands += [f"index {one}" for one in ("build", "list", "show", "add", "remove", "verify")]
    for command in ["", *commands]:
        code, out, _ = run(*command.split(), "--help")
        assert (code, out.startswith(f"Usage: toolsearch {command}".rstrip())) == (0, True)


def test_help_loads_no_engine() -> None:
    """Asking for help imports neither engines nor encoders nor a progress bar."""
    code = (
        "import sys\nfrom toolsearch.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('numpy', 'faiss', 'onnxruntime', 'pydantic', 'rich', 'mcp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_pipe_that_ends_early(index: Path) -> None:
    """When the reader has gone, nothing is complained about."""
    command = [sys.executable, "-m", "toolsearch", "search", "payment", "-i", str(index)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as search:
        assert search.stdout is not None
        assert search.stderr is not None
        search.stdout.close()
        assert search.stderr.read() == ""


def test_similarity_without_vectors_says_so(index: Path, run: Run) -> None:
    """Asked for vectors, an index of words answers by words and tells that."""
    assert "no vectors" in run("search", "refund", "-i", index, "--strategy", "vector")[1]


def test_judged_tools_that_are_not_there_are_told(index: Path, tmp_path: Path, run: Run) -> None:
    """A wrong id in judged requests is named instead of only lowering the figures."""
    queries = write(tmp_path / "q.jsonl", '{"id": "1", "query": "refund", "relevant": ["ghost/tool"]}')
    code, _, err = run("eval", "-i", index, "--queries", queries)
    assert (code, "ghost/tool" in err) == (0, True)
