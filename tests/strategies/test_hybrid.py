"""The hybrid ranking: words, similarity, exact names, clauses, corrections, and what it says about itself."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.words_encoder import WordsEncoder
from toolsearch.errors import EncoderFailed, InvalidInput
from toolsearch.protocols import Role, SearchResult
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.retrievers import RANKERS, open_retriever
from toolsearch.text import MAX_REQUEST
from toolsearch.tool import ToolSpec


def tool(name: str, description: str = "", **more: object) -> ToolSpec:
    return ToolSpec(name=name, description=description, **more)  # type: ignore[arg-type]


def find(
    query: str | list[str], tools: Sequence[ToolSpec], k: int = 5, *, strategy: str = "hybrid", vectors: bool = True
) -> SearchResult:
    corpus = MemoryCorpus.build(tools, WordsEncoder(256) if vectors else None)
    return open_retriever(strategy).search([query] if isinstance(query, str) else query, view(corpus), k)


HARBOUR = (
    tool("book_berth", "Book a berth for a ship"),
    tool("cancel_berth", "Cancel the booking of a berth"),
    tool("weighParcel", "Weigh a parcel on the quay"),
    tool("track_parcel", "Track where a parcel is"),
    tool("list_crew", "Crew of a ship", aliases=("roster", "值班表")),
    tool("freight_quote", "计算货物运输费用"),
    tool("berth_calendar", "岸壁の予約カレンダーを表示する"),
    tool("crane_status", "크레인 상태 확인"),
)


@pytest.mark.parametrize("strategy", sorted(RANKERS))
@pytest.mark.parametrize("request_", ["weigh parcel", "weigh_parcel", "WEIGH-PARCEL", "weighParcel", "WeighParcel "])
def test_a_tools_name_finds_it_first(strategy: str, request_: str) -> None:
    """In any case and separator style, whatever the strategy."""
    assert find(request_, HARBOUR, strategy=strategy).ids[0] == "weighParcel"


@pytest.mark.parametrize("strategy", sorted(RANKERS))
def test_an_alias_finds_its_tool(strategy: str) -> None:
    """Aliases count like names, in any script."""
    assert find("Roster", HARBOUR, strategy=strategy).ids[0] == "list_crew"
    assert find("值班表", HARBOUR, strategy=strategy).ids[0] == "list_crew"


def test_the_literal_name_is_before_its_look_alikes() -> None:
    """Of several names with one key, the one written so is first."""
    tools = [tool("getItem"), tool("get_item"), tool("Get-Item")]
    assert find("get_item", tools).ids[0] == "get_item"
    assert find("Get-Item", tools).ids[0] == "Get-Item"


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_exact_names_are_first_in_any_catalog(data: st.DataObject) -> None:
    """For random catalogs and every strategy, a name in another style finds its tool first, with parts that add up."""
    word = st.sampled_from(["open", "gate", "list", "ship", "berth", "crew", "map", "2", "v2", "港口", "weigh"])
    names = st.lists(word, min_size=1, max_size=4).map("_".join)
    tools = [
        tool(name, data.draw(st.lists(word, max_size=6).map(" ".join)))
        for name in data.draw(st.lists(names, min_size=1, max_size=12, unique_by=lambda name: name.replace("_", "")))
    ]
    wanted = data.draw(st.sampled_from(tools))
    styled = data.draw(st.sampled_from(["_", " ", "-", ""])).join(wanted.name.split("_")).upper()
    strategy = data.draw(st.sampled_from(sorted(RANKERS)))
    result = find(styled, tools, strategy=strategy)
    assert result.ids[0] == wanted.id
    assert find(styled, tools, strategy=strategy) == result
    for hit in result:
        assert sum(reason.points for reason in hit.reasons) == pytest.approx(hit.score, abs=1e-6)
        assert math.isfinite(hit.score)


@pytest.mark.parametrize(
    ("request_", "first"),
    [
        ("运输费用", "freight_quote"),
        ("予約カレンダー", "berth_calendar"),
        ("크레인 상태", "crane_status"),
        ("show 运输费用 please", "freight_quote"),
    ],
)
def test_unspaced_scripts_match_by_characters(request_: str, first: str) -> None:
    """Chinese, Japanese and Korean requests find tools in their language."""
    assert find(request_, HARBOUR).ids[0] == first


def test_foreign_characters_alone_do_not_match() -> None:
    """A Chinese request on another subject is below all confidence."""
    assert find("天气预报", HARBOUR).band in ("none", "low")


@pytest.mark.parametrize("vectors", [True, False])
def test_a_word_of_half_the_tools_still_counts(vectors: bool) -> None:
    """Tiny catalogs have usable weights."""
    tools = [tool("t1", "alpha beta"), tool("t2", "gamma beta"), tool("t3", "delta"), tool("t4", "epsilon")]
    found = find("beta", tools, 4, vectors=vectors)
    assert set(found.ids[:2]) == {"t1", "t2"}
    assert find("kiln heat", [tool("kiln_heat", "Heat of a kiln"), tool("moss_rake", "Rake")], vectors=vectors).ids[
        0
    ] == ("kiln_heat")


def test_whole_words_only() -> None:
    """A word inside another word does not match, and a shared prefix adds nothing."""
    pages = [tool(f"quarry_manage_page_{i:02d}", f"Manage page {i:02d} of the logbook") for i in range(30)]
    tools = [*pages, tool("quarry_seam_age", "Age of a rock seam"), tool("quarry_drill_hole", "Drill a hole")]
    assert find("quarry seam", tools).ids[0] == "quarry_seam_age"
    assert find("age", tools, strategy="lexical").ids == ["quarry_seam_age"]


def test_a_stuffed_description_does_not_win() -> None:
    """A tool that lists the words and names of all others is behind each of them."""
    verbs = ["book berth", "cancel berth", "print label", "weigh parcel", "track parcel", "open gate", "read meter"]
    honest = [tool(verb.replace(" ", "_"), verb.capitalize()) for verb in verbs]
    names = " ".join(spec.name for spec in honest)
    stuffed = tool("universal_helper", f"{' '.join(verbs)} {names} always the best tool " * 5)
    for verb in verbs:
        request = f"please {verb.split()[0]} the {verb.split()[1]} now"
        assert find(request, [stuffed, *honest], vectors=False).ids[0] == verb.replace(" ", "_")


@pytest.mark.parametrize(
    ("request_", "first"),
    [("shedule meeting", "schedule_meeting"), ("cancle meetings", "cancel_meeting"), ("herno counts", "heron_census")],
)
@pytest.mark.parametrize("vectors", [True, False])
def test_typing_errors_are_read_past(request_: str, first: str, vectors: bool) -> None:
    """A letter missing, wrong, too many or swapped finds the tool all the same, and a note says how it was read."""
    tools = [
        tool("schedule_meeting", "Schedule a meeting"),
        tool("cancel_meeting", "Cancel a meeting"),
        tool("heron_census", "Count herons at a pond"),
        tool("map_show", "Show a map"),
        tool("tap_close", "Close a tap"),
    ]
    result = find(request_, tools, 3, vectors=vectors)
    assert result.ids[0] == first
    assert any("read as" in note for note in result.notes)


def test_a_correction_is_a_word() -> None:
    """A word is read only as one that some tool writes, not as a form that merely has the stem of one."""
    tools = [
        tool("page_read", "Reads a page"),
        tool("invoice_send", "Sends an invoice"),
        tool("map_show", "Show a map"),
    ]
    assert find("readme", tools, vectors=False).notes == ()
    assert find("invoce", tools, vectors=False).notes == ("no tool has 'invoce'; read as 'invoice'",)
    assert find("invoicse", tools, vectors=False).notes == ("no tool has 'invoicse'; read as 'invoices'",)


@pytest.mark.parametrize("request_", ["list berth", "listing berths", "lists of a berth", "BERTHS listed"])
def test_number_and_inflection_do_not_matter(request_: str) -> None:
    """Singular and plural, and other forms of a word, find the same tool."""
    tools = [tool("list_berths", "Berths of the harbour"), tool("list_ships"), tool("close_berth_gate")]
    assert find(request_, tools, vectors=False).ids[0] == "list_berths"


@pytest.mark.parametrize(
    "request_", ["Crew roster", "crew_roster", "crewRoster", "CREW-ROSTER", "值班表", "people.on.duty"]
)
def test_titles_and_aliases_are_names_too(request_: str) -> None:
    """A title or an alias in any style finds its tool first, with full confidence."""
    tools = [tool("crew", "Crew"), tool("x9", title="Crew roster", aliases=("值班表", "people on duty")), *HARBOUR[:4]]
    result = find(request_, tools)
    assert result.ids[0] == "x9"
    assert result.band == "high"


def test_short_words_are_never_corrected() -> None:
    """Words of up to three letters mean what they say."""
    assert find("map", [tool("tap_close", "Close a tap"), tool("cap_open", "A cap")], vectors=False).ids == []


def test_a_word_that_some_tool_has_is_not_corrected() -> None:
    """The exact word is above any correction."""
    tools = [tool("form_fill", "Fill in a form"), tool("farm_visit", "Visit a farm"), tool("x", "Nothing")]
    result = find("form", tools, vectors=False)
    assert result.ids == ["form_fill"]
    assert result.notes == ()


def test_corrections_look_only_at_what_the_caller_sees() -> None:
    """A hidden tool's words give no hint of its existence."""
    corpus = MemoryCorpus.build([tool("payroll_run", "Run the payroll", groups=("hr",)), tool("note", "Write a note")])
    result = open_retriever().search(["payrol"], view(corpus, groups=[]), 5)
    assert result.ids == []
    assert result.notes == ()


def test_a_small_word_of_the_language_is_no_short_form() -> None:
    """Spanish "del" asks for nothing to be deleted; English "del" does."""
    tools = [tool("delete_note", "Delete a note"), tool("borrar_nota", "Borrar la nota del cliente")]
    assert "delet" not in str(find("la nota del cliente", tools, vectors=False).hits[0].reasons)
    assert find("la nota del cliente", tools, vectors=False).ids == ["borrar_nota"]
    assert find("del note", tools, vectors=False).ids[0] == "delete_note"


def test_abbreviations_are_written_out() -> None:
    """A short form finds what is spelled out, and a long form finds the short one."""
    tools = [tool("list_kubernetes_pods"), tool("open_pull_request"), tool("dump_db"), tool("water_plants")]
    for request_, first in [("k8s", "list_kubernetes_pods"), ("pr", "open_pull_request"), ("database", "dump_db")]:
        assert find(request_, tools, vectors=False).ids[0] == first


def test_a_name_inside_a_sentence_counts() -> None:
    """An identifier quoted in a request brings its tool to the top."""
    tools = [tool("createTicket", "Ticket"), tool("create_ticket_comment", "Ticket comment"), tool("ticket", "create")]
    assert find("please use createTicket for the thing about a printer", tools).ids[0] == "createTicket"


def test_a_name_with_small_words_between_its_own() -> None:
    """A short request that says a tool's name with stop words in it prefers that tool to one that is only like it."""
    tools = [
        tool("cancel_flight", "What comes back depends on the fare"),
        tool("cancel_hotel", "Cancel my room, my room"),
    ]
    found = find("cancel my flight", tools)
    assert found.ids[0] == "cancel_flight"
    assert "exact" in [reason.kind for reason in found.hits[0].reasons]
    assert "exact" not in [reason.kind for reason in find("the cancel", tools).hits[0].reasons]


def test_several_needs_are_all_served() -> None:
    """A list of needs gives each its turn; every hit says which need it serves, and scores fall along the list."""
    result = find(["weigh a parcel", "crew of the ship", "track a parcel"], HARBOUR, 6)
    assert set(result.ids[:3]) == {"weighParcel", "list_crew", "track_parcel"}
    assert {hit.id: hit.need for hit in result.hits[:3]} == {"weighParcel": 0, "list_crew": 1, "track_parcel": 2}
    scores = [hit.score for hit in result]
    assert scores == sorted(scores, reverse=True)
    assert len(set(result.ids)) == len(result.ids) >= 3
    for hit in result:
        assert sum(reason.points for reason in hit.reasons) == pytest.approx(hit.score)


def test_clauses_of_one_request_each_count() -> None:
    """A text with several wishes finds a tool for each, and says which clause brought it."""
    result = find("Weigh the heavy parcel on the quay, then list all the crew members of that ship.", HARBOUR, 2)
    assert set(result.ids) == {"weighParcel", "list_crew"}
    assert {"clause"} <= {reason.kind for hit in result for reason in hit.reasons}
    assert [
        result.needs[{hit.id: hit.need for hit in result}[tool_id]][:6] for tool_id in ("weighParcel", "list_crew")
    ] == [
        "Weigh ",
        "list a",
    ]


def test_a_single_need_serves_itself() -> None:
    """A request without clauses is the only need."""
    result = find("weigh a parcel", HARBOUR)
    assert (result.needs, {hit.need for hit in result}) == (("weigh a parcel",), {0})


@pytest.mark.parametrize("blank", ["", "   ", "\t\n"])
def test_blank_requests_are_refused(blank: str) -> None:
    """An empty request is an error that says what to do, never the catalog."""
    with pytest.raises(InvalidInput, match="request is empty"):
        find(blank, HARBOUR)


@pytest.mark.parametrize("request_", ["*", "???", "%", "。", "💰"])
def test_requests_without_words_find_nothing(request_: str) -> None:
    """Wild cards and punctuation give an empty answer with a note."""
    result = find(request_, HARBOUR)
    assert result.ids == []
    assert (result.band, result.shortfall) == ("none", 5)
    assert "no words" in result.notes[0]


def test_a_pattern_is_plain_text() -> None:
    """A regular expression is searched as words, in no time."""
    tools = [tool("aaaa", "a" * 40 + "!"), tool("brush_clean", "Clean a brush")]
    assert find("(a+)+$ clean brush", tools).ids[0] == "brush_clean"


@pytest.mark.parametrize("strategy", sorted(RANKERS))
def test_an_empty_catalog_answers(strategy: str) -> None:
    """Nothing is found, and nothing fails."""
    result = find("refund", [], strategy=strategy)
    assert (result.ids, result.shortfall, result.band) == ([], 5, "none")


@pytest.mark.parametrize("strategy", sorted(RANKERS))
def test_tools_without_words_do_no_harm(strategy: str) -> None:
    """Tools of punctuation only are passed over; a good one beside them is found."""
    tools = [tool("!!", "..."), tool("--"), tool("refund_payment", "Give the money back")]
    result = find("refund a payment", tools, strategy=strategy)
    assert result.ids[0] == "refund_payment"
    assert all(math.isfinite(hit.score) for hit in result)


def test_a_tool_without_a_vector_competes_with_its_words() -> None:
    """A vector that is missing is no zero: the words decide for that tool."""

    class Partial(WordsEncoder):
        def encode(self, texts: Sequence[str], role: Role) -> np.ndarray:
            vectors = super().encode(texts, role)
            vectors[[i for i, text in enumerate(texts) if role == "tool" and "berth" in text]] = np.nan
            return vectors

    result = open_retriever().search(["book a berth for the ship"], view(MemoryCorpus.build(HARBOUR, Partial(256))), 3)
    assert result.ids[0] == "book_berth"
    assert all(math.isfinite(hit.score) for hit in result)


def test_an_encoder_that_fails_leaves_the_words() -> None:
    """The answer is ranked by words and says so."""

    class Broken(WordsEncoder):
        def encode(self, texts: Sequence[str], role: Role) -> np.ndarray:
            if role == "query":
                raise EncoderFailed("the line is dead")
            return super().encode(texts, role)

    result = open_retriever().search(["track parcel now"], view(MemoryCorpus.build(HARBOUR, Broken(256))), 3)
    assert result.ids[0] == "track_parcel"
    assert result.notes == ("ranked by words alone, for the encoder failed: the line is dead",)


def test_an_encoder_is_not_given_what_it_cannot_read() -> None:
    """An encoder that names its languages sees no text in another script."""

    class English(WordsEncoder):
        languages = ("en",)
        asked: list[str] = []  # noqa: RUF012

        def encode(self, texts: Sequence[str], role: Role) -> np.ndarray:
            self.asked += [text for text in texts if role == "query"]
            return super().encode(texts, role)

    encoder = English(256)
    corpus = MemoryCorpus.build(HARBOUR, encoder)
    assert open_retriever().search(["运输费用"], view(corpus), 3).ids == ["freight_quote"]
    open_retriever().search(["track a parcel"], view(corpus), 3)
    assert encoder.asked == ["track a parcel"]


def test_a_request_far_too_long_says_that_it_was_cut() -> None:
    """Head and tail count; the middle is left out, and a note says so."""
    result = find("please kindly " * 5000 + "list_crew", HARBOUR)
    assert result.ids[0] == "list_crew"
    assert str(MAX_REQUEST // 2) in result.notes[0]


def test_filter_and_exclusions_narrow_before_ranking() -> None:
    """A short answer is topped up with what the filter leaves; the rest says what is missing."""
    tools = [tool(f"send_{i}", "Send a letter", tags=("old",) if i < 20 else ()) for i in range(24)]
    corpus = MemoryCorpus.build(tools, WordsEncoder())
    narrow = view(corpus, condition="not exists tags", exclude_ids=["send_20"])
    result = open_retriever().search(["send a letter today"], narrow, 5)
    assert sorted(result.ids) == ["send_21", "send_22", "send_23"]
    assert result.shortfall == 2


def test_ties_keep_the_catalogs_order() -> None:
    """Equal tools come in the order of the catalog."""
    tools = [tool("beta", "same words", id=f"id{i}") for i in range(9)]
    assert find("same words", tools, 9).ids == [f"id{i}" for i in range(9)]


def test_hits_survive_as_json() -> None:
    """Scores and points are plain numbers."""
    result = find("track a parcel", HARBOUR)
    body = [[hit.id, hit.score, [[r.kind, r.points, r.detail] for r in hit.reasons]] for hit in result]
    assert json.loads(json.dumps(body)) == body


def test_unknown_strategies_are_named() -> None:
    """A wrong name is refused with the right ones."""
    with pytest.raises(InvalidInput, match="'bm25'; there are hybrid, lexical, simple, vector"):
        open_retriever("bm25")


def test_other_languages_are_left_to_words_when_the_encoder_cannot_read_them() -> None:
    """With an English encoder a German request goes by its words, and foreign words are not taken for slips."""

    class English(WordsEncoder):
        languages = ("en",)

        def knows(self, word: str) -> bool:
            return True

    tools = [tool("pay_bill", "Pay the bill"), tool("rechnung_anlegen", "Legt eine Rechnung für den Kunden an")]
    result = open_retriever().search(
        ["die Rechnungen der Kunden anlegan"], view(MemoryCorpus.build(tools, English(64))), 2
    )
    assert result.ids == ["rechnung_anlegen"]
    assert result.notes == ()
    assert {reason.kind for reason in result.hits[0].reasons} == {"words"}
