"""Words, fields and name keys: the same for tools and requests, in many scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.text import (
    MAX_REQUEST,
    MAX_WORD,
    clipped,
    encoder_text,
    language_of,
    name_key,
    name_keys,
    request_terms,
    tool_terms,
    words,
)
from toolsearch.tool import ToolSpec


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("createPullRequest", ["creat", "pull", "request", "createpullrequest"]),
        ("parseXMLFeed", ["pars", "xml", "feed", "parsexmlfeed"]),
        ("exportV2Report", ["export", "v2", "report", "exportv2report"]),
        ("k8s", ["k8s"]),
        ("list PDFs", ["list", "pdfs"]),
        ("Überweisung prüfen", ["uberweisung", "prufen"]),
        ("please help me", []),
        ("运输费用", ["运", "输", "费", "用", "运输", "输费", "费用"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """Identifiers are split and kept whole, common words dropped, accents folded, unspaced scripts paired."""
    assert words(text, "zh" if "运" in text else "en") == expected


def test_mixed_scripts_keep_both_parts() -> None:
    """Latin words beside Chinese ones are analysed as words."""
    assert {"invoic", "运输"} <= set(words("show invoices 运输 please"))


def test_unspaced_runs_beside_latin_letters_are_separate() -> None:
    """A script change ends a token, so neither part hides in the other."""
    assert {"pdf", "导出"} <= set(words("导出PDF文件"))


def test_stems_follow_the_language() -> None:
    """German and Spanish forms meet."""
    assert words("die Rechnungen", "de") == words("der Rechnung", "de")
    assert words("las facturas", "es") == words("una factura", "es")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("ich möchte die Rechnung erstatten", "de"),
        ("quiero devolver el dinero al cliente", "es"),
        ("je voudrais rembourser la facture", "fr"),
        ("给客户退款", "zh"),
        ("顧客に返金する", "ja"),
        ("고객에게 환불", "ko"),
        ("вернуть деньги клиенту", "ru"),
        ("คืนเงินลูกค้า", "th"),
        ("give the customer their money back", "en"),
        ("refund", "en"),
        ("", "en"),
    ],
)
def test_language_guess(text: str, language: str) -> None:
    """Script decides first, common words next; nothing to tell means English."""
    assert language_of(text) == language


def test_repeated_request_words_saturate() -> None:
    """A word said often counts less than twice."""
    assert request_terms("refund refund refund refund") == {"refund": pytest.approx(1.6)}


def test_long_requests_keep_head_and_tail() -> None:
    """The decisive word may stand at the end."""
    text = "intro " + "filler " * MAX_REQUEST + "harbour"
    assert len(clipped(text)) <= MAX_REQUEST + 1
    assert {"intro", "harbour"} <= set(request_terms(text))


def test_long_runs_are_cut_not_dropped() -> None:
    """A run of letters without blanks yields bounded words, its tail included."""
    found = words("a" * 200 + "map")
    assert max(map(len, found)) <= MAX_WORD
    assert found[-1].endswith("map")


STYLES = ["create_pull_request", "createPullRequest", "CreatePullRequest", "create-pull-request", "Create pull request",
          "create.pull.request", "CREATE_PULL_REQUEST"]  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_name_key_ignores_case_and_separators(style: str) -> None:
    """All styles of a name share one key."""
    assert name_key(style) == "createpullrequest"


def test_name_key_keeps_what_differs() -> None:
    """C, C# and C++ are three names; a name of separators alone still has a key."""
    assert len({name_key("C"), name_key("C#"), name_key("C++")}) == 3
    assert name_key("__")


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=4))
def test_name_key_is_equal_for_all_styles(parts: list[str]) -> None:
    """Joining words in any style gives one key."""
    camel = parts[0] + "".join(part.capitalize() for part in parts[1:])
    assert len({name_key(style) for style in ("_".join(parts), "-".join(parts), " ".join(parts), camel)}) == 1


@given(st.text(max_size=200))
def test_analysis_takes_any_text(text: str) -> None:
    """Nothing raises, and no word is empty or endless."""
    assert all(0 < len(word) <= 4 * MAX_WORD for word in words(text))
    assert isinstance(name_key(text), str)


TOOL = ToolSpec(
    name="refundPayment",
    namespace="payments",
    title="Refund payment",
    description="Give money back",
    aliases=("reimburse",),
    tags=("billing",),
    examples=("undo the charge",),
    parameters={
        "type": "object",
        "properties": {
            "charge": {
                "type": "object",
                "description": "what was paid",
                "properties": {"invoice_id": {"type": "string", "description": "number of the invoice"}},
            },
            "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": True}}},
        },
    },
)


def test_fields_are_weighed() -> None:
    """Name words weigh most; nested parameters and their descriptions are read; the length adds up."""
    terms, length = tool_terms(TOOL)
    assert terms["refund"] == 3.0
    assert terms["invoic"] == pytest.approx(0.5 + 0.7)
    assert {"sku", "reimburs", "bill", "payment", "paid"} <= set(terms)
    assert length == pytest.approx(sum(terms.values()))


def test_encoder_text_and_keys() -> None:
    """The encoder reads namespace and name as words, then the description."""
    assert encoder_text(TOOL) == "payments refund payment: Give money back"
    assert encoder_text(ToolSpec(name="a_b")) == "a b"
    assert name_keys(TOOL) == ["refundpayment", "paymentsrefundpayment", "reimburse"]
