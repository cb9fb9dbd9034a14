"""The command line. Data goes to standard output, progress and complaints to standard error.

Exit codes: 0 found or done, 1 nothing fits, 2 input that is not acceptable, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from toolsearch.errors import ToolSearchError


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit; an error raised on purpose becomes one line on standard error."""
    from toolsearch.cli.app import app

    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app.main(given, prog_name="toolsearch")
    except (ToolSearchError, OSError, MemoryError) as error:
        if "--debug" in given:
            raise
        print(f"toolsearch: {one_line(error)}", file=sys.stderr)
    sys.exit(2)


def one_line(error: BaseException) -> str:
    """The error's text on one line of bounded length."""
    if isinstance(error, OSError) and not isinstance(error, ToolSearchError):
        return f"{error.strerror or type(error).__name__}: {error.filename or ''}".strip(": ")[:1_000]
    return " ".join(str(error).split())[:1_000] or type(error).__name__
