"""Judges by name: decision models, and chat models made into one."""

from __future__ import annotations

from typing import Final

from toolsearch.decision import MODELS, TIMEOUT, open_decision_model
from toolsearch.decision.chat import ChatDecisionModel
from toolsearch.decision.wrappers import SERVERS, Batched, Cached, Limits
from toolsearch.errors import InvalidInput
from toolsearch.questions import DecisionModel

CHAT: Final = "chat"
CHAT_LIMITS: Final = Limits(questions=20, characters=60_000)
"""More questions in one request make a chat model careless."""


def open_judge(name: str, *, cached: bool = False, timeout: float = TIMEOUT) -> DecisionModel:
    """A judge by name: `chat:PROVIDER:MODEL` for any chat model, or the name of a decision model.

    Requests keep within the limits that are known for the server; see `decision.wrappers.SERVERS`. With `cached`,
    the answer to a question about a state is asked for once, until it falls out of the last 10,000. `timeout` bounds
    one try in seconds; judges in this process have none.

    Raises:
        InvalidInput: no judge is called so.
        MissingExtra: the package behind it is not installed.
    """
    opened = _opened(name, timeout)
    return Cached(opened, name=name) if cached else opened


def _opened(name: str, timeout: float) -> DecisionModel:
    prefix, _, rest = name.partition(":")
    if prefix == CHAT:
        from toolsearch.llm.opening import open_model

        return Batched(ChatDecisionModel(open_model(rest, timeout=timeout)), CHAT_LIMITS)
    if prefix not in MODELS:
        known = ", ".join(f"{one}:" for one in (CHAT, *MODELS))
        raise InvalidInput(f"no judge {name[:80]!r}; names start with {known}")
    return Batched(open_decision_model(name, timeout=timeout), _limits(prefix, rest))


def _limits(prefix: str, rest: str) -> Limits:
    """The published limits of a server; cautious ones for others."""
    if prefix == "openai":
        return SERVERS["openai"]
    if prefix == "systemone" and (not rest.partition("#")[0] or "typesafe.ai" in rest):
        return SERVERS["typesafe"]
    known = {"openrouter.ai": "openrouter", ":11434": "ollama"}
    return next((SERVERS[server] for sign, server in known.items() if sign in rest), Limits())
