"""A process that analyses tools for a build: `python -m toolsearch.index.helper`, one list of bodies after another.

It reads pickled lists of tools' JSON from standard input and answers each with the arrays of a segment.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Final, cast

from toolsearch.strategies.segment import Segment
from toolsearch.tool import ToolSpec

LOW: Final = 10
"""How much a helper gives way to others."""


def main() -> None:
    """Answer until there is nothing more to read."""
    if hasattr(os, "nice"):
        os.nice(LOW)
    given, out = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            bodies = cast("list[str]", pickle.load(given))  # noqa: S301 - from the process that began this one
        except EOFError:
            return
        pickle.dump(Segment.of([ToolSpec.from_json(body) for body in bodies]).to_arrays(), out, protocol=5)
        out.flush()


if __name__ == "__main__":
    main()
