"""Decision models: who answers typed questions with probabilities. `open_decision_model` finds one by name."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from toolsearch.errors import InvalidInput
from toolsearch.questions import DecisionModel

REMOTE: Final = {
    "systemone": "toolsearch.decision.systemone:from_name",
    "openai": "toolsearch.decision.openai_decisions:from_name",
}
LOCAL: Final = {
    "local": "toolsearch.decision.local:LocalJudge",
    "onnx": "toolsearch.decision.cross_encoder:from_folder",
    "st": "toolsearch.decision.cross_encoder:from_sentence_transformers",
}
MODELS: Final = REMOTE | LOCAL
"""Prefix of a name -> what makes the model from the rest of the name; remote ones also take a time limit."""
TIMEOUT: Final = 60.0
"""Seconds that one try of asking a server may take."""


def open_decision_model(name: str, *, timeout: float = TIMEOUT) -> DecisionModel:
    """A model by name: `systemone:URL#MODEL`, `openai:MODEL`, `local:FOLDER`, `onnx:FOLDER` or `st:MODEL`.

    `timeout` bounds one try of asking a server, in seconds.

    Raises:
        InvalidInput: the prefix is not known.
        MissingExtra: the package behind it is not installed.
    """
    prefix, _, rest = name.partition(":")
    if prefix not in MODELS:
        raise InvalidInput(f"no decision model {name[:80]!r}; names start with {', '.join(f'{k}:' for k in MODELS)}")
    module, _, function = MODELS[prefix].partition(":")
    make = getattr(import_module(module), function)
    return make(rest, timeout) if prefix in REMOTE else make(rest)
