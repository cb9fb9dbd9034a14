"""System One (`POST /v1/systemone`): TypeSafe, OpenRouter, Ollama, laya and every server that speaks it.

Parsing is lenient where servers differ (no `confidence`, extra keys, no `type`) and strict where a wrong
reading would matter: a missing value, another type, numbers that are no probabilities.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from toolsearch.decision.checks import check_answers, check_request, level, probability
from toolsearch.decision.wire import Endpoint, has_host, post
from toolsearch.errors import InvalidDecision, InvalidInput
from toolsearch.questions import (
    Answer,
    Choice,
    ChoiceAnswer,
    Decision,
    DecisionUsage,
    Question,
    Refusal,
    Scale,
    ScaleAnswer,
    State,
    YesNo,
    YesNoAnswer,
)

TYPESAFE: Final = "https://api.typesafe.ai"
MODEL: Final = "jev-latest"


@dataclass(frozen=True, slots=True)
class SystemOneModel:
    """A server by base URL. The key comes from the environment and is never part of a text."""

    endpoint: Endpoint
    model: str = MODEL

    async def decide(self, state: State, questions: Mapping[str, Question]) -> Decision:
        """See `DecisionModel.decide`."""
        check_request(state, questions)
        asked = {name: _wire(question) for name, question in questions.items()}
        body = await post(self.endpoint, {"model": self.model, "state": state, "questions": asked})
        found = body.get("answers")
        if not isinstance(found, Mapping):
            raise InvalidDecision("the server's answer holds no answers")
        given = cast("Mapping[str, Any]", found)
        answers = {name: _read(name, questions[name], given[name]) for name in questions if name in given}
        model = body.get("model")
        return Decision(
            answers=check_answers(questions, answers),
            model=model if isinstance(model, str) else self.model,
            usage=_usage(body.get("usage")),
        )


def system_one(
    base_url: str = TYPESAFE, model: str = MODEL, *, key: str | None = None, timeout: float = 60.0
) -> SystemOneModel:
    """A System One client; the default server needs a key (or `TYPESAFE_API_KEY`), others take none.

    Raises:
        InvalidInput: the URL is not http(s), or the default server has no key.
    """
    root = base_url.rstrip("/")
    if not root.startswith(("http://", "https://")) or not has_host(root):
        raise InvalidInput(f"a System One server is named by an http(s) URL, not {base_url[:120]!r}")
    secret = key or (os.environ.get("TYPESAFE_API_KEY", "") if root == TYPESAFE else "")
    if root == TYPESAFE and not secret.strip():
        raise InvalidInput(f"{TYPESAFE} needs a key: set TYPESAFE_API_KEY")
    headers = {"Authorization": f"Bearer {secret}"} if secret.strip() else {}
    return SystemOneModel(Endpoint(url=f"{root}/v1/systemone", headers=headers, timeout=timeout), model)


def from_name(rest: str, timeout: float = 60.0) -> SystemOneModel:
    """`URL#MODEL`, either part may be missing; the key is read from TOOLSEARCH_DECISION_KEY for other servers."""
    url, _, model = rest.partition("#")
    key = os.environ.get("TOOLSEARCH_DECISION_KEY") if url and url.rstrip("/") != TYPESAFE else None
    return system_one(url or TYPESAFE, model or MODEL, key=key, timeout=timeout)


def _wire(question: Question) -> dict[str, Any]:
    if isinstance(question, YesNo):
        body: dict[str, Any] = {"type": "noul", "instructions": question.text}
        if question.yes_when or question.no_when:
            body["criteria"] = {"true": question.yes_when or "", "false": question.no_when or ""}
        return body
    if isinstance(question, Choice):
        return {"type": "choice", "instructions": question.text, "criteria": dict(question.options)}
    return {"type": "score", "instructions": question.text, "criteria": list(question.levels)}


_TYPES: Final[dict[type, str]] = {YesNo: "noul", Choice: "choice", Scale: "score"}


def _read(name: str, question: Question, answer: Any) -> Answer:
    wanted = _TYPES[type(question)]
    if not isinstance(answer, Mapping):
        raise InvalidDecision(f"question {name[:80]!r}: the answer is not an object")
    body = cast("Mapping[str, Any]", answer)
    if body.get("type") in ("refusal", "unsupported") or body.get("refusal"):
        return Refusal(str(body.get("reason") or body.get("refusal") or "")[:500])
    if body.get("type", wanted) != wanted:
        raise InvalidDecision(f"question {name[:80]!r} is a {wanted}, but the answer is a {body['type']!r:.40}")
    if wanted not in body:
        raise InvalidDecision(f"question {name[:80]!r}: the answer holds no {wanted!r}")
    if isinstance(question, YesNo):
        return YesNoAnswer(probability(body["noul"], name))
    return _choice(name, body) if isinstance(question, Choice) else _score(name, question, body)


def _choice(name: str, body: Mapping[str, Any]) -> ChoiceAnswer:
    value = str(body["choice"])
    given = _shares(name, body) or {value: 1.0}
    return ChoiceAnswer(value, {str(k): probability(v, name) for k, v in given.items()}, _confidence(body, name))


def _score(name: str, question: Scale, body: Mapping[str, Any]) -> ScaleAnswer:
    given = _shares(name, body)
    levels = [str(number) for number in range(len(question.levels))]
    if unknown := set(given) - set(levels):
        raise InvalidDecision(f"question {name[:80]!r} has no level {sorted(unknown)[0][:40]!r}")
    shares = tuple(probability(given.get(level, 0.0), name) for level in levels) if given else ()
    return ScaleAnswer(level(body["score"], name), shares, _confidence(body, name))


def _shares(name: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    given: object = body.get("probabilities") or {}
    if not isinstance(given, Mapping):
        raise InvalidDecision(f"question {name[:80]!r}: probabilities are not an object")
    return cast("Mapping[str, Any]", given)


def _confidence(body: Mapping[str, Any], name: str) -> float | None:
    return None if body.get("confidence") is None else probability(body["confidence"], name)


def _usage(body: Any) -> DecisionUsage:
    if not isinstance(body, Mapping):
        return DecisionUsage()
    counts = cast("Mapping[str, Any]", body)
    return DecisionUsage(
        input_tokens=_count(counts.get("input_tokens")), output_tokens=_count(counts.get("output_tokens"))
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
