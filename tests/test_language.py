"""The language of a few words."""

from __future__ import annotations

import pytest

from toolsearch.language import language


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("refund the customer", "en"),
        ("invoice", "en"),
        ("", "en"),
        ("12345 !?", "en"),
        ("die Rechnung für den Kunden", "de"),
        ("Termin löschen", "de"),
        ("muéstrame los pedidos de este mes", "es"),
        ("supprimer une réunion dans le calendrier", "fr"),
        ("quero cancelar minha reserva", "pt"),
        ("vorrei cancellare il mio ordine", "it"),
        ("отменить заказ", "ru"),
        ("取消订单", "zh"),
        ("予約をキャンセルする", "ja"),
        ("예약 취소", "ko"),
        ("ยกเลิกการจอง", "th"),
        ("إلغاء الطلب", "ar"),
        ("查询 kubernetes 集群状态", "zh"),
    ],
)
def test_language_of_a_request(text: str, code: str) -> None:
    """Scripts decide, then stop words and accents; without evidence it is English."""
    assert language(text) == code


@pytest.mark.parametrize("text", ["list all die rolls", "send the resume to Ana", "open the café menu for me"])
def test_english_with_a_foreign_word_stays_english(text: str) -> None:
    """One borrowed word does not change the language of a sentence that has English ones."""
    assert language(text) == "en"
