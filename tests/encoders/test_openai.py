"""An honest OpenAI-compatible endpoint: what is sent, what comes back, keys, prompts, batches, retries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.encoders.endpoint_server import Reply, embeddings, endpoint, ok, vector
from toolsearch.encoders import open_encoder
from toolsearch.encoders.endpoint import Limits, key_variable
from toolsearch.encoders.openai import MAX_CHARACTERS, MAX_INPUTS, OpenAIEncoder
from toolsearch.errors import EncoderFailed, InvalidInput

QUICK = Limits(seconds=5, first_pause=0.001)
TEXTS = ["refund a payment", "get the weather", "a"]


def honest(body: dict[str, Any], number: int) -> Reply:
    return ok(embeddings(body))


def unit(texts: list[str]) -> np.ndarray:
    rows = np.array([vector(text) for text in texts])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("options", ["", "?format=float"])
@pytest.mark.parametrize("as_floats", [False, True], ids=["as asked", "always floats"])
def test_vectors_come_back_as_unit_rows_in_order(options: str, as_floats: bool) -> None:
    """Base64 and float answers, listed in any order, give the same normalised rows."""
    with endpoint(lambda body, _: ok(embeddings(body, order=-1, as_floats=as_floats))) as served:
        encoder = OpenAIEncoder(f"{served.url}/#m{options}", QUICK)
        vectors = encoder.encode(TEXTS, "tool")
        assert vectors.dtype == np.float32
        assert np.allclose(vectors, unit(TEXTS), atol=1e-6)
        assert encoder.dimension == 3
        assert len(served.bodies) == 1
        assert served.headers[0]["path"] == "/v1/embeddings"
        assert "authorization" not in served.headers[0]


def test_blank_texts_are_not_sent_and_are_zero() -> None:
    """Endpoints refuse empty texts; such a text has the zero vector."""
    with endpoint(honest) as served:
        vectors = OpenAIEncoder(f"{served.url}#m", QUICK).encode(["", "pay", " \n"], "tool")
        assert served.bodies[0]["input"] == ["pay"]
    assert not vectors[[0, 2]].any()
    assert vectors[1].any()


def test_only_blank_texts_still_have_the_width_of_the_model() -> None:
    """The width is asked of the endpoint when nothing else told it."""
    with endpoint(honest) as served:
        assert OpenAIEncoder(f"{served.url}#m", QUICK).encode([" "], "tool").shape == (1, 3)
        assert OpenAIEncoder(f"{served.url}#m", QUICK).encode([], "tool").shape == (0, 3)


def test_prompts_come_from_the_name_or_from_the_options() -> None:
    """A known model gets its prompts; given ones win, one by one."""
    with endpoint(honest) as served:
        known = OpenAIEncoder(f"{served.url}#intfloat/multilingual-e5-small", QUICK)
        given = OpenAIEncoder(f"{served.url}#intfloat/multilingual-e5-small?query=find%3A+", QUICK)
        for encoder in (known, given):
            encoder.encode(["pay"], "query")
            encoder.encode(["pay"], "tool")
        sent = [body["input"][0] for body in served.bodies]
        assert served.bodies[0]["model"] == "intfloat/multilingual-e5-small"
    assert sent == ["query: pay", "passage: pay", "find: pay", "passage: pay"]
    assert known.id != given.id


def test_many_texts_are_sent_in_batches_within_the_bounds() -> None:
    """No request holds too many texts or too long ones, and rows stay in order."""
    texts = [f"text {n}" for n in range(MAX_INPUTS + 5)] + ["x" * 3 * MAX_CHARACTERS] * 40
    with endpoint(honest) as served:
        vectors = OpenAIEncoder(f"{served.url}#m", QUICK).encode(texts, "tool")
        sizes = [len(body["input"]) for body in served.bodies]
        longest = max(len(text) for body in served.bodies for text in body["input"])
    assert sum(sizes) == len(texts)
    assert max(sizes) <= MAX_INPUTS
    assert len(sizes) > 2
    assert longest == MAX_CHARACTERS
    assert np.allclose(vectors[MAX_INPUTS], unit([texts[MAX_INPUTS]])[0], atol=1e-6)


def test_a_key_is_sent_to_its_own_host_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of another host, OpenAI's included, never leaves; the id holds no key."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-you")
    with endpoint(honest) as served:
        encoder = OpenAIEncoder(f"{served.url}#m", QUICK)
        encoder.encode(["pay"], "tool")
        monkeypatch.setenv(key_variable("127.0.0.1"), "sk-yours")
        encoder.encode(["pay"], "tool")
        sent = [headers.get("authorization") for headers in served.headers]
    assert sent == [None, "Bearer sk-yours"]
    assert "sk-" not in encoder.id


def test_hosts_have_variables_of_their_own() -> None:
    """Dots and hyphens are told apart."""
    names = {key_variable(host) for host in ("api.openai.com", "a-b.example", "a.b.example", "localhost")}
    assert names == {
        "OPENAI_API_KEY",
        "TOOLSEARCH_KEY_A__B_EXAMPLE",
        "TOOLSEARCH_KEY_A_B_EXAMPLE",
        "TOOLSEARCH_KEY_LOCALHOST",
    }


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_again(status: int) -> None:
    """Answers that say "later" are retried, after the pause that they name."""

    def busy_twice(body: dict[str, Any], number: int) -> Reply:
        return (status, {"Retry-After": "0"}, b"later") if number < 3 else ok(embeddings(body))

    with endpoint(busy_twice) as served:
        vectors = OpenAIEncoder(f"{served.url}#m", Limits(seconds=5, first_pause=60)).encode(["pay"], "query")
        assert len(served.bodies) == 3
    assert vectors.any()


def test_asked_dimensions_are_sent_and_checked() -> None:
    """`dimensions` goes to the endpoint, stands in the id, and an answer of another width fails."""
    with endpoint(honest) as served:
        encoder = OpenAIEncoder(f"{served.url}#m?dimensions=2", QUICK)
        assert encoder.dimension == 2
        assert "dim=2" in encoder.id
        with pytest.raises(EncoderFailed, match="3 dimensions where 2"):
            encoder.encode(["pay"], "query")
        assert served.bodies[0]["dimensions"] == 2


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("openai:", "https://host"),
        ("openai:ftp://host/v1#m", "https://host"),
        ("openai:https://host/v1", "model"),
        ("openai:https://host/v1#m?colour=red", "colour"),
        ("openai:https://host/v1#m?dimensions=-1", "dimensions"),
        ("openai:https://host/v1#m?format=hex", "format"),
        ("openai:https://host/v1#m?query=a&query=b", "twice"),
        ("openai:https://host/v1#m?query", "options"),
        ("openai:https://host/v1?key=1#m", "environment"),
        ("openai:https://me:secret@host/v1#m", "environment"),
        ("openai:https://[host/v1#m", "https://host"),
        ("openai:https://host:99999/v1#m", "https://host"),
        ("openai:https://me:secret@/v1#m", "https://host"),
        ("openai:https://host/v1#" + "m" * 5000, "1000"),
    ],
)
def test_a_malformed_name_is_refused_without_secrets(name: str, complaint: str) -> None:
    """The error says what is wrong and never repeats a password."""
    with pytest.raises(InvalidInput, match=complaint) as caught:
        open_encoder(name)
    assert "secret" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_opening_asks_nothing_of_the_endpoint() -> None:
    """Opening and the id work while the endpoint is down."""
    assert open_encoder("openai:http://127.0.0.1:9/v1#m").id == "openai:http://127.0.0.1:9/v1#m;query=;tool=;unit"
