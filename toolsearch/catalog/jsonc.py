"""JSON as editors keep it: with comments and commas before a closing bracket."""

from __future__ import annotations

import re
from typing import Final

MAX_TEXT: Final = 1_000_000
"""Characters of a text that comments are looked for in."""
_PIECES: Final = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMAS: Final = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)


def plain_json(text: str) -> str:
    """The text without comments and trailing commas; texts in quotes, and long documents, stay as they are."""
    if len(text) > MAX_TEXT or text.count("/*") > text.count("*/") + 100:
        return text
    bare = _PIECES.sub(lambda found: found[1] or " ", text)
    return _COMMAS.sub(lambda found: found[1] or "", bare)
