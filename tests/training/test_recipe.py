"""Recipes: what they may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolsearch.errors import InvalidSource
from toolsearch.training.recipe import FOLDER, Part, read_recipe


def test_the_committed_recipe_is_one() -> None:
    """The recipe that comes with the code can be read and names our own text."""
    recipe = read_recipe(FOLDER / "judge.toml")
    assert recipe.kind == "judge"
    assert Part(name="own", lang="en") in recipe.parts


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("kind = 'judge'", "parts"),
        ("kind = 'poem'\n[[parts]]\nname = 'a'", "kind must be"),
        ("[[parts]]\nname = 'a'", "kind is missing"),
        ("kind = 'judge'\n[[parts]]\nmost = 1", "name is missing"),
        ("kind = 'judge'\nsteps = 'many'\n[[parts]]\nname = 'a'", "steps must be int"),
        ("kind = 'judge'\nsteps = -1\n[[parts]]\nname = 'a'", "negative"),
        ("kind = 'judge'\nspeed = 1\n[[parts]]\nname = 'a'", "unknown key 'speed'"),
        ("kind = ", "not TOML"),
    ],
)
def test_what_is_no_recipe_is_named(tmp_path: Path, text: str, named: str) -> None:
    """A wrong key or value is said with its name."""
    path = tmp_path / "recipe.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidSource, match=named):
        read_recipe(path)


def test_a_missing_recipe_is_named(tmp_path: Path) -> None:
    """A path without a file says so."""
    with pytest.raises(InvalidSource, match="no recipe"):
        read_recipe(tmp_path / "none.toml")
