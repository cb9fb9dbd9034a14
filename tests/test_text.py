"""How tools and requests become words."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolsearch.fields import MAX_PARAMETERS, WEIGHTS
from toolsearch.text import (
    MAX_REQUEST,
    MAX_TERM,
    cut_request,
    encoder_text,
    field_terms,
    name_key,
    name_keys,
    request_terms,
    spaced,
    tool_terms,
    words,
)
from toolsearch.tool import ToolSpec


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("parseXMLFeed", ["parse", "xml", "feed"]),
        ("HTTPServer", ["http", "server"]),
        ("exportV2Report", ["export", "v2", "report"]),
        ("cargo_v1_appManifestRow_search", ["cargo", "v1", "app", "manifest", "row", "search"]),
        ("getS3URL", ["get", "s3", "url"]),
        ("K8S", ["k8s"]),
        ("listUserIDs", ["list", "user", "ids"]),
        ("math.factorial", ["math", "factorial"]),
        ("ПоказатьЗаказ", ["показать", "заказ"]),
        ("__init__", ["init"]),
    ],
)
def test_identifiers_split_before_case_is_folded(identifier: str, parts: list[str]) -> None:
    """Separators and humps part an identifier; acronyms and letters with digits stay together."""
    assert spaced(identifier).split() == parts


def test_an_identifier_is_kept_whole_too() -> None:
    """A name in camelCase is also one word, so that "github" finds GitHub."""
    assert {"git", "hub", "github"} <= set(words("GitHub"))
    assert set(words("e-mail")) >= set(words("email"))
    assert "todo" in words("add a to-do item")


def test_long_chains_are_not_kept_whole() -> None:
    """An identifier of very many parts is only its parts."""
    parts = [f"part{number}" for number in range(13)]
    assert words("_".join(parts)) == parts


def test_stop_words_leave() -> None:
    """What every request is made of does not count."""
    assert words("Can you help me find the refund?") == ["refund"]


def test_a_text_of_stop_words_alone_keeps_them() -> None:
    """A request such as "list" or "get help" still has words."""
    assert words("show me") == ["show", "me"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("refunding", "refunds"), ("cafés", "cafe"), ("STRASSE ist für", "Straße für ist"), ("naïve", "naive")],
)
def test_endings_and_accents_do_not_matter(one: str, other: str) -> None:
    """Stems are compared, without accents."""
    assert sorted(words(one)) == sorted(words(other))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("die Rechnungen für den Kunden", "eine Rechnung für die Kunden"),
        ("las reservaciones para el hotel", "la reservación de los hoteles"),
        ("отменить заказы", "отмена заказа"),
    ],
)
def test_stemming_follows_the_language(text: str, same: str) -> None:
    """German, Spanish and Russian words lose their own endings."""
    assert set(words(text)) & set(words(same))
    assert len(words(text)) == 2


@pytest.mark.parametrize("text", ["运输费用", "予約カレンダー", "크레인상태", "จองโรงแรม"])
def test_unspaced_scripts_become_pairs_and_singles(text: str) -> None:
    """Characters without spaces count alone and with their neighbour."""
    found = words(text)
    assert found[: len(text)] == list(text)
    assert found[len(text) :] == [text[i : i + 2] for i in range(len(text) - 1)]


def test_scripts_mix() -> None:
    """Latin words inside a Chinese text are words; the characters around them are pairs."""
    assert {"查询", "k8s", "集群"} <= set(words("查询k8s集群"))


def test_the_tail_of_a_long_unspaced_run_counts() -> None:
    """The last characters of hundreds without a space are found."""
    assert {"港口", "口地", "地图"} <= set(words("我想请你帮我看看今天的工作安排然后" * 14 + "港口地图"))


def test_terms_are_bounded() -> None:
    """A run of thousands of letters becomes one short term, made of its head and its tail."""
    [term] = words("x" * 5000 + "harbour")
    assert len(term) == MAX_TERM
    assert term.endswith("harbour")


def test_a_long_request_keeps_head_and_tail() -> None:
    """Of a request beyond the bound the middle is left out."""
    text = "alpha " + "filler " * MAX_REQUEST + "omega"
    assert len(cut_request(text)) <= MAX_REQUEST
    assert {"alpha", "omega"} <= set(request_terms(text))


def test_repeats_in_a_request_saturate() -> None:
    """A word said three times weighs one and a half, not three."""
    assert request_terms("refund refund refund") == {"refund": 1.5}


@pytest.mark.parametrize("text", ["", "   ", "\t\n", "!?*", "...", "—", "\x00"])
def test_texts_without_words_have_none(text: str) -> None:
    """Spaces, punctuation and wild cards are no words."""
    assert words(text) == []


SPEC = ToolSpec(
    name="createInvoice",
    namespace="billing",
    title="New bill",
    description="Writes an invoice",
    tags=("money",),
    aliases=("faktura",),
    examples=("charge a customer",),
    parameters={
        "type": "object",
        "properties": {
            "customerId": {"type": "string", "description": "who pays"},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"description": "article"}}}},
        },
    },
)


def test_every_field_counts() -> None:
    """Words of all fields are found, nested parameters included, with the weight of their field."""
    terms, length = tool_terms(SPEC)
    assert terms["articl"] == pytest.approx(WEIGHTS["parameter descriptions"])
    assert terms["sku"] == pytest.approx(WEIGHTS["parameter names"])
    assert terms["invoic"] == pytest.approx(WEIGHTS["name"] + WEIGHTS["description"])
    assert {"bill", "money", "faktura", "charg", "custom"} <= set(terms)
    assert length == pytest.approx(sum(terms.values()))
    assert {field for field, _, _ in field_terms(SPEC)} == set(WEIGHTS)


def test_parameters_are_bounded() -> None:
    """A schema of very many parameters is read up to a bound."""
    many = {f"p{i}": {"type": "string"} for i in range(MAX_PARAMETERS + 50)}
    terms, _ = tool_terms(ToolSpec(name="x", parameters={"type": "object", "properties": many}))
    assert len(terms) == MAX_PARAMETERS + 1


def test_odd_schemas_have_no_words() -> None:
    """Values that are no schemas are passed over."""
    odd = {"properties": {"a": True, "b": {"description": 5}}, "items": "x", "$defs": [], "anyOf": [None, 3]}
    assert set(tool_terms(ToolSpec(name="x", parameters=odd))[0]) == {"x", "a", "b"}


def test_the_encoder_sees_what_a_tool_is_called_and_for() -> None:
    """Identifiers are written as words; without a description the names stand alone."""
    assert encoder_text(ToolSpec(name="get_time", title="Get time")) == "get time"
    assert encoder_text(ToolSpec(name="getTime", namespace="clock", description="Now.")) == "clock get time: Now."
    spec = ToolSpec(
        name="refund",
        title="Give back",
        aliases=("money back",),
        description="Returns a payment.",
        examples=("undo it", "she wants it back"),
    )
    assert encoder_text(spec) == "refund, Give back, money back: Returns a payment. undo it. she wants it back"


def test_names_have_one_key_in_all_styles() -> None:
    """Case and separators do not matter for exact lookup."""
    styles = [
        "createPullRequest",
        "create_pull_request",
        "Create pull request",
        "CREATE-PULL.REQUEST",
        "create/pull/request",
    ]
    assert {name_key(style) for style in styles} == {"createpullrequest"}


def test_a_name_without_letters_has_a_key() -> None:
    """Punctuation-only names can be found too."""
    assert name_key(" + ") == "+"


def test_keys_of_a_tool() -> None:
    """Name, title, aliases and id can be looked up."""
    assert name_keys(SPEC) == ["createinvoice", "newbill", "faktura", "billingcreateinvoice"]


@settings(deadline=None, max_examples=200)
@given(st.lists(st.text(st.characters(categories=["Ll", "Nd"]), min_size=1, max_size=8), min_size=1, max_size=5))
def test_separators_never_change_a_key(parts: list[str]) -> None:
    """Whatever the words, joined in any style they have one key."""
    styles = [
        "_".join(parts),
        "-".join(parts),
        " ".join(parts),
        ".".join(parts),
        "".join(parts),
        "__".join(parts).upper(),
    ]
    keys = {name_key(style) for style in styles[:5]}
    assert len(keys) == 1
    if all(part.isascii() for part in parts):
        assert name_key(styles[5]) in keys


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=300))
def test_words_are_bounded_and_repeatable(text: str) -> None:
    """Any text gives the same short terms each time, the same for every way of writing its characters."""
    found = words(text)
    assert found == words(text)
    assert all(0 < len(term) <= MAX_TERM and "\0" not in term for term in found)
    assert len(found) <= 3 * len(unicodedata.normalize("NFKC", text)) + 1
    assert sorted(words(unicodedata.normalize("NFKD", text))) == sorted(found)
