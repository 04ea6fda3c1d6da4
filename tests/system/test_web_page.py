"""The web page in a real Chromium: typed into, with keys alone, while files change, checked by axe."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers import web_picture
from helpers.browser import FILES, Tabs, opened, paths, typed, until, violations
from helpers.support import Tree, add_root
from helpers.web_process import WebProcess

if TYPE_CHECKING:
    from playwright.sync_api import APIResponse, Browser, Route

    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Tree:
    tree.write_all(FILES)
    add_root(client, tree)
    return tree


def test_each_key_searches_and_filters_limit_what_is_found(tabs: Tabs, web: WebProcess, indexed: Tree) -> None:
    page = tabs.open(web.url)
    assert page.evaluate("document.activeElement.id") == "query"
    typed(page, "leas")
    assert {path.partition(":")[0] for path in paths(page)} == {"root/src/lease.py", "root/notes/leases.md"}
    assert "leases" in [mark.lower() for mark in page.locator("#hits mark").all_inner_texts()]
    page.get_by_role("checkbox", name="python").check()
    until(page, lambda: {path.partition(":")[0] for path in paths(page)} == {"root/src/lease.py"}, "the filtered list")
    page.reload()
    until(page, lambda: {path.partition(":")[0] for path in paths(page)} == {"root/src/lease.py"}, "the same list")
    page.get_by_role("checkbox", name="markdown 1").check()
    until(page, lambda: len(paths(page)) == 3, "the hits of both languages")
    assert page.locator("#query").input_value() == "leas"
    page.locator("#mode").select_option("regex")
    page.locator("#query").fill(r"^def \w+")
    until(page, lambda: page.locator("#hits code").all_inner_texts() == ["def renew(lease):"], "the line")
    page.locator("#query").fill("(")
    page.locator("#said.fault").wait_for()


def test_a_hit_leads_to_its_file_with_marks_and_reasons_and_back(tabs: Tabs, web: WebProcess, indexed: Tree) -> None:
    page = tabs.open(web.url)
    typed(page, "renewal")
    number_and_text = "lines => lines.map(line => [Number(line.dataset.line), line.innerText.trim()])"
    written = FILES["notes/leases.md"].splitlines()
    shown = page.locator("#hits > li:first-child .line").evaluate_all(number_and_text)
    assert shown
    assert dict(shown).items() <= dict(enumerate(written, 1)).items()
    page.locator("#hits .open").first.click()
    page.locator("#file .whole").wait_for()
    assert page.locator("#file h1").inner_text() == f"{indexed}/notes/leases.md"
    assert page.locator("#file .line").evaluate_all(number_and_text) == [[*each] for each in enumerate(written, 1)]
    assert page.locator("#file [aria-current]").get_attribute("data-line") == "5"
    assert page.locator("#file mark").first.inner_text() == "Renewal"
    page.locator("#file summary").click()
    assert page.locator("#file .why tr").first.inner_text() == "Status\tindexed"
    assert "words" in page.locator("#file .why").inner_text()
    href = page.locator("#file .edit").get_attribute("href")
    assert href == f"vscode://file{indexed}/notes/leases.md:5:1"
    page.go_back()
    until(page, lambda: paths(page), "the hits")
    assert page.locator("#query").input_value() == "renewal"


def test_what_is_marked_is_the_match_after_any_characters(
    tabs: Tabs, web: WebProcess, client: Client, tree: Tree
) -> None:
    tree.write("emoji.md", "\U0001f600 東京 \U0001f469\u200d\U0001f469 e\u0301 celesta\n")
    add_root(client, tree)
    page = tabs.open(web.url)
    typed(page, "celesta")
    assert page.locator("#hits mark").all_inner_texts() == ["celesta"]


def test_an_answer_that_comes_late_is_not_shown(tabs: Tabs, web: WebProcess, indexed: Tree) -> None:
    page = tabs.open(web.url)
    typed(page, "renewal")
    late: list[tuple[Route, APIResponse]] = []
    is_late = re.compile('"query":"other"')

    def hold(route: Route) -> None:
        if is_late.search(route.request.post_data or ""):
            late.append((route, route.fetch()))
        else:
            route.continue_()

    page.route("**/api/search", hold)
    page.locator("#query").fill("other")
    until(page, lambda: late, "the answer that is held back")
    page.locator("#said", has_text="Searching…").wait_for()
    page.locator("#query").fill("renewals")
    page.locator("#live").wait_for()
    found = paths(page)
    for route, answer in late:
        with page.expect_response(lambda response: bool(is_late.search(response.request.post_data or ""))) as arrived:
            route.fulfill(response=answer)
        arrived.value.finished()
    page.wait_for_function("new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))")
    assert paths(page) == found
    assert not any("other.md" in path for path in found)


def test_back_leads_to_the_query_that_was_typed_however_fast(tabs: Tabs, web: WebProcess, indexed: Tree) -> None:
    page = tabs.open(web.url)
    for _ in range(150):  # twice as many changes as browsers let a page make to its address in some seconds
        page.keyboard.press("a")
        page.keyboard.press("Backspace")
    page.keyboard.type("renewal")
    page.keyboard.press("Enter")
    page.locator("#file h1", has_text="leases.md").wait_for()
    page.go_back()
    until(page, lambda: page.locator("#query").input_value() == "renewal" and paths(page), "the query")


def test_the_picture_in_the_documentation_can_be_made(tmp_path: Path, browser: Browser) -> None:
    picture = tmp_path / "web.png"
    web_picture.make(picture, browser)
    size = struct.unpack(">II", picture.read_bytes()[16:24])
    assert size == struct.unpack(">II", web_picture.PICTURE.read_bytes()[16:24])


def test_the_list_follows_what_is_saved_and_deleted(tabs: Tabs, web: WebProcess, indexed: Tree) -> None:
    page = tabs.open(web.url)
    for query, mode in (("zither", "auto"), ("a zither", "exact"), ("", "auto")):
        page.locator("#mode").select_option(mode)
        page.locator("#query").fill(query)
        page.locator("#live").wait_for()
        indexed.save("new.md", "a zither is played\n")
        until(page, lambda: "root/new.md:1" in paths(page), f"the new file for {query!r}")
        assert page.locator("#hits > li.new .path").all_inner_texts() == ["root/new.md:1"]
        page.locator("#hits .open", has_text="new.md").focus()
        indexed.save("new.md", "a zither is tuned\n")
        until(page, lambda: "tuned" in page.locator("#hits").inner_text(), "the new text")
        assert page.evaluate("document.activeElement.textContent") == "root/new.md:1"
        indexed.remove("new.md")
        until(page, lambda: "root/new.md:1" not in paths(page), "a list without it")


def test_a_file_that_is_looked_at_follows_its_edits(tabs: Tabs, web: WebProcess, indexed: Tree) -> None:
    page = tabs.open(web.url)
    typed(page, "renew")
    page.keyboard.press("Enter")
    page.locator("#file .whole").wait_for()
    indexed.save("src/lease.py", "def renew(lease):\n    return forever\n")
    until(page, lambda: "forever" in page.locator("#file .whole").inner_text(), "the edited text")
    indexed.remove("src/lease.py")
    until(page, lambda: page.locator("#file .whole").count() == 0, "a note in the place of the text")


def test_a_long_file_is_shown_around_its_line_and_further_on_demand(
    tabs: Tabs, web: WebProcess, client: Client, tree: Tree
) -> None:
    tree.write("long.txt", "".join(f"line {number}{' needle' * (number == 1500)}\n" for number in range(1, 3001)))
    add_root(client, tree)
    page = tabs.open(web.url)
    typed(page, "needle")
    page.keyboard.press("Enter")
    page.locator("#file [aria-current]").wait_for()

    def top(selector: str) -> int:  # one look: a file that is loaded again gets new elements
        script = "selector => Math.round(document.querySelector(selector).getBoundingClientRect().top)"
        found: int = page.evaluate(script, f"#file {selector}")
        return found

    def numbers() -> list[int]:
        found: list[int] = page.evaluate("[...document.querySelectorAll('#file .line')].map(e => +e.dataset.line)")
        return found

    assert 0 < top("[aria-current]") < page.viewport_size["height"]  # type: ignore[index]
    first, last = numbers()[0], numbers()[-1]
    assert first > 1
    assert last < 3000
    page.get_by_role("button", name="Earlier lines").focus()
    page.evaluate("scrollTo(0, 0)")
    at = top(f"[data-line='{first}']")
    page.keyboard.press("Enter")
    until(page, lambda: numbers()[0] < first, "earlier lines")
    assert top(f"[data-line='{first}']") == at
    page.get_by_role("button", name="Later lines").click()
    until(page, lambda: numbers()[-1] > last, "later lines")
    assert numbers() == [*range(numbers()[0], numbers()[-1] + 1)]


def test_a_page_in_the_background_follows_nothing_and_catches_up(tabs: Tabs, web: WebProcess, indexed: Tree) -> None:
    page = tabs.open(web.url)
    page.locator("#query").fill("zither")
    page.locator("#live").wait_for()
    change = "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }); "
    change += "document.dispatchEvent(new Event('visibilitychange')) }"
    page.evaluate(change, True)
    assert not page.locator("#live").is_visible()
    indexed.save("new.md", "a zither is played\n")
    assert paths(page) == []
    page.evaluate(change, False)
    until(page, lambda: paths(page) == ["root/new.md:1"], "the file that was saved meanwhile")


def test_the_keyboard_alone_is_enough(tabs: Tabs, web: WebProcess, indexed: Tree) -> None:
    tabs.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=web.origin)
    page = tabs.open(web.url)
    press = page.keyboard.press
    focused = "document.activeElement.textContent"
    page.keyboard.insert_text("lease")  # at once: the list of a part of it may have another order
    until(page, lambda: page.locator("#said").inner_text().startswith("3 hits"), "the hits, not the newest files")
    first, second, _third = paths(page)
    for key, expected in (("ArrowDown", first), ("ArrowDown", second), ("ArrowUp", first), ("ArrowDown", second)):
        press(key)
        assert page.evaluate(focused) == expected
    press("c")
    until(page, lambda: page.evaluate("navigator.clipboard.readText()").startswith(f"{indexed}/"), "the copied path")
    press("Enter")
    page.locator("#file .whole").wait_for()
    assert second.rpartition(":")[0].removeprefix("root/") in page.locator("#file h1").inner_text()
    press("Escape")
    until(page, lambda: page.evaluate(focused) == second, "the hit that was opened")
    press("Escape")
    assert page.evaluate("document.activeElement.id") == "query"
    press("Alt+x")
    until(page, lambda: page.locator("#mode").input_value() == "exact" and len(paths(page)) > 3, "lines")
    press("Alt+x")
    until(page, lambda: page.locator("#facets input").count() > 0, "the filters")
    for _ in range(40):
        press("Tab")
        if page.evaluate("document.activeElement.matches('#facets input')"):
            break
    press("Space")
    until(page, lambda: page.locator("#facets input:checked").count() == 1 and len(paths(page)) < 3, "fewer hits")
    page.locator("#live").wait_for()
    assert page.evaluate("document.activeElement.matches('#facets input:checked')")
    press("?")
    assert page.locator("#help").is_visible()
    press("Escape")
    assert not page.locator("#help").is_visible()
    for elsewhere in ("#mode", "#facets select", "#hits .open >> nth=0"):
        page.locator(elsewhere).focus()
        press("/")
        assert page.evaluate("document.activeElement.id") == "query", elsewhere
    page.keyboard.type("renewal")
    press("Enter")
    page.locator("#file h1", has_text="leases.md").wait_for()


@pytest.mark.parametrize(("pressed", "key"), [("#hits .open", ""), ("#facets [value=python]", "Space")])
def test_what_is_pressed_while_the_list_follows_is_clicked(
    tabs: Tabs, web: WebProcess, indexed: Tree, pressed: str, key: str
) -> None:
    page = tabs.open(web.url)
    typed(page, "renew")
    until(page, lambda: page.locator("#facets input").count() > 1, "the filters")
    element = page.locator(pressed).first
    first = paths(page)[0]
    if key:
        element.focus()
        page.keyboard.down(key)
    else:
        element.hover()
        page.mouse.down()
    with page.expect_response(lambda response: '"facets"' in (response.request.post_data or "")) as counted:
        indexed.save("long.md", f"{'filler ' * 300}renew {'filler ' * 300}\n")
        until(page, lambda: len(paths(page)) > 2, "the new hit below")
    counted.value.finished()
    page.wait_for_function("new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))")
    assert paths(page)[0] == first
    if key:
        page.keyboard.up(key)
        until(page, lambda: {path.partition(":")[0] for path in paths(page)} == {"root/src/lease.py"}, "its hits alone")
    else:
        page.mouse.up()
        page.locator("#file .whole").wait_for()


def test_a_filter_that_is_ticked_at_once_on_the_way_back_holds(tabs: Tabs, web: WebProcess, indexed: Tree) -> None:
    page = tabs.open(web.url)
    typed(page, "lease")
    until(page, lambda: page.locator("#facets input").count() > 1, "the filters")
    page.locator("#hits .open").first.click()
    page.locator("#file .whole").wait_for()
    page.evaluate("addEventListener('hashchange', () => document.querySelector('#facets [value=python]').click())")
    with page.expect_response(lambda response: '"facets"' in (response.request.post_data or "")):
        page.go_back()
    until(page, lambda: page.evaluate("location.hash") == "#/?q=lease&languages=python", "the filter in the address")
    assert [path.partition(":")[0] for path in paths(page)] == ["root/src/lease.py"]
    assert page.locator("#facets input:checked").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_in_any_view(browser: Browser, web: WebProcess, indexed: Tree, scheme: str) -> None:
    with opened(browser, web.origin, color_scheme=scheme) as tabs:
        page = tabs.open(web.url)
        red, green, blue = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert (red + green + blue < 200) == (scheme == "dark")
        assert violations(page) == []
        typed(page, "lease")
        assert violations(page) == []
        page.locator("#to-help").click()
        assert violations(page) == []
        page.keyboard.press("Escape")
        page.locator("#hits .open").first.click()
        page.locator("#file summary").click()
        assert violations(page) == []
        page.locator("#to-status").click()
        page.locator("#status .roots").wait_for()
        assert violations(page) == []
        page.set_viewport_size({"width": 360, "height": 640})
        assert violations(page) == []
        page.locator("#query").fill("xylophonics")
        page.locator("#said", has_text="Nothing found").wait_for()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_status_names_roots_and_remedies(tabs: Tabs, web: WebProcess, client: Client, tree: Tree) -> None:
    add_root(client, tree)
    page = tabs.open(web.url)
    page.locator("#to-status").click()
    page.locator("#status .roots", has_text=str(tree)).wait_for()
    moved = tree.path.rename(tree.path.with_name("elsewhere"))
    page.locator("#status .warning", has_text="root_missing").wait_for()
    moved.rename(tree.path)
    page.locator("#status .warning").wait_for(state="detached")
