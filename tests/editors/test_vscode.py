"""VS Code with the extension, in a browser: what is typed is listed in the daemon's order, previewed and opened."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from helpers.browser import chromium
from helpers.fault_injection import Unfresh
from helpers.support import Home, Tree, examples, temporary_home
from helpers.vscode_window import KEYS, Row, Window, code_server, is_done, needed

# The first test waits for server, browser and window, each of which takes a minute on a busy machine.
pytestmark = pytest.mark.timeout(300)

FILES = {
    "notes/lease.md": "# Leases\n\nA xylophone is leased for thirty days.\n",
    "notes/long.txt": f"first\n{'東 ' * 1500}marimba in a long line{' y' * 1000}\n",
    "src/emoji.js": 'let x = 1\nlet s = "😀é"; celesta = 2 // $(check) $(document).ready\n',
    "src/renew.py": "def renew(xylophones):\n    return xylophones\n",
    # An editor that sorts by itself puts lines that begin with the word first; the daemon prefers short texts.
    **{f"list/{name}.txt": f"{name} glockenspiel\n" for name in range(14)},
    **{f"list/{name}.txt": f"glockenspiel {'word ' * 20}{name}\n" for name in range(14, 28)},
}


class Desk(NamedTuple):
    """A home with a daemon, the folder that it has indexed, and the editor's window with that folder."""

    home: Home
    tree: Tree
    window: Window
    unfresh: Unfresh

    def hits(self, query: str, **params: Any) -> list[Any]:
        from livedex_ipc.client import connect

        with connect(spawn=False, path=str(self.home.socket)) as client:
            found: list[Any] = client.call("search", {"query": query, "limit": 100, **params})["hits"]
        return found

    def kill_daemon(self) -> None:
        pid = self.home.server_pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    needed()
    tree = Tree(tmp_path_factory.mktemp("code") / "root")
    tree.write_all(FILES)
    with ExitStack() as stack:
        home = stack.enter_context(temporary_home())
        unfresh = Unfresh(tmp_path_factory.mktemp("seam") / "unfresh")
        home.env |= unfresh.env
        home.run_json("up", str(tree))
        address = stack.enter_context(code_server(home))
        browser = stack.enter_context(chromium())
        yield Desk(home, tree, Window(browser, address, tree.path), unfresh)


@pytest.fixture
def desk(opened: Desk) -> Desk:
    """The window without files and lists of a former test, and the folder as it was at first."""

    def no_file_is_open() -> bool:
        opened.window.run("View: Close All Editors")  # again: a key that comes as a list closes is lost
        return opened.window.tab() == ""

    opened.window.press("Escape")
    opened.window.see(no_file_is_open, "no file")
    texts = {name: opened.tree / name for name in FILES}
    opened.window.see(lambda: {name: file.read_text() for name, file in texts.items()} == FILES, "the files as written")
    return opened


def outcome(desk: Desk, text: str) -> None:
    desk.window.see(lambda: text in desk.window.title(), f"{text!r} in the title")


def test_the_order_is_that_of_the_daemon(desk: Desk) -> None:
    desk.window.search("glockens")
    outcome(desk, "28 hits")
    wanted = [Row(hit["text"], f"{hit['relative_path']}:1") for hit in desk.hits("glockens", typing=True)]
    assert not wanted[0].label.startswith("glockenspiel"), "the editor's order would be another one"
    seen = desk.window.numbered_rows()

    def end_is_shown() -> bool:
        desk.window.press("ArrowUp")  # from the first to the last; a list that is not complete yet begins again
        return len(wanted) - 1 in desk.window.numbered_rows()

    desk.window.see(end_is_shown, "the end of the list")
    seen |= desk.window.numbered_rows()
    assert len(seen) >= 20
    assert seen == {index: wanted[index] for index in seen}


def test_a_hit_that_was_moved_to_stays_active_as_the_list_grows(desk: Desk) -> None:
    def third_stays() -> bool:
        desk.window.search()
        desk.window.page.keyboard.insert_text("glockens")  # one search: each answer begins with its first hit
        outcome(desk, "28 hits")
        for _ in range(3):
            desk.window.press("ArrowDown")
        desk.window.see(desk.window.row_button, "the button of a row, which comes with the rest of the list")
        return desk.window.active_row() == 3

    desk.window.see(third_stays, "the hit that was moved to")  # again: a move just as the rest comes is lost
    desk.window.press("Enter")
    wanted = desk.hits("glockens", typing=True)[3]["relative_path"].rpartition("/")[2]
    desk.window.see(lambda: desk.window.tab() == wanted, f"{wanted} in front")


def test_a_hit_is_listed_although_its_line_does_not_look_like_the_query(desk: Desk) -> None:
    desk.window.search("days thirty xylophone")
    wanted = Row("A xylophone is leased for thirty days.", "notes/lease.md:3")
    desk.window.see(lambda: desk.window.rows()[:1] == [wanted], "the hit")


PATTERN = r"xylophones?\b.*$"


def test_lines_are_searched_for_by_a_pattern(desk: Desk) -> None:
    desk.window.search()
    desk.window.press_button("Regular Expression")
    outcome(desk, "Regular expression")
    desk.window.type(PATTERN)
    outcome(desk, "3 hits")
    hits = desk.hits(PATTERN, mode="regex")
    wanted = [Row(hit["text"].strip(), f"{hit['relative_path']}:{hit['line']}") for hit in hits]
    desk.window.see(lambda: desk.window.rows() == wanted, "the lines")
    desk.window.type("(")
    desk.window.see(lambda: "missing" in desk.window.title() or "parenthesis" in desk.window.title(), "what is wrong")
    desk.window.see(lambda: desk.window.rows() == [], "no line")
    desk.window.press_button("Regular Expression")
    outcome(desk, "Words in")


def test_enter_opens_the_match_in_code_units(desk: Desk) -> None:
    desk.window.search("celesta")
    desk.window.see(lambda: len(desk.window.rows()) == 1, "one hit")
    assert desk.window.rows()[0].label == FILES["src/emoji.js"].splitlines()[1], "no text is an icon"
    desk.window.press("Enter")
    desk.window.see(lambda: desk.window.tab() == "emoji.js" and desk.window.position() == "Ln 2, Col 15", "the place")
    desk.window.type("|")
    desk.window.see(lambda: "; |celesta" in desk.window.line("let s"), "what is typed before the match")
    desk.window.press("Control+Z")


def test_enter_opens_the_match_in_a_long_line(desk: Desk) -> None:
    desk.window.search("marimba")
    desk.window.see(lambda: len(desk.window.rows()) == 1, "one hit")
    assert "marimba" in desk.window.rows()[0].label
    desk.window.press("Enter")
    desk.window.see(lambda: desk.window.position() == "Ln 2, Col 3001", "column 3001")


def test_enter_waits_for_the_hits_of_what_was_typed(desk: Desk) -> None:
    for _ in range(examples(3)):
        for query, file in (("marimba", "long.txt"), ("celesta", "emoji.js")):
            desk.window.search("glockenspiel")
            outcome(desk, "28 hits")
            desk.window.press("Control+A")
            desk.window.page.keyboard.insert_text(query)
            desk.window.press("Enter")
            desk.window.see(lambda: desk.window.tab() == file, f"the hit of {query}")  # noqa: B023  called at once


def test_moving_previews_and_escape_takes_it_back(desk: Desk) -> None:
    desk.window.search("marimba")
    desk.window.press("Enter")
    desk.window.see(lambda: desk.window.position() == "Ln 2, Col 3001", "a file to come back to")
    desk.window.search("xylophone")
    files = [hit["relative_path"].rpartition("/")[2] for hit in desk.hits("xylophone", typing=True)]
    for file in files:
        desk.window.see(lambda: desk.window.tab() == f"{file}, preview", "a preview")  # noqa: B023  called at once
        desk.window.see(lambda: desk.window.marked() == 1, "the match marked")
        assert "selected" not in desk.window.position(), "a key pressed after Escape would replace it"
        desk.window.press("ArrowDown")
    desk.window.press("Escape")
    desk.window.see(lambda: desk.window.tab() == "long.txt", "the file of before")
    desk.window.see(lambda: desk.window.position() == "Ln 2, Col 3001", "its cursor")
    desk.window.see(lambda: desk.window.tabs() == [["long.txt"]], "no preview")
    assert desk.window.marked() == 0


def test_the_list_opens_again_at_once(desk: Desk) -> None:
    """What was shown before comes back first, and does not take the focus from the new list, which would close."""
    window = desk.window
    window.search("marimba")
    window.press("Enter")
    window.see(lambda: window.position() == "Ln 2, Col 3001", "a file to come back to")
    window.search()
    for _ in range(examples(8)):
        window.type("xylophone")
        outcome(desk, "2 hits")
        window.see(lambda: window.tab().endswith(", preview"), "a preview")
        window.press("Escape")
        window.press(KEYS["livedex: Search"][1])
        window.see(lambda: "Words in" in window.title() and "2 hits" not in window.title(), "the list of all files")
    window.type("celesta")
    outcome(desk, "1 hit")
    window.press("Escape")
    window.see(lambda: window.tabs() == [["long.txt"]], "what was there before the first list")


def test_a_killed_daemon_is_started_by_the_next_key(desk: Desk) -> None:
    desk.window.search("xylophone")
    outcome(desk, "2 hits")
    desk.kill_daemon()
    desk.window.press("Control+A")
    desk.window.type("celesta")
    outcome(desk, "1 hit")
    assert desk.home.server_pid() is not None


def test_a_command_that_is_not_there_is_told_with_its_remedy(desk: Desk) -> None:
    settings = desk.home.path / "code" / "Machine" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    message = desk.window.page.locator(".notification-list-item", has_text="/nowhere/livedex was not found")

    def opens_settings() -> bool:  # the editor reads the changed setting a little later, and draws some messages again
        desk.kill_daemon()
        desk.window.run("livedex: Search")
        return is_done(message.first.locator(".monaco-button", has_text="Open Settings").click)

    try:
        settings.write_text('{"livedex.path": "/nowhere/livedex"}')
        desk.window.see(opens_settings, "what is missing, with its remedy")
        desk.window.page.locator(".settings-editor").first.wait_for()
    finally:
        settings.write_text("{}")
    desk.window.press("Escape")
    desk.window.run("Notifications: Clear All")


def test_a_standing_query_follows_saves_and_survives_the_daemon(desk: Desk) -> None:
    window = desk.window
    window.follow("timpani")
    window.see(lambda: window.standing() == [Row("timpani", "0")], "the query without hits")
    desk.tree.save("drums.md", "Two timpani\n")
    window.see(lambda: window.standing() == [Row("timpani", "1")], "a hit")
    window.page.locator(".customview-tree .monaco-list-row", has_text="timpani").first.click()
    window.see(lambda: window.standing() == [Row("timpani", "1"), Row("Two timpani", "drums.md:1")], "its line")
    desk.kill_daemon()
    with desk.unfresh.held():
        window.see(lambda: window.standing()[0] == Row("timpani", "1 · not fresh: recovering"), "what it lacks")
    desk.tree.save("more.md", "More $(bell) timpani\n")
    more = Row("More $(bell) timpani", "more.md:1")
    window.see(lambda: window.standing() == [Row("timpani", "2"), Row("Two timpani", "drums.md:1"), more], "two")
    desk.tree.remove("drums.md")
    window.see(lambda: window.standing() == [Row("timpani", "1"), more], "one")
    window.page.locator(".customview-tree .monaco-list-row", has_text="More").click()
    window.see(lambda: (window.tab(), window.position()) == ("more.md, preview", "Ln 1, Col 14"), "the hit")
    window.reload()
    window.see(lambda: window.standing()[:1] == [Row("timpani", "1")], "the query after a reload")
    window.page.locator(".customview-tree .monaco-list-row", has_text="timpani").first.hover()
    window.page.locator('.customview-tree [aria-label^="Stop Following"]').first.click()
    window.see(lambda: window.standing() == [], "no query")


def test_agents_in_the_editor_get_the_server(desk: Desk) -> None:
    window = desk.window
    window.run("MCP: List Servers")
    row = window.page.locator(".quick-input-list .monaco-list-row", has_text="livedex")
    row.first.click()
    window.page.locator(".quick-input-list .monaco-list-row", has_text="Start Server").click()
    window.run("MCP: List Servers")
    window.see(lambda: any("Running" in each.label + each.description for each in window.rows()), "a running server")
