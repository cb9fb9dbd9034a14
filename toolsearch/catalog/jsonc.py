"""JSON as editors keep it: with comments and commas before a closing bracket."""

from __future__ import annotations

import re
from typing import Final

MAX_TEXT: Final = 1_000_000
"""Characters of a text that comments are looked for in."""
_TEXT: Final = r'("(?:[^"\\]|\\.)*+(?:"|\Z|\\\Z))'
"""A text in quotes; one that never ends goes on to the end, so that no later quote is tried as a beginning."""
_PIECES: Final = re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMAS: Final = re.compile(rf"{_TEXT}|,(?=\s*[}}\]])", re.DOTALL)


def plain_json(text: str) -> str:
    """The text without comments and trailing commas; texts in quotes, and long documents, stay as they are."""
    if len(text) > MAX_TEXT:
        return text
    bare = _PIECES.sub(lambda found: found[1] or " ", text)
    return _COMMAS.sub(lambda found: found[1] or "", bare)
