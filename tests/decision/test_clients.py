"""Decision clients on the real wire, against a real server and against hostile ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import pytest

from tests.decision.servers import serving, sparrow
from toolsearch.decision import open_decision_model
from toolsearch.decision.systemone import SystemOneModel, system_one
from toolsearch.decision.wire import Endpoint
from toolsearch.decision.wrappers import Batched, Cached, Limits, Listened, Listener
from toolsearch.errors import DecisionFailed, DecisionRefused, InvalidDecision, InvalidInput
from toolsearch.questions import Choice, ChoiceAnswer, Decision, Question, Scale, ScaleAnswer, State, YesNo, YesNoAnswer

QUESTIONS: dict[str, Question] = {
    "fits": YesNo("Does this tool do what is asked?", "it answers it", "it does not"),
    "tool": Choice("Which tool serves the request?", {"weather": "forecasts", "mail": "sends letters", "none": None}),
    "risk": Scale("Risk of running it", ("harmless", "needs care", "dangerous")),
}


def decide(
    model: Any, questions: Mapping[str, Question] = QUESTIONS, state: State = "will it rain tomorrow"
) -> Decision:
    """One decision, run to its end."""
    return asyncio.run(model.decide(state, questions))


def test_a_real_system_one_server() -> None:
    """All three kinds of question are answered with probabilities, for texts and objects."""
    pytest.importorskip("sparrow_decider")
    with sparrow() as url:
        for state in ("will it rain tomorrow", {"request": "will it rain", "language": "en"}):
            decision = decide(system_one(url, "sparrow"), state=state)
            assert 0 <= decision.probability("fits") <= 1
            choice, risk = decision.answers["tool"], decision.answers["risk"]
            assert isinstance(choice, ChoiceAnswer)
            assert sum(choice.probabilities.values()) == pytest.approx(1, abs=0.02)
            assert isinstance(risk, ScaleAnswer)
            assert 0 <= risk.mean <= 2
            assert decision.model


GOOD: dict[str, Any] = {
    "fits": {"type": "noul", "noul": 0.9},
    "tool": {"type": "choice", "choice": "weather", "probabilities": {"weather": 0.8, "mail": 0.2}},
    "risk": {"type": "score", "score": 0.1, "probabilities": {"0": 0.9, "1": 0.1}},
}


def reply(**changes: Any) -> dict[str, Any]:
    """A server's body with some answers replaced, or left out when None."""
    answers = {name: answer for name, answer in {**GOOD, **changes}.items() if answer is not None}
    return {"model": "m-1", "answers": answers, "usage": {"input_tokens": 7, "output_tokens": 2}, "extra": [1]}


def ask(body: Any, status: int = 200) -> Decision:
    """A decision by a server that always answers so."""
    with serving(lambda _, __: (status, body, {})) as (url, _):
        return decide(SystemOneModel(Endpoint(url=f"{url}/v1/systemone", timeout=5, retries=0)))


def test_lenient_where_servers_differ() -> None:
    """Missing confidence, missing type, extra keys and a missing level are taken; usage and model are kept."""
    decision = ask(reply(fits={"noul": 1.0000005, "confidence": 0.3, "note": "x"}))
    assert decision.probability("fits") == 1.0
    assert decision.answers["risk"] == ScaleAnswer(0.1, (0.9, 0.1, 0.0))
    assert (decision.model, decision.usage.input_tokens) == ("m-1", 7)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("fits", None),
        ("fits", {"type": "choice", "noul": 0.5}),
        ("fits", {"type": "noul"}),
        ("fits", {"type": "noul", "noul": 1.2}),
        ("fits", {"type": "noul", "noul": True}),
        ("fits", "yes"),
        ("tool", {"type": "choice", "choice": "fax"}),
        ("tool", {"type": "choice", "choice": "mail", "probabilities": {"fax": 1.0}}),
        ("tool", {"type": "choice", "choice": "mail", "probabilities": [1]}),
        ("risk", {"type": "score", "score": 2.5}),
        ("risk", {"type": "score", "score": "low"}),
        ("risk", {"type": "score", "score": 1, "probabilities": {"01": 1.0}}),
    ],
)
def test_answers_that_do_not_fit(name: str, answer: Any) -> None:
    """Each is refused, whatever the server."""
    with pytest.raises(InvalidDecision, match=name):
        ask(reply(**{name: answer}))


@pytest.mark.parametrize("body", [b"[]", b"{", b"not json", b'{"answers": 3}', b'{"answers": {"fits": {"noul": NaN}}}'])
def test_bodies_that_are_no_decision(body: bytes) -> None:
    """Garbage is an invalid decision, not a crash."""
    with pytest.raises(InvalidDecision):
        ask(body)


def test_a_refused_question_leaves_the_others() -> None:
    """Only reading the refused answer fails."""
    decision = ask(reply(fits={"type": "refusal", "reason": "policy"}))
    assert isinstance(decision.answers["tool"], ChoiceAnswer)
    with pytest.raises(DecisionRefused, match="policy"):
        decision.probability("fits")


def test_storms_are_ridden_out() -> None:
    """429 with Retry-After and 503 are tried again; a client error is not, and its text is told."""

    def storm(_: dict[str, Any], number: int) -> tuple[int, Any, dict[str, str]]:
        return [(429, {}, {"Retry-After": "0"}), (503, {}, {"retry-after-ms": "1"}), (200, reply(), {})][number - 1]

    with serving(storm) as (url, seen):
        assert decide(system_one(url)).probability("fits") == 0.9
        assert len(seen) == 3
    with serving(lambda _, __: (422, {"detail": "bad criteria"}, {})) as (url, seen):
        with pytest.raises(DecisionFailed, match="422.*bad criteria"):
            decide(system_one(url))
        assert len(seen) == 1


def test_a_silent_server_ends_in_time() -> None:
    """A server that does not answer gives a clear failure after the time limit."""

    def silent(_: dict[str, Any], __: int) -> tuple[int, Any, dict[str, str]]:
        time.sleep(1.0)
        return 200, reply(), {}

    with serving(silent) as (url, _), pytest.raises(DecisionFailed, match="no answer"):
        decide(SystemOneModel(Endpoint(url=url, timeout=0.2, retries=0)))


def test_keys_stay_out_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default server needs a key; no error and no repr shows one."""
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    with pytest.raises(InvalidInput, match="TYPESAFE_API_KEY"):
        system_one()
    assert "sesame" not in repr(system_one(key="sesame"))
    with pytest.raises(InvalidInput, match="http"):
        system_one("ftp://x")
    with pytest.raises(InvalidInput, match="systemone:"):
        open_decision_model("magic:x")


class Counting:
    """A decision model that answers every yes/no question with 0.7 and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        self.asked.append(list(questions))
        return Decision(answers={name: YesNoAnswer(0.7) for name in questions}, model="c")


MANY: dict[str, Question] = {f"q{i}": YesNo(f"Is it {i}?") for i in range(10)}


def test_batches_keep_within_limits() -> None:
    """Ten questions at three a request are four requests, joined in order."""
    model = Counting()
    decision = decide(Batched(model, Limits(questions=3, concurrent=1)), MANY)
    assert [len(part) for part in model.asked] == [3, 3, 3, 1]
    assert list(decision.answers) == list(MANY)
    assert decision.usage.requests == 4
    with pytest.raises(InvalidInput, match="limit is 2"):
        decide(Batched(model, Limits(options=2)), QUESTIONS)


def test_cached_answers_are_not_asked_again() -> None:
    """Only new questions go to the model; another state is another question; the size is bounded."""
    model = Counting()
    cached = Cached(model, name="c", size=4)
    first = {"a": YesNo("A?"), "b": YesNo("B?")}
    assert decide(cached, first) != Decision(answers={})
    assert decide(cached, {**first, "c": YesNo("C?")}).probability("c") == 0.7
    assert model.asked == [["a", "b"], ["c"]]
    decide(cached, first, state="another")
    assert len(model.asked) == 3


def test_listeners_hear_all() -> None:
    """Requests, answers and errors are told; the error still reaches the caller."""
    heard: list[str] = []
    listener = Listener(
        on_request=lambda *_: heard.append("asked"),
        on_answer=lambda _: heard.append("answered"),
        on_error=lambda _: heard.append("failed"),
    )
    decide(Listened(Counting(), (listener,)), MANY)
    with serving(lambda _, __: (400, {}, {})) as (url, _), pytest.raises(DecisionFailed):
        decide(Listened(system_one(url), (listener,)))
    assert heard == ["asked", "answered", "asked", "failed"]


def test_openai_decisions_through_the_sdk() -> None:
    """Questions and answers have the vendor's shapes; a refusal concerns its own question."""
    openai = pytest.importorskip("openai")
    from toolsearch.decision.openai_decisions import OpenAIDecisionModel

    usage = {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
             "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 6}  # fmt: skip
    answers = [
        {"type": "predicate", "name": "fits", "probability": 0.9},
        {"type": "choice", "name": "tool", "choice": "mail", "confidence": 0.5,
         "probabilities": [{"value": "mail", "probability": 0.6}]},
        {"type": "refusal", "name": "risk"},
    ]  # fmt: skip
    with serving(lambda _, __: (200, {"model": "gpt-6-luna", "answers": answers, "usage": usage}, {})) as (url, seen):
        client = openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)
        decision = decide(OpenAIDecisionModel(client))
    assert decision.probability("fits") == 0.9
    asked = {question["name"]: question for question in seen[0]["questions"]}
    assert asked["fits"]["type"] == "predicate"
    assert "Answer yes when: it answers it" in asked["fits"]["instructions"]
    assert asked["risk"]["levels"][0] == {"label": "harmless"}
