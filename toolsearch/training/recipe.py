"""A recipe: everything that decides what a training run makes, as a TOML file that is kept beside the code."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, cast

from toolsearch.errors import InvalidSource
from toolsearch.toml_files import read_toml

FOLDER: Final = Path(__file__).parent / "recipes"
MAX_BYTES: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A source of judged requests: those of a `split` and a `lang`, if named, `most` of them, `a_tool` for each tool.

    Nothing named, or 0, is no bound.
    """

    name: str
    most: int = 0
    a_tool: int = 0
    split: str = ""
    lang: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is trained and how.

    Training takes `steps`; `lower` layers of the base stay as they are; texts are cut to so many tokens. A step takes
    `requests` requests; for a judge each comes with `candidates` tools. `rate` is the highest learning rate,
    `head_rate` that of what is new; `temperature` belongs to the losses of encoder and map.
    """

    kind: Literal["judge", "encoder", "map"]
    parts: tuple[Part, ...]
    seed: int = 0
    steps: int = 1000
    lower: int = 3
    tool_tokens: int = 56
    request_tokens: int = 48
    requests: int = 8
    candidates: int = 8
    rate: float = 1e-4
    head_rate: float = 1e-3
    temperature: float = 0.05


def read_recipe(path: Path) -> Recipe:
    """The recipe in a file.

    Raises:
        InvalidSource: the file is missing, no TOML, or holds a key or value that no recipe has.
    """
    body = read_toml(path, "recipe", MAX_BYTES)
    listed = body.pop("parts", [])
    if not isinstance(listed, list) or not listed:
        raise InvalidSource(f"{path.name}: a recipe needs [[parts]], the sources it trains on")
    found = tuple(Part(**_checked(Part, part, path.name)) for part in cast("list[object]", listed))
    recipe = Recipe(parts=found, **_checked(Recipe, body, path.name))
    if recipe.kind not in ("judge", "encoder", "map"):
        raise InvalidSource(f"{path.name}: kind must be judge, encoder or map, not {recipe.kind!r:.80}")
    return recipe


def _checked(shape: type[Part] | type[Recipe], given: object, where: str) -> dict[str, Any]:
    """The values of a table, each of the type that the shape's field has, numbers positive."""
    if not isinstance(given, dict):
        raise InvalidSource(f"{where}: expected a table, got {given!r:.80}")
    body = cast("dict[str, Any]", given)
    kinds = {one.name: str(one.type) for one in fields(shape) if one.name != "parts"}
    for key, value in body.items():
        if key not in kinds:
            raise InvalidSource(f"{where}: unknown key {key[:80]!r}; use {', '.join(kinds)}")
        text = kinds[key] == "str" or kinds[key].startswith("Literal")
        numbers = (int, float) if kinds[key] == "float" else int
        if isinstance(value, bool) or not isinstance(value, str if text else numbers):
            raise InvalidSource(f"{where}: {key} must be {'a text' if text else kinds[key]}, not {value!r:.80}")
        if not isinstance(value, str) and value < 0:
            raise InvalidSource(f"{where}: {key} is {value}; it must not be negative")
    if missing := {"name", "kind"} & set(kinds) - set(body):
        raise InvalidSource(f"{where}: {missing.pop()} is missing")
    return body
