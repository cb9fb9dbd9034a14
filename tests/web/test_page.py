"""The page as people use it, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.server.running import REFUND, build, serving, settings
from tests.server.test_sources import document, upstream
from tests.web.conftest import CATALOG, LONG, POISONED, Open
from toolsearch.cli.gateway import beside
from toolsearch.server.application import Mounted
from toolsearch.server.callers import Role
from toolsearch.server.keys import Keys
from toolsearch.server.state import StateFile

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

VIEWS = ("search?q=report", "compare?q=report", "findability", "sources", f"search?q=report&tool={quote(POISONED.id)}")
HIT = "main .hit"


def ids(page: Page) -> list[str]:
    return page.locator("main .hits .open").all_inner_texts()


def test_search_as_you_type(open_page: Open) -> None:
    """Hits come while typing, with the confidence, the score and why each is there."""
    page = open_page("search")
    page.locator("#query").press_sequentially("money back")
    page.wait_for_selector(HIT)
    assert ids(page)[0] == REFUND.id
    assert "confidence:" in page.inner_text(".verdict")
    assert page.locator(f"{HIT} .why .kind").first.inner_text() == "words"
    assert "money" in page.locator(f"{HIT} .why .detail").first.inner_text()
    page.fill("#query", "zzzz")
    page.wait_for_selector(f"{HIT}", state="detached")
    assert page.inner_text(".verdict") == "Nothing fits"


def test_the_address_holds_the_search(open_page: Open) -> None:
    """What was asked stands in the address: it can be sent to somebody, and links keep the request."""
    page = open_page("search", ready="#query")
    page.fill("#query", "refund")
    page.wait_for_selector(HIT)
    page.reload()
    page.wait_for_selector(HIT)
    assert page.input_value("#query") == "refund"
    page.click("nav a[data-view=compare]")
    page.wait_for_selector(".side .hit")
    assert page.input_value("#query") == "refund"


def test_the_keyboard_is_enough(open_page: Open) -> None:
    """Slash goes to the field, arrows through the hits, Enter opens a tool and Escape closes it again."""
    page = open_page("search?q=report", ready=HIT)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.evaluate("document.activeElement.dataset.tool")
    assert chosen == ids(page)[1]
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog#tool[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog#tool", state="hidden")
    assert page.evaluate("document.activeElement.dataset.tool") == chosen
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "query"


def test_narrowing(open_page: Open) -> None:
    """Namespace and filter narrow; a broken filter says what is wrong, and a mended one clears that."""
    page = open_page("search?q=report payment", ready=HIT)
    page.select_option("label:has-text('Namespace') select", "payments")
    expect(page.locator(HIT)).to_have_count(2)
    page.fill("#filter", "tags = ")
    page.wait_for_selector("#notice:not([hidden])")
    assert "tags" in page.inner_text("#notice")
    page.fill("#filter", "tags = money")
    page.wait_for_selector("#notice", state="hidden")
    page.wait_for_selector(HIT)
    assert ids(page) == [REFUND.id]


def test_a_tool_in_full(open_page: Open) -> None:
    """Description, parameters, findings, why it is found, and the definition as a provider gets it."""
    page = open_page("search?q=refund", ready=HIT)
    page.click(f"[data-tool='{REFUND.id}']")
    page.wait_for_selector("dialog#tool .explained .why")
    expect(page.locator("dialog#tool .findings li")).to_have_count(1)
    text = page.inner_text("dialog#tool")
    for told in (REFUND.description, "payment_id", "found in place", "parameters-undescribed", "in name"):
        assert told in text
    page.select_option("dialog#tool label:has-text('As') select", "anthropic")
    expect(page.locator("dialog#tool pre")).to_contain_text("input_schema")
    page.click("dialog#tool .close")
    page.wait_for_selector("dialog#tool", state="hidden")
    assert "tool=" not in page.url


def test_why_a_tool_is_not_found(open_page: Open) -> None:
    """Any tool can be asked about; an id that is not there gets near ones."""
    page = open_page("search?q=refund", ready=HIT)
    page.fill("#missing", "weather/get_forecast")
    page.click("text=Why is it not here?")
    page.wait_for_selector("dialog#tool .explained p")
    assert "not among the first 10" in page.inner_text("dialog#tool .explained")
    page.keyboard.press("Escape")
    page.fill("#missing", "payments/refund")
    page.click("text=Why is it not here?")
    page.wait_for_selector("#notice:not([hidden])")
    assert "near are payments/" in page.inner_text("#notice")


def test_two_strategies_side_by_side(open_page: Open) -> None:
    """Each side shows its own answer, and where a tool stands on the other."""
    page = open_page("compare?q=report&a=lexical&b=simple", ready=".side .hit")
    sides = [side.locator(".open").all_inner_texts() for side in page.locator(".side").all()]
    assert len(sides) == 2
    assert all(sides)
    assert page.locator(".side .moved").count() == sum(map(len, sides))
    page.select_option(".side >> nth=1 >> select", "lexical")
    expect(page.locator(".side .moved")).to_have_text(["="] * 2 * len(sides[0]))


def test_findability(open_page: Open) -> None:
    """Findings stand under their rules with counts, and can be narrowed to a tool."""
    page = open_page("findability")
    assert "errors" in page.inner_text(".totals")
    assert "model-instructions" in page.inner_text(".rules")
    page.fill("#query", "report.daily")
    page.wait_for_selector("details[open] li:not([hidden])")
    shown = page.locator("details[open] li:visible .open").all_inner_texts()
    assert set(shown) == {"reports/report.daily"}
    page.locator("details[open] li:visible .open").first.click()
    page.wait_for_selector("dialog#tool[open]")


def test_what_judged_requests_find(open_page: Open) -> None:
    """They are asked when it is wanted; an index without any says where to put them."""
    page = open_page("findability")
    page.click("text=Ask them")
    expect(page.locator("main")).to_contain_text("put them in requests.jsonl beside index.toml")


def test_sources(open_page: Open) -> None:
    """Tools are counted by source and namespace, and the index says what it is."""
    text = open_page("sources").inner_text("main")
    assert "payments" in text
    assert f"{len(CATALOG)} tools" in text
    assert "words only, no encoder" in text


def test_a_source_is_read_and_its_changes_approved(open_page: Open, tmp_path: Path) -> None:
    """Buttons read it, show what differs and let it in; what fails is told on its card."""
    answers = {"/shop.json": (200, {}, json.dumps(document(orders="Lists orders")).encode())}
    chosen = settings(build(tmp_path / "shop"), private_sources=True, plain_http_sources=True)
    with upstream(answers) as (url, _), serving(chosen) as client:
        body = {"kind": "openapi", "url": f"{url}/shop.json", "hold_changes": True}
        assert client.put("/v1/sources/office", json=body).status_code == 200
        page = open_page("sources", str(client.base_url).rstrip("/"))
        card = page.locator("article.card", has_text="office")
        expect(card).to_contain_text("not read yet")
        card.get_by_role("button", name="Read office now").click()
        expect(card).to_contain_text("1 tool, read")
        answers["/shop.json"] = (200, {}, json.dumps(document(orders="Deletes orders")).encode())
        card.get_by_role("button", name="Read office now").click()
        expect(card).to_contain_text("Held back until approved: 1")
        card.locator("summary").click()
        expect(card.locator("pre")).to_contain_text("Deletes orders")
        card.get_by_role("button", name="Approve all changes of office").click()
        expect(card).not_to_contain_text("Held back")
        answers.clear()
        card.get_by_role("button", name="Read office now").click()
        expect(card.locator(".state")).to_have_text("failed")


def test_servers_behind_the_gateway(open_page: Open, tmp_path: Path) -> None:
    """One that is down says so and why, and can be listed again."""
    place, config = build(tmp_path / "shop"), tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"gone": {"command": str(tmp_path / "no-such-command")}}}))
    gateway = beside(place, config)
    mounted = Mounted(app=gateway, running=gateway.running, behind=gateway.gateway)
    with serving(settings(place), mounted) as client:
        page = open_page("sources", str(client.base_url).rstrip("/"))
        page.get_by_role("button", name="List gone again").click()
        expect(page.locator("article.card", has_text="gone").locator(".state")).to_have_text("down")
        expect(page.locator("main")).to_contain_text("no-such-command")


def visited(page: Page, service: str) -> Iterator[str]:
    """Goes through all views, each loaded anew."""
    for place, view in enumerate(VIEWS):
        page.goto(f"{service}/?{place}#/{view}")
        page.wait_for_load_state("networkidle")
        yield view


def test_what_a_catalog_says_is_text(open_page: Open, service: str) -> None:
    """Markup from a catalog is shown as it is written, never run; what cannot be seen is written out."""
    page = open_page()
    for view in visited(page, service):
        assert page.title() != "taken"
        assert page.locator("main img, main script, main b b, dialog img, dialog script").count() == 0
        if view.startswith("search"):
            assert '<img src="x"' in page.inner_text("main")
            assert "⟨U+202E⟩" in page.inner_text("main")


def test_notes_fit_a_phone(open_page: Open, service: str) -> None:
    """Names of encoders and paths, which have no blanks, are broken where they must be."""

    def noted(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "notes": ["vectors were made by " + "x" * 300]})

    page = open_page(viewport={"width": 360, "height": 740})
    page.route("**/v1/search", noted)
    page.goto(f"{service}/#/search?q=refund")
    page.wait_for_selector("p.note")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read(open_page: Open, service: str, scheme: str) -> None:
    """Nothing is wider than a phone, long names included, and text stands out from what is behind it (4.5 to 1)."""
    page = open_page(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    for view in visited(page, service):
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
        assert page.evaluate("document.querySelector('dialog#tool').scrollWidth") <= 360, view
        assert page.evaluate(CONTRAST) == [], view
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((one) => one < 60)")
    assert dark == (scheme == "dark")


def test_only_the_service_is_asked(open_page: Open, service: str) -> None:
    """The page loads nothing from elsewhere."""
    page = open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    assert list(visited(page, service)) == list(VIEWS)
    assert asked
    assert [url for url in asked if not url.startswith(f"{service}/")] == []


def test_a_service_that_wants_a_key(open_page: Open, tmp_path: Path) -> None:
    """The page asks for a key, keeps asking while it is wrong, and shows what that key may see."""
    chosen = settings(build(tmp_path / "shop", CATALOG))
    state = StateFile(chosen.state_file)
    token = Keys(state).create("reader", Role.SEARCH, [])[1]
    state.close()
    with serving(chosen) as client:
        page = open_page("search?q=refund", str(client.base_url).rstrip("/"), ready="dialog#key[open]")
        page.fill("#key-field", "wrong")
        page.click("dialog#key button")
        page.wait_for_selector("text=The key was not taken")
        page.fill("#key-field", token)
        page.click("dialog#key button")
        page.wait_for_selector(HIT)
        assert ids(page) == [REFUND.id]
        page.click("nav a[data-view=sources]")
        page.wait_for_selector("main h1")
        assert LONG.name not in page.inner_text("main")


CONTRAST = """() => {
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return { r, g, b, a }; };
  const light = ({ r, g, b }) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let one = node; one; one = one.parentElement) {
      const found = parse(getComputedStyle(one).backgroundColor);
      if (found.a === 1) return found;
    }
    return { r: 255, g: 255, b: 255 };
  };
  const bad = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    if (!own || !node.checkVisibility() || node.closest("option, .skip, .unseen")) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(`${node.className || node.tagName}: ${node.textContent.slice(0, 30)}`);
  }
  return [...new Set(bad)];
}"""
