"""TOML files of settings: bounded, with errors that name the file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from toolsearch.errors import InvalidSource


def read_toml(file: Path, what: str, most: int) -> dict[str, Any]:
    """The table in a file of at most so many bytes; `what` says in errors what it holds.

    Raises:
        InvalidSource: it cannot be read, is too large, or is not TOML.
    """
    try:
        if file.stat().st_size > most:
            raise InvalidSource(f"{file} has more than {most} bytes")
        return tomllib.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise InvalidSource(f"no {what} can be read at {str(file)!r:.200}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidSource(f"{str(file)!r} is not TOML: {str(error)[:200]}") from None
