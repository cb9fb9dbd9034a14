"""What a server's answers and failures mean, in plain words."""

from __future__ import annotations

import re
from typing import Any, Final, cast

import anyio
import httpx2
from mcp import MCPError
from mcp_types import CallToolResult, TextContent

from toolsearch.errors import InvalidSource, ToolErrorForModel

FAILURES: Final = (
    MCPError, OSError, RuntimeError, ValueError, httpx2.HTTPError, httpx2.InvalidURL, EOFError, ExceptionGroup,
    anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream,
)  # fmt: skip
"""What talking to a server may end in."""
MAX_ERROR: Final = 4000
"""Characters of a server's error that a model is shown."""
_UNKNOWN: Final = re.compile(r"unknown tool|tool .{0,200}not found|no such tool", re.IGNORECASE)


def reason_of(error: BaseException) -> str:
    """One short line about a failure; it never holds an address, which may carry secrets."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, FileNotFoundError):
        return f"there is no command or folder {str(error.filename or '')[:120]!r}"
    if isinstance(error, httpx2.HTTPStatusError):
        return f"HTTP status {error.response.status_code}"
    if isinstance(error, InvalidSource):
        return str(error)
    text = re.sub(r"https?://\S+", "(address)", " ".join(str(error).split()))
    return text[:200] or type(error).__name__


def answer_of(result: CallToolResult) -> Any:
    """The structured result of a call, or its text; other content is told of in brackets.

    Raises:
        ToolErrorForModel: the server says that the call failed; with its text.
    """
    parts = [part.text if isinstance(part, TextContent) else f"[{part.type}]" for part in result.content]
    text = "\n".join(parts)
    if result.is_error:
        raise ToolErrorForModel(text[:MAX_ERROR] or "the tool failed without a message")
    return text if result.structured_content is None else result.structured_content


def refuses_name(text: str) -> bool:
    """Whether a server's error says that it has no such tool."""
    return bool(_UNKNOWN.search(text[:MAX_ERROR]))
