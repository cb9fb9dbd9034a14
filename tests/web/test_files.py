"""The files of the page, as they lie in the package."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest

import toolsearch
from tests.server.running import build, serving, settings

FILES = sorted((Path(toolsearch.__file__).parent / "web").iterdir())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_is_from_elsewhere_and_nothing_reads_html(path: Path) -> None:
    """No outside address, no inline script or style, no door through which text becomes HTML."""
    text = path.read_text("utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?://|url\(|@import", text)
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|\bon\w+=|style=", text
    )
    assert not re.search(r"<script(?![^>]* src=)|<style", text)


def test_the_page_is_served_under_a_strict_policy(tmp_path: Path) -> None:
    """Only its own scripts and styles run, and trusted types keep text from ever becoming HTML."""
    with serving(settings(build(tmp_path / "shop"))) as client:
        answer = client.get("/")
        policy = answer.headers["content-security-policy"]
        kinds = {path.name: _kind(client, path.name) for path in FILES}
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert kinds["app.js"] == "text/javascript"
    assert kinds["style.css"] == "text/css"
    assert kinds["icon.svg"] == "image/svg+xml"


def _kind(client: httpx2.Client, name: str) -> str:
    return client.get(f"/{name}").headers["content-type"].split(";")[0]
