"""A request that asks for several things, as clauses.

Only strong separators part it: ends of sentences, semicolons, and words such as "then" or "after that". Commas and
a plain "and" do not, for they part the details of one wish as often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolsearch.text import words

_LINKS = (
    r"and then|then|and also|also|after that|afterwards|finally|next|lastly|additionally|furthermore|moreover|"
    r"in addition|besides that|on top of that|"
    r"und dann|danach|anschließend|außerdem|y luego|después|además|et ensuite|puis|ensuite"
)
_SHORT = r"(?<!\b[a-z])(?<!e\.g)(?<!i\.e)(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bvs)(?<!\bno)(?<!\bst)(?<!\bmrs)(?<!\betc)"
"""What a dot after it does not end."""
_SEPARATOR: Final = re.compile(
    rf"[。！？；]+|[!?;]+(?=\s|$)|{_SHORT}\.+(?=\s|$)|\n+|"
    rf"(?:,\s*|\s+(?=(?:and|und|y|et) )|(?<=[.!?;])\s+)(?:{_LINKS})\b,?|"
    r"[，、]?(?:然后|并且|接着|同时|最后|另外|此外)",
    re.IGNORECASE,
)


def clauses(text: str, most: int, fewest_terms: int) -> list[str]:
    """At most `most` clauses of the text, none when it is only one.

    A clause of fewer terms than `fewest_terms` is joined to the one before it, or after it when it is the first.
    """
    if most < 2:
        return []
    pieces = list(_pieces(text))
    if len(pieces) < 2:
        return []
    found: list[str] = []
    waiting = ""
    for piece in pieces:
        joined = f"{waiting} {piece}".strip()
        if len(set(words(joined))) >= fewest_terms:
            found.append(joined)
            waiting = ""
        elif found:
            found[-1] = f"{found[-1]} {joined}"
        else:
            waiting = joined
    if len(found) < 2:
        return []
    return found if len(found) <= most else [*found[: most - 1], " ".join(found[most - 1 :])]


def _pieces(text: str) -> Iterator[str]:
    for piece in _SEPARATOR.split(text):
        if piece.strip():
            yield piece.strip()
