"""What a docstring says about a function, a class and their parameters.

Google, NumPy and Sphinx styles, told apart by griffe's heuristics.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

_QUIET: Final[Any] = {style: {"warnings": False} for style in ("google", "numpy", "sphinx")}
_PARAMETERS: Final = frozenset({"parameters", "other parameters", "attributes"})


@dataclass(frozen=True, slots=True)
class Documentation:
    """The text without its sections, and a description for each documented parameter or attribute."""

    text: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def read_docstring(docstring: str | None) -> Documentation:
    """Text and parameter descriptions of a docstring; stars before a name are dropped.

    Paragraphs, notes and warnings stay in the text. Sections on returns, errors and examples are for
    the reader of the code and are left out.
    """
    if not docstring or not docstring.strip():
        return Documentation()
    import griffe

    texts: list[str] = []
    parameters: dict[str, str] = {}
    for section in griffe.Docstring(docstring).parse("auto", per_style_options=_QUIET):
        value: Any = section.value
        if section.kind.value == "text":
            texts.append(value.strip())
        elif section.kind.value == "admonition":
            texts.append(f"{section.title or value.kind}: {value.contents.strip()}")
        elif section.kind.value in _PARAMETERS:
            parameters |= {item.name.lstrip("*"): " ".join(item.description.split()) for item in value}
    return Documentation("\n\n".join(texts), parameters)
