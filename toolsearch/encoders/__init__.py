"""Encoders: text in, unit vectors out. One file for each kind, one table from names to classes.

`open_encoder` takes what an index definition says: `builtin`, `st:intfloat/multilingual-e5-small`,
`openai:https://host/v1#model`, `use`.
"""

from __future__ import annotations

from toolsearch.encoders.opening import open_encoder

__all__ = ["open_encoder"]
