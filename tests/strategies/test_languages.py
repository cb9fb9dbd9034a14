"""Requests in many languages: words within a language, stems that follow it, and no words between languages."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from toolsearch.language import language
from toolsearch.strategies.corpus import MemoryCorpus, view
from toolsearch.strategies.retrievers import open_retriever
from toolsearch.tool import ToolSpec

ENGLISH = (
    ToolSpec(name="book_berth", description="Book a berth for a ship"),
    ToolSpec(name="track_parcel", description="Where a parcel is"),
    ToolSpec(name="print_report", description="Prints the monthly report"),
)
LOCAL = {
    "zh": ("查询运费", "计算货物运输费用"),
    "ja": ("船の予約を取り消す", "岸壁の予約を取り消します"),
    "ko": ("크레인 상태", "크레인 상태 확인"),
    "th": ("ตรวจสอบพัสดุ", "ตรวจสอบสถานะพัสดุของลูกค้า"),
    "ru": ("отменить заказы", "Отмена заказа клиента"),
    "ar": ("إلغاء حجز السفينة", "إلغاء حجز رصيف السفينة"),
    "de": ("die Rechnungen des Kunden stornieren", "Storniert eine Rechnung des Kunden"),
    "es": ("cancelar las reservas del cliente", "Cancela una reserva del cliente"),
    "fr": ("annuler les factures du client", "Annule une facture du client"),
    "pt": ("não quero as encomendas do cliente", "Cancela uma encomenda do cliente"),
}


def found(request: str, tools: Sequence[ToolSpec]) -> list[str]:
    corpus = MemoryCorpus.build(tools)
    return open_retriever("hybrid").search([request], view(corpus), 5).ids


def local(code: str) -> ToolSpec:
    return ToolSpec(name=f"{code}_tool", description=LOCAL[code][1])


@pytest.mark.parametrize("code", LOCAL)
def test_a_language_is_told_by_its_script_or_its_words(code: str) -> None:
    """Requests and descriptions are taken for what they are."""
    assert language(LOCAL[code][0]) == code


@pytest.mark.parametrize("code", LOCAL)
def test_a_request_finds_the_tool_of_its_language_in_a_mixed_catalog(code: str) -> None:
    """Words match within a language, in other forms too, among tools in English and in all other languages."""
    tools = [*ENGLISH, *(local(other) for other in LOCAL)]
    assert found(LOCAL[code][0], tools)[0] == f"{code}_tool"


@pytest.mark.parametrize("code", ["zh", "ja", "ko", "th", "ru", "ar"])
def test_another_script_shares_no_word_with_english(code: str) -> None:
    """Without an encoder that reads both, a request in another script finds nothing among English tools."""
    assert found(LOCAL[code][0], ENGLISH) == []
