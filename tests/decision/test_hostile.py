"""Servers that misbehave: drips, storms, half answers, redirects, floods; and limits that differ by server."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.decision.servers import raw, serving
from toolsearch import ToolSpec, open_judge
from toolsearch.chat import ChatResponse
from toolsearch.conversation import AssistantMessage
from toolsearch.decision import chat_stated
from toolsearch.decision.checks import probability
from toolsearch.decision.openai_decisions import OpenAIDecisionModel
from toolsearch.decision.systemone import SystemOneModel
from toolsearch.decision.wire import MAX_ANSWER, Endpoint
from toolsearch.decision.wrappers import SERVERS, Batched, Cached, Limits, Listened, limits_of
from toolsearch.errors import DecisionFailed, InvalidDecision, InvalidInput, ToolSearchError
from toolsearch.questions import Choice, ChoiceAnswer, Decision, Question, Refusal, State, YesNo, YesNoAnswer
from toolsearch.strategies.deciding import Asking, judge

ASKED: dict[str, Question] = {"a": YesNo("A?"), "b": YesNo("B?")}
GOOD = {"model": "m", "answers": {"a": {"noul": 0.9}, "b": {"noul": 0.1}}}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def decide(url: str, timeout: float = 5.0, retries: int = 0) -> Decision:
    model = SystemOneModel(Endpoint(url=f"{url}/v1/systemone", timeout=timeout, retries=retries))
    return asyncio.run(model.decide("state", ASKED))


def openai_decides(url: str, timeout: float = 5.0, **more: Any) -> Decision:
    openai = pytest.importorskip("openai")
    client = openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1", **{"max_retries": 0, **more})
    return asyncio.run(OpenAIDecisionModel(client, timeout=timeout).decide("state", ASKED))


def drip(connection: socket.socket) -> None:
    """A byte now and then, for ever as far as a client is concerned."""
    connection.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n")
    for _ in range(100):
        connection.sendall(b" ")
        time.sleep(0.05)


@pytest.mark.parametrize("ask", [decide, openai_decides])
def test_a_slow_drip_ends_in_time(ask: Callable[..., Decision]) -> None:
    """Each byte comes in time, the answer does not: the limit is on the whole."""
    with raw(drip) as url, pytest.raises(DecisionFailed):
        ask(url, timeout=0.4)


def half(connection: socket.socket) -> None:
    body = json.dumps(GOOD).encode()
    connection.sendall(HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body[: len(body) // 2])


@pytest.mark.parametrize("ask", [decide, openai_decides])
@pytest.mark.parametrize("send", [half, lambda _: None, lambda c: c.sendall(b"\x00garbage\r\n\r\n")])
def test_connections_that_break(ask: Callable[..., Decision], send: Callable[[socket.socket], None]) -> None:
    """Half a body, none at all, and bytes that are no HTTP are failures."""
    with raw(send) as url, pytest.raises(DecisionFailed):
        ask(url)


def test_a_storm_that_does_not_end() -> None:
    """Tries are counted; the status and the server's words are told."""
    with serving(lambda _, __: (429, {"detail": "slow down"}, {"Retry-After": "0"})) as (url, seen):
        with pytest.raises(DecisionFailed, match="429.*slow down"):
            decide(url, retries=2)
        assert len(seen) == 3


def test_a_server_that_wants_to_be_left_alone() -> None:
    """Who asks to wait longer than is waited for is not asked again; the error tells how long."""
    with serving(lambda _, __: (503, {}, {"Retry-After": "3600"})) as (url, seen):
        with pytest.raises(DecisionFailed, match="wait 3600 seconds"):
            decide(url, retries=2)
        assert len(seen) == 1


@pytest.mark.parametrize(("status", "tries"), [(408, 3), (500, 3), (529, 3), (302, 1), (401, 1), (404, 1), (501, 1)])
def test_what_is_tried_again(status: int, tries: int) -> None:
    """Time-outs and failures of the server are; redirects, which could take the key along, and refusals are not."""
    headers = {"retry-after-ms": "1", "Location": "http://127.0.0.1:9/"}
    with serving(lambda _, __: (status, {}, headers)) as (url, seen):
        with pytest.raises(DecisionFailed, match=str(status)):
            decide(url, retries=2)
        assert len(seen) == tries


def test_a_flood_is_cut_off() -> None:
    """An answer that is too large is not read to its end."""
    with (
        serving(lambda _, __: (200, b" " * (MAX_ANSWER + 1), {})) as (url, _),
        pytest.raises(InvalidDecision, match="more"),
    ):
        decide(url)


HALVES: list[Any] = [
    {"model": "m", "answers": {"a": {"noul": 0.9}}},
    {"model": "m", "answers": {"a": {"noul": 0.9}, "b": None}},
    {"model": "m", "answers": {"a": {"noul": 0.9}, "b": {}}},
    {"model": "m", "answers": [{"noul": 0.9}, {"noul": 0.1}]},
    {"model": "m"},
]


def test_a_number_without_end_is_no_probability() -> None:
    """A whole number that no float holds."""
    for read in (
        lambda: probability(10**400, "q"),
        lambda: chat_stated.read({"q": 10**400}, ChatResponse(message=AssistantMessage()), {"q": YesNo("?")}),
    ):
        with pytest.raises(InvalidDecision):
            read()


def test_judges_that_cannot_be_asked_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that is none, and a missing key."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name in ("systemone:http://[::bad#m", "openai:x", "chat:openai-chat:http://[::bad/v1#m"):
        with pytest.raises(InvalidInput):
            open_judge(name)


@pytest.mark.parametrize("body", HALVES)
def test_half_answers(body: Any) -> None:
    """A question without an answer is not guessed."""
    with serving(lambda _, __: (200, body, {})) as (url, _), pytest.raises(InvalidDecision):
        decide(url)


STRANGE: list[Any] = [
    {**GOOD, "usage": "much", "model": 3, "latency_ms": None},
    {**GOOD, "usage": {"input_tokens": "7", "output_tokens": -1}, "routing": {"x": [1]}},
    {"answers": {**GOOD["answers"], "c": {"noul": 7}, "": None}, "object": "decision"},  # type: ignore[dict-item]
]


@pytest.mark.parametrize("body", STRANGE)
def test_strange_company_does_not_matter(body: Any) -> None:
    """Extra keys, answers to nobody's question and unusable counts leave the answers as they are."""
    with serving(lambda _, __: (200, body, {})) as (url, _):
        decision = decide(url)
    assert [decision.probability(name) for name in ASKED] == [0.9, 0.1]
    assert list(decision.answers) == ["a", "b"]
    assert decision.usage.input_tokens == 0


SDK_BODIES: list[Any] = [
    {"model": "g"},
    {"answers": None},
    {"answers": [{"type": "predicate", "name": "a", "probability": 0.5}]},
    {"answers": [3, {"type": "predicate", "name": "a"}]},
    {"answers": [{"type": ["x"], "name": "a"}, {"type": "predicate", "name": "b", "probability": 0.5}]},
    {"answers": [{"type": "score", "name": "a", "score": 10**400}]},
    b"not json",
    b"[]",
    b'{"answers": [{"type": "predicate", "name": "a", "probability": NaN}]}',
]


@pytest.mark.parametrize("body", SDK_BODIES)
def test_the_sdk_checks_nothing_so_we_do(body: Any) -> None:
    """Whatever the vendor's client lets through is a failed decision, never another error."""
    with serving(lambda _, __: (200, body, {})) as (url, _), pytest.raises(DecisionFailed):
        openai_decides(url)


class Noting:
    """Says 0.7 to everything, chooses the first option, and notes sizes of what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Question]] = []

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        self.asked.append(dict(questions))
        return Decision(answers={name: self._answer(one) for name, one in questions.items()})

    def _answer(self, question: Question) -> YesNoAnswer | ChoiceAnswer:
        if isinstance(question, Choice):
            first = next(iter(question.options))
            return ChoiceAnswer(first, {first: 1.0})
        return YesNoAnswer(0.7)


@pytest.mark.parametrize("server", sorted(SERVERS))
def test_each_servers_limits_are_kept(server: str) -> None:
    """Whatever is asked, no request has more questions or characters than the server takes, and none is lost."""
    model, limits = Noting(), SERVERS[server]
    questions = {f"q{i}": YesNo(f"Is it {i}? {'x' * (i % 50) * 40}") for i in range(500)}
    decision = asyncio.run(Batched(model, limits).decide("state " * 100, questions))
    assert sorted(decision.answers) == sorted(questions)
    for part in model.asked:
        assert len(part) <= limits.questions
        assert sum(len(one.text) for one in part.values()) + 600 <= limits.characters


def test_a_choice_keeps_to_the_options_of_its_server() -> None:
    """A shortlist larger than a choice may be is asked about in parts, each with "none of them"."""
    model = Noting()
    tools = [ToolSpec(name=f"t{i}") for i in range(50)]
    wrapped = Cached(Batched(model, SERVERS["ollama"]), name="x")
    judged, _ = asyncio.run(judge(wrapped, "state", tools, Asking(choice=True)))
    assert len(judged) == 50
    assert [len(one.options) for part in model.asked for one in part.values() if isinstance(one, Choice)] == [26, 26]
    assert limits_of(Listened(wrapped, ())) == SERVERS["ollama"]
    assert limits_of(model) is None


def test_a_state_without_room_is_not_sent() -> None:
    """It is a failed decision that names both sizes, so that a policy for failures applies."""
    model = Noting()
    with pytest.raises(DecisionFailed, match="takes 50"):
        asyncio.run(Batched(model, Limits(characters=50)).decide("x" * 60, ASKED))
    assert model.asked == []


def test_one_failing_batch_fails_the_decision() -> None:
    """Others under way are given up."""

    def second_fails(body: dict[str, Any], _: int) -> tuple[int, Any, dict[str, str]]:
        if "q3" in body["questions"]:
            return 400, {"detail": "no"}, {}
        return 200, {"answers": {name: {"noul": 0.5} for name in body["questions"]}}, {}

    questions: dict[str, Question] = {f"q{i}": YesNo(f"{i}?") for i in range(6)}
    with serving(second_fails) as (url, _):
        model = Batched(SystemOneModel(Endpoint(url=url, timeout=5, retries=0)), Limits(questions=3))
        with pytest.raises(DecisionFailed, match="400"):
            asyncio.run(model.decide("state", questions))


@pytest.mark.parametrize(
    ("name", "questions"),
    [("systemone:http://127.0.0.1:11434#nimble", 64), ("systemone:https://openrouter.ai/api#x", 200),
     ("systemone:https://elsewhere.example#x", 64), ("openai:", 400), ("chat:ollama:x", 20)],
)  # fmt: skip
def test_judges_by_name_keep_their_servers_limits(name: str, questions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Known servers have their published limits, others cautious ones."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    known = limits_of(open_judge(name))
    assert known is not None
    assert known.questions == questions


def test_refusals_are_asked_again() -> None:
    """The cache keeps answers, not refusals; a judge that failed leaves nothing behind."""

    class Moody:
        def __init__(self) -> None:
            self.calls = 0

        async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
            self.calls += 1
            if self.calls == 1:
                raise DecisionFailed("ill")
            answers = [Refusal("no") if self.calls == 2 else YesNoAnswer(0.5) for _ in questions]
            return Decision(answers=dict(zip(questions, answers, strict=True)))

    cached = Cached(Moody(), name="m")
    with pytest.raises(ToolSearchError):
        asyncio.run(cached.decide("s", ASKED))
    assert isinstance(asyncio.run(cached.decide("s", ASKED)).answers["a"], Refusal)
    assert asyncio.run(cached.decide("s", ASKED)).probability("a") == 0.5
    assert asyncio.run(cached.decide("s", {"other name": ASKED["a"]})).usage.requests == 0
