"""The command line. Data goes to standard output, progress and complaints to standard error.

Exit codes: 0 found or done, 1 nothing fits, 2 input that is not acceptable, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from toolsearch.cli.formats import shown
from toolsearch.errors import ToolSearchError

MAX_COMPLAINT: Final = 1_000


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit; an error raised on purpose becomes one line on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        from toolsearch.cli.app import app

        app(given, prog_name="toolsearch")
    except (ToolSearchError, OSError, MemoryError) as error:
        if "--debug" in given:
            raise
        print(f"toolsearch: {one_line(error)}", file=sys.stderr)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(2)


def one_line(error: BaseException) -> str:
    """The error's text on one line of bounded length, without what would steer a terminal."""
    text = str(error)
    if isinstance(error, OSError) and not isinstance(error, ToolSearchError):
        text = f"{error.strerror or type(error).__name__}: {error.filename or ''}".strip(": ")
    return shown(text, MAX_COMPLAINT) or type(error).__name__
