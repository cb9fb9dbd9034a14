from __future__ import annotations

from pathlib import Path

import pytest

from toolsearch.errors import InvalidInput
from toolsearch.server.settings import read_settings


def test_options_go_before_variables_and_those_before_the_file(tmp_path: Path) -> None:
    """One file, its table [serve] when there is one; foreign variables are left alone."""
    file = tmp_path / "service.toml"
    file.write_text('[serve]\nindexes = ["a"]\nport = 1\nrate = 5\nhosts = ["one"]\n', "utf-8")
    environment = {"TOOLSEARCH_PORT": "2", "TOOLSEARCH_HOSTS": "x, y", "TOOLSEARCH_INDEX": "other", "PORT": "9"}
    found = read_settings(file, environment, {"port": 3})
    assert (found.port, found.rate, found.hosts, found.indexes) == (3, 5.0, ("x", "y"), (Path("a"),))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("indexes = ['a']\ncolour = 1", "colour"),
        ("indexes = ['a']\nport = 70000", "port"),
        ("indexes = ['a']\nusage = 'all'", "usage"),
        ("port = 1", "--index"),
        ("port =", "TOML"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, text: str, told: str) -> None:
    """The complaint says which one."""
    file = tmp_path / "service.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=told):
        read_settings(file, {}, {})


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    """By its path."""
    with pytest.raises(InvalidInput, match="no settings"):
        read_settings(tmp_path / "none.toml", {}, {})
