"""What is written before a text, by role: models trained with such prefixes lose much without them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolsearch.protocols import Role


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prefix of a request and the prefix of a tool."""

    query: str = ""
    tool: str = ""

    def of(self, role: Role) -> str:
        """The prefix of a role."""
        return self.query if role == "query" else self.tool


_SEARCH: Final = "Represent this sentence for searching relevant passages: "

KNOWN: Final = (
    (r"e5-.*instruct|qwen3-embedding", Prompts("Instruct: Given a request, find the tool that serves it\nQuery: ")),
    (r"\be5-(small|base|large)|multilingual-e5", Prompts("query: ", "passage: ")),
    (r"bge-(small|base|large)-en|mxbai-embed|arctic-embed-(xs|s|m|l)$", Prompts(_SEARCH)),
    (r"arctic-embed-\w+-v2", Prompts("query: ")),
    (r"nomic-embed-text", Prompts("search_query: ", "search_document: ")),
    (r"embeddinggemma", Prompts("task: search result | query: ", "title: none | text: ")),
)
"""Model names and the prompts that their authors state; the first match counts."""


def known_prompts(model: str) -> Prompts:
    """The prompts of a model known by its name; none for others."""
    return next((prompts for pattern, prompts in KNOWN if re.search(pattern, model.lower())), Prompts())
