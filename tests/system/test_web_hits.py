"""What a list of the web page has: each hit of the daemon once, and nothing of another query."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from helpers.browser import FILES, Tabs, paths, typed, until
from helpers.support import Tree, add_root
from helpers.web_process import WebProcess

if TYPE_CHECKING:
    from playwright.sync_api import Route

    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon


def test_hits_in_one_line_are_all_shown(tabs: Tabs, web: WebProcess, client: Client, tree: Tree) -> None:
    tree.write("long.md", "# A line\n\n" + "The quagga runs over the plain. " * 400 + "\n")
    add_root(client, tree)
    found = client.call("search", {"query": "quagga"})["hits"]
    assert len(found) > 2
    assert {hit["start_line"] for hit in found} == {3}
    page = tabs.open(web.url)
    typed(page, "quagga")
    assert paths(page) == ["root/long.md:3"] * len(found)


def test_names_that_look_alike_are_two_hits(tabs: Tabs, web: WebProcess, client: Client, tree: Tree) -> None:
    for name in (b"\xfe.txt", b"\xff.txt"):
        tree.write(os.fsdecode(name), f"the okapi of {name.hex()}\n")
    add_root(client, tree)
    page = tabs.open(web.url)
    typed(page, "okapi")
    assert sorted(page.locator("#hits code").all_inner_texts()) == [
        "the okapi of fe2e747874",
        "the okapi of ff2e747874",
    ]


def test_enter_opens_no_hit_of_an_earlier_query(tabs: Tabs, web: WebProcess, client: Client, tree: Tree) -> None:
    tree.write_all(FILES)
    add_root(client, tree)
    page = tabs.open(web.url)
    typed(page, "lease")
    page.keyboard.press("Alt+r")
    page.locator("#query").fill("lease(")
    page.locator("#said.fault").wait_for()
    page.locator("#live").wait_for()
    visited = page.evaluate("history.length")
    page.keyboard.press("Enter")
    page.wait_for_function("new Promise(resolve => setTimeout(resolve))")
    page.locator("#query").fill("renew")
    page.locator("#said", has_text="hits").wait_for()
    page.locator("#live").wait_for()
    assert page.locator("#file").is_hidden()
    assert page.evaluate("history.length") == visited


def test_enter_opens_no_hit_of_a_later_query(tabs: Tabs, web: WebProcess, client: Client, tree: Tree) -> None:
    tree.write_all(FILES)
    add_root(client, tree)
    page = tabs.open(web.url)
    typed(page, "lease")
    waiting: list[Route] = []

    def keep(route: Route) -> None:
        waiting.append(route)

    page.route("**/api/search", keep, times=1)
    page.keyboard.press("Enter")
    until(page, lambda: waiting, "the search of Enter")
    typed(page, "renew")
    visited = page.evaluate("history.length")
    with page.expect_response("**/api/search") as answer:
        waiting[0].continue_()
    answer.value.finished()
    page.evaluate("fetch(location.pathname).then(page => page.text())")  # by then the answer was read
    assert page.evaluate("history.length") == visited
    assert page.locator("#file").is_hidden()


def test_a_list_is_followed_after_enter_that_found_nothing(
    tabs: Tabs, web: WebProcess, client: Client, tree: Tree
) -> None:
    tree.write_all(FILES)
    add_root(client, tree)
    page = tabs.open(web.url)
    page.locator("#live").wait_for()
    waiting: list[Route] = []

    def keep(route: Route) -> None:  # Playwright takes no method of a list
        waiting.append(route)

    page.route("**/api/search", keep, times=2)
    page.locator("#query").fill("zither")
    until(page, lambda: waiting, "the search")
    page.keyboard.press("Enter")
    until(page, lambda: len(waiting) > 1, "the search of Enter")
    for route in waiting:
        route.continue_()
    page.locator("#said", has_text="Nothing found").wait_for()
    tree.save("new.md", "a zither is played\n")
    until(page, lambda: paths(page) == ["root/new.md:1"], "the file that was saved")


def test_the_editor_is_sent_to_the_match_after_any_characters(
    tabs: Tabs, web: WebProcess, client: Client, tree: Tree
) -> None:
    line = "Żółw \U0001f600 東京: a celesta"
    tree.write("a.md", f"{line}\n")
    add_root(client, tree)
    page = tabs.open(web.url)
    typed(page, "celesta")
    column = len(line.partition("celesta")[0].encode("utf-16-le")) // 2 + 1
    assert page.locator("#hits .edit").get_attribute("href") == f"vscode://file{tree}/a.md:1:{column}"
