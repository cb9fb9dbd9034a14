"""What the SDKs raise, as one error that says whether asking again may help."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

from toolsearch.errors import MissingExtra, ModelFailed, ToolSearchError
from toolsearch.retries import asked_wait, may_heal

SENSELESS: Final = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
"""What reading an answer ends in that is not of the provider's shape, such as the page of a proxy."""
MAX_WAIT: Final = 60.0
"""Longest wait that a server may ask for, in seconds."""


def sdk(module: str, extra: str) -> Any:
    """The SDK of a provider.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or module, extra) from None


@contextmanager
def translated(provider: str, errors: tuple[type[Exception], ...]) -> Generator[None]:
    """Turn an SDK's errors, and those of reading an answer that makes no sense, into ModelFailed.

    Raises:
        ModelFailed: the SDK raised one of `errors`, or what it let through cannot be read.
    """
    try:
        yield
    except ToolSearchError:
        raise
    except errors as error:
        raise failed(provider, error) from error
    except SENSELESS as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise ModelFailed(f"{provider}: the answer cannot be read ({reason}); is that the right address?") from error


def broken_off(provider: str) -> ModelFailed:
    """The error of a stream that ended before its answer did: half of it must not be taken for the whole."""
    return ModelFailed(f"{provider}: the stream ended before the answer did", retry=True)


def failed(provider: str, error: Exception) -> ModelFailed:
    """The error of an SDK as ModelFailed. Without a status the connection broke, which may heal."""
    status: Any = getattr(error, "status_code", None)
    known = status if isinstance(status, int) and status > 0 else None
    retry = known is None or may_heal(known)
    text = f"{provider}: {str(error)[:500]}"
    return ModelFailed(text, status=known, retry=retry, wait=_wait(getattr(error, "response", None)))


def _wait(response: Any) -> float | None:
    headers: Mapping[str, str] = getattr(response, "headers", None) or {}
    asked = asked_wait(headers)
    return None if asked is None else min(asked, MAX_WAIT)
