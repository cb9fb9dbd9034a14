"""The demo's judged requests keep their promises: judgements, kinds, languages, halves."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from toolsearch.evaluation.judged import read_queries
from toolsearch.language import language
from toolsearch.text import name_key
from toolsearch.tool import ToolSpec

DEMO = Path(__file__).parent.parent.parent / "indexes" / "demo"
QUERIES = read_queries(DEMO / "requests.jsonl")
TOOLS = {
    tool.id: tool
    for file in (DEMO / "tools").glob("*.jsonl")
    for tool in map(ToolSpec.from_json, file.read_text("utf-8").splitlines())
}
KINDS = {
    "paraphrase": 900,
    "exact_name": 30,
    "abbreviation": 35,
    "typo": 30,
    "keyword": 40,
    "several_needs": 45,
    "long_context": 25,
    "sibling": 60,
    "unanswerable_unrelated": 40,
    "unanswerable_missing": 45,
}
LANGUAGES = {
    "en": 600,
    "zh": 90,
    "de": 80,
    "es": 80,
    "ja": 80,
    "ko": 50,
    "ru": 50,
    "fr": 50,
    "th": 40,
    "ar": 40,
    "pt": 40,
}


CHINESE = [json.loads(line) for line in (DEMO / "chinese.jsonl").read_text("utf-8").splitlines()]


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def test_every_right_tool_exists() -> None:
    """Judgements name tools of the catalog, with grade 1 or 2."""
    for query in QUERIES:
        assert set(query.relevant) <= set(TOOLS), query.id
        assert set(query.relevant.values()) <= {1, 2}, query.id


def test_only_unanswerable_kinds_have_no_tool() -> None:
    """A request without a right tool says so by its kind."""
    for query in QUERIES:
        assert query.answerable != query.kind.startswith("unanswerable"), query.id


def test_several_needs_need_several_tools() -> None:
    """Requests of that kind have two fully right tools or more."""
    for query in QUERIES:
        if query.kind == "several_needs":
            assert sum(grade == 2 for grade in query.relevant.values()) >= 2, query.id


def test_there_are_enough_of_each_kind() -> None:
    """The stated number of requests of every kind, and no other kind."""
    count = Counter(query.kind for query in QUERIES)
    assert set(count) == set(KINDS)
    assert all(count[kind] >= least for kind, least in KINDS.items())


def test_there_are_enough_in_each_language() -> None:
    """The stated number of requests in every language, and no other language."""
    count = Counter(query.lang for query in QUERIES)
    assert set(count) == set(LANGUAGES)
    assert all(count[lang] >= least for lang, least in LANGUAGES.items())


def test_each_kind_and_language_is_halved() -> None:
    """Development and test hold the same kinds and languages, half each."""
    cells: dict[tuple[str, str], Counter[str]] = {}
    for query in QUERIES:
        cells.setdefault((query.kind, query.lang), Counter())[query.split] += 1
    for cell, halves in cells.items():
        assert set(halves) <= {"development", "test"}
        assert abs(halves["development"] - halves["test"]) <= 1, cell


def test_no_request_occurs_twice() -> None:
    """Requests differ in more than case and signs."""
    texts = Counter(plain(query.query) for query in QUERIES)
    assert [text for text, times in texts.items() if times > 1] == []


def test_halves_do_not_share_near_copies() -> None:
    """No request of one half has nine tenths of its words in common with one of the other half."""
    halves = [(query, set(plain(query.query).split())) for query in QUERIES]
    development = [one for one in halves if one[0].split == "development"]
    for query, words in (one for one in halves if one[0].split == "test"):
        for other, others in development:
            close = len(words) > 1 and len(words & others) >= 0.9 * len(words | others)
            assert not close, (query.id, other.id)


def test_exact_names_are_names() -> None:
    """A request of this kind is, or holds, the name, title or alias of its tool."""
    for query in (one for one in QUERIES if one.kind == "exact_name"):
        keys = [name_key(text) for tool in query.relevant for text in _called(TOOLS[tool])]
        assert any(key in name_key(query.query) for key in keys), query.id


def _called(tool: ToolSpec) -> list[str]:
    return [tool.name, *([tool.title] if tool.title else []), *tool.aliases]


def test_the_chinese_texts_are_of_whole_namespaces() -> None:
    """Each tool of a translated namespace has a title and a description in Chinese, once."""
    ids = [row["id"] for row in CHINESE]
    namespaces = {TOOLS[tool].namespace for tool in ids}
    assert len(namespaces) == 10
    assert sorted(ids) == sorted(tool.id for tool in TOOLS.values() if tool.namespace in namespaces)
    assert all(language(row["title"]) == language(row["description"]) == "zh" for row in CHINESE)
