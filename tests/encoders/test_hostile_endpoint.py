"""Endpoints that lie, dawdle or break: every one ends in EncoderFailed, within bounds, without the key."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.encoders.endpoint_server import Reply, embeddings, endpoint, ok
from toolsearch.encoders.answers import rows_of
from toolsearch.encoders.endpoint import Limits, key_variable
from toolsearch.encoders.openai import OpenAIEncoder
from toolsearch.errors import EncoderFailed

QUICK = Limits(seconds=5, tries=3, first_pause=0.001)
SHORT = Limits(seconds=0.3, tries=1)


def one(embedding: object, **more: object) -> dict[str, Any]:
    return {"data": [{"index": 0, "embedding": embedding, **more}]}


LIES: dict[str, tuple[object, str]] = {
    "no JSON": (b"<html>hello</html>", "not JSON"),
    "deep JSON": (b"[" * 50_000, "not JSON"),
    "a number": (3, "no list 'data'"),
    "no data": ({"object": "list"}, "no list 'data'"),
    "data is text": ({"data": "none"}, "no list 'data'"),
    "too few": ({"data": []}, "0 vectors for 1"),
    "too many": ({"data": [{}, {}]}, "2 vectors for 1"),
    "null vector": ({"data": [None]}, "not an object"),
    "wrong index": (one([1.0], index=7), "index 7"),
    "index is text": (one([1.0], index="0"), "index '0'"),
    "index is true": (one([1.0], index=True), "index True"),
    "no embedding": ({"data": [{"index": 0}]}, "not a list of numbers"),
    "texts": (one(["1.0", "2.0"]), "not a list of numbers"),
    "truths": (one([True, False]), "not a list of numbers"),
    "nested": (one([[1.0]]), "not a list of numbers"),
    "huge whole number": (one([10**400]), "not a list of numbers"),
    "empty vector": (one([]), "numbers"),
    "broken base64": (one("&&&"), "base64"),
    "cut base64": (one("AAAA"), "base64"),
    "NaN": (b'{"data":[{"index":0,"embedding":[NaN,1]}]}', "NaN or infinity"),
    "infinity": (b'{"data":[{"index":0,"embedding":[1e999,1]}]}', "NaN or infinity"),
    "beyond float32": (one([1e300, 1.0]), "NaN or infinity"),
    "too wide": (one([0.5] * 20_000), "16384"),
}


@pytest.mark.parametrize(("answer", "complaint"), LIES.values(), ids=LIES.keys())
def test_a_wrong_answer_is_refused(answer: object, complaint: str) -> None:
    """What is not one finite vector for each text never reaches an index; the error says what came."""
    with endpoint(lambda _body, _number: ok(answer)) as served, pytest.raises(EncoderFailed, match=complaint) as caught:
        OpenAIEncoder(f"{served.url}#m", QUICK).encode(["pay"], "query")
    assert len(str(caught.value)) < 400


def test_vectors_of_different_length_are_refused() -> None:
    """One answer holds one width."""
    with pytest.raises(EncoderFailed, match="alike"):
        rows_of({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}, 2)


def test_two_vectors_for_one_text_are_refused() -> None:
    """An index used twice leaves another text without a vector."""
    with pytest.raises(EncoderFailed, match="used before"):
        rows_of({"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}, 2)


def test_a_model_that_changes_its_width_is_refused() -> None:
    """Vectors of two widths cannot be compared."""

    def changing(body: dict[str, Any], number: int) -> Reply:
        return ok(one([1.0] * number))

    with endpoint(changing) as served:
        encoder = OpenAIEncoder(f"{served.url}#m", QUICK)
        encoder.encode(["pay"], "query")
        with pytest.raises(EncoderFailed, match="2 dimensions where 1"):
            encoder.encode(["pay"], "query")


def test_a_storm_of_refusals_ends_after_the_tries() -> None:
    """An endpoint that says "later" for ever is asked a bounded number of times."""
    with endpoint(lambda _body, _number: (429, {}, b"slow down")) as served:
        with pytest.raises(EncoderFailed, match="429.*slow down"):
            OpenAIEncoder(f"{served.url}#m", QUICK).encode(["pay"], "query")
        assert len(served.bodies) == QUICK.tries


def test_a_pause_longer_than_the_bound_is_not_waited_for() -> None:
    """ "Come back in an hour" fails at once."""
    with endpoint(lambda _body, _number: (429, {"Retry-After": "3600"}, b"tomorrow")) as served:
        with pytest.raises(EncoderFailed, match="429"):
            OpenAIEncoder(f"{served.url}#m", QUICK).encode(["pay"], "query")
        assert len(served.bodies) == 1


def test_a_refused_key_is_named_by_its_variable_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint's own text may repeat the key; the error does not."""
    monkeypatch.setenv(key_variable("127.0.0.1"), "sk-very-secret")
    with endpoint(lambda _body, _number: (401, {}, b"wrong key sk-very-secret " * 1000)) as served:
        with pytest.raises(EncoderFailed, match="401.*TOOLSEARCH_KEY_127_0_0_1") as caught:
            OpenAIEncoder(f"{served.url}#m", QUICK).encode(["pay"], "query")
        assert len(served.bodies) == 1
    assert "secret" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_key_that_is_no_header_is_refused_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key with a line break inside never reaches the wire or the error."""
    monkeypatch.setenv(key_variable("127.0.0.1"), "sk-one\r\nX-Evil: two")
    with endpoint(lambda body, _: ok(embeddings(body))) as served:
        with pytest.raises(EncoderFailed, match="TOOLSEARCH_KEY_127_0_0_1") as caught:
            OpenAIEncoder(f"{served.url}#m", QUICK).encode(["pay"], "query")
        assert not served.bodies
    assert "sk-one" not in str(caught.value)


def test_a_redirect_is_not_followed() -> None:
    """A key and the texts stay with the host that was named."""
    with endpoint(lambda _body, _number: (307, {"Location": "http://127.0.0.1:9/v1"}, b"")) as served:
        with pytest.raises(EncoderFailed, match="307"):
            OpenAIEncoder(f"{served.url}#m", QUICK).encode(["pay"], "query")
        assert len(served.bodies) == 1


def test_an_endless_answer_is_cut_off() -> None:
    """More bytes than so many vectors can take are not read."""

    def endless(body: dict[str, Any], number: int) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        while True:
            yield b" " * 1_000_000

    with endpoint(endless) as served, pytest.raises(EncoderFailed, match="more than"):
        OpenAIEncoder(f"{served.url}#m", QUICK).encode(["pay"], "query")


def test_a_compressed_answer_is_refused() -> None:
    """A small answer cannot unfold into a huge one."""
    bomb = gzip.compress(json.dumps(one([1.0])).encode())
    with (
        endpoint(lambda _body, _number: (200, {"Content-Encoding": "gzip"}, bomb)) as served,
        pytest.raises(EncoderFailed, match="compressed"),
    ):
        OpenAIEncoder(f"{served.url}#m", QUICK).encode(["pay"], "query")


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"], ids=["header", "body"])
def test_a_slow_drip_ends_at_the_limit(start: bytes) -> None:
    """A byte now and then, in the header or in the body, does not hold the caller."""

    def drip(body: dict[str, Any], number: int) -> Iterator[bytes]:
        yield start or b"HTTP/1.1 200 OK\r\nX-Slow: "
        while True:
            yield b"x"

    with endpoint(drip) as served, pytest.raises(EncoderFailed, match=r"within 0\.3 s"):
        OpenAIEncoder(f"{served.url}#m", SHORT).encode(["pay"], "query")


def test_an_endpoint_that_breaks_off_is_reported() -> None:
    """A connection that ends in the middle is retried and then named."""
    cut = [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"]
    with endpoint(lambda _body, _number: iter(cut)) as served:
        with pytest.raises(EncoderFailed, match="broke off"):
            OpenAIEncoder(f"{served.url}#m", QUICK).encode(["pay"], "query")
        assert len(served.bodies) == QUICK.tries


def test_an_endpoint_that_is_not_there_is_reported() -> None:
    """Nothing listens: the error names the host."""
    with pytest.raises(EncoderFailed, match=r"127\.0\.0\.1"):
        OpenAIEncoder("http://127.0.0.1:9/v1#m", QUICK).encode(["pay"], "query")
