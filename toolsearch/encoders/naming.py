"""The grammar of what follows an encoder's kind: `MODEL?option=value&option=value`, values percent-encoded."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote

from toolsearch.encoders.prompts import Prompts
from toolsearch.errors import InvalidInput

MAX_NAME = 1_000
"""Characters of an encoder's name."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model and the options given with it."""

    model: str
    options: dict[str, str] = field(default_factory=dict[str, str])

    def prompts(self, otherwise: Prompts) -> Prompts:
        """The prompts of the options `query` and `tool`; what is not given comes from `otherwise`."""
        return Prompts(self.options.get("query", otherwise.query), self.options.get("tool", otherwise.tool))

    def number(self, option: str, largest: int) -> int | None:
        """The value of an option that is a whole number from 1 to `largest`; None when not given.

        Raises:
            InvalidInput: it is something else.
        """
        value = self.options.get(option)
        if value is None:
            return None
        if not (value.isascii() and value.isdigit() and len(value) < 10 and 1 <= int(value) <= largest):
            raise InvalidInput(f"{option}={value[:80]!r} must be a whole number from 1 to {largest}")
        return int(value)


def model_name(text: str, options: tuple[str, ...]) -> ModelName:
    """A model's name and its options, of which only those listed exist.

    Raises:
        InvalidInput: no model is named, or an option is unknown, given twice or malformed.
    """
    model, _, tail = text[: MAX_NAME + 1].partition("?")
    if len(text) > MAX_NAME or not model.strip():
        raise InvalidInput(f"an encoder needs a model's name of 1 to {MAX_NAME} characters, not {text[:80]!r}")
    try:
        pairs = parse_qsl(tail, keep_blank_values=True, strict_parsing=bool(tail), errors="strict")
    except ValueError as error:
        raise InvalidInput(f"cannot read the options {tail[:80]!r} of encoder {model[:80]!r}: {error}") from None
    for name, _value in pairs:
        if name not in options:
            raise InvalidInput(f"encoder {model[:80]!r} has no option {name[:80]!r}; there are {', '.join(options)}")
    if len(dict(pairs)) < len(pairs):
        raise InvalidInput(f"an option of encoder {model[:80]!r} is given twice: {tail[:80]!r}")
    return ModelName(model, dict(pairs))


def prompts_text(prompts: Prompts) -> str:
    """How prompts stand in an encoder's id."""
    return f"query={quote(prompts.query, safe=' :')};tool={quote(prompts.tool, safe=' :')}"
