"""Parameters that the host fills in at run time and that the model never sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, cast, get_args, get_origin, runtime_checkable

from toolsearch.errors import ToolExecutionError


@runtime_checkable
class Injects(Protocol):
    """Something that knows a parameter's value at run time.

    A class with this method (static or of the class) hides every parameter annotated with it, also as
    `Annotated[T, Class]` or `Class | None`. So the host can declare its own types without a registry.
    """

    def __toolsearch_injected__(self, context: Any) -> Any:
        """The value, given the context that the executor was called with."""
        ...


@dataclass(frozen=True, slots=True)
class Injected:
    """Marks a parameter as filled at run time: `Annotated[T, Injected]` or `Annotated[T, Injected("key")]`.

    Without a key the value is the context of the call itself; with one it is that key of a mapping, or
    that attribute of anything else.

        @tool
        def balance(account: str, session: Annotated[Session, Injected("session")]) -> int:
            "Money left on an account."
    """

    key: str = ""

    def __toolsearch_injected__(self, context: Any) -> Any:
        """The context, or the part of it that the key names."""
        if not self.key:
            return context
        try:
            keyed = isinstance(context, Mapping)
            return cast(Any, context)[self.key] if keyed else getattr(context, self.key)
        except (KeyError, AttributeError):
            raise ToolExecutionError(f"the context of this call has no {self.key!r:.80}") from None


def injection(annotation: Any) -> Injects | None:
    """What fills a parameter with this annotation at run time; None when the model does."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        marked = next((found for found in map(_marker, metadata) if found), None)
        return marked or injection(inner)
    arguments = [one for one in get_args(annotation) if one is not type(None)]
    if len(arguments) == 1 and type(None) in get_args(annotation):
        return injection(arguments[0])
    return _marker(annotation)


def _marker(value: Any) -> Injects | None:
    if value is Injected:
        return Injected()
    return value if isinstance(value, Injects) else None
