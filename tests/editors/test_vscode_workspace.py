"""VS Code with two folders open that are not indexed yet: indexed by the command, told apart, opened to the side."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from helpers.browser import chromium
from helpers.support import Tree, temporary_home
from helpers.vscode_window import Row, Window, code_server, needed


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    needed()
    folder = tmp_path_factory.mktemp("code")
    for name in ("first", "second", "other"):
        Tree(folder / name).write("a.md", f"# Instruments\n\nA xylophone of the {name}\n")
    Tree(folder / "second").write("kept.md", "A kept marimba\n")
    opened = folder / "both.code-workspace"
    opened.write_text(json.dumps({"folders": [{"path": "first"}, {"path": "second"}]}))
    with ExitStack() as stack:
        home = stack.enter_context(temporary_home())
        home.run_json("up", str(folder / "other"))
        address = stack.enter_context(code_server(home))
        browser = stack.enter_context(chromium())
        yield Window(browser, address, opened)


def test_the_open_folders_are_indexed_and_told_apart(window: Window) -> None:
    window.follow("xylophone")
    window.see(lambda: window.standing() == [Row("xylophone", "1")], "the hit of the indexed folder")
    window.run("livedex: Index This Workspace")
    told = window.page.locator(".notification-list-item", has_text="livedex indexes")
    told.wait_for()
    assert "/first" in told.inner_text()
    assert "/second" in told.inner_text()
    window.see(lambda: window.standing() == [Row("xylophone", "2")], "those of the open folders")
    window.run("Notifications: Clear All")
    window.search("xylophone")
    wanted = [Row(f"A xylophone of the {name}", f"{name}/a.md:3") for name in ("first", "second")]
    window.see(lambda: sorted(window.rows()) == wanted, "a hit of each folder, and none of another")
    assert "this workspace" in window.title()
    window.press("Escape")
    window.run("livedex: Index This Workspace")
    window.page.locator(".notification-list-item", has_text="in its index already").wait_for()
    window.run("Notifications: Clear All")


def test_a_hit_opens_beside_what_was_there_before(window: Window) -> None:
    window.search("kept")
    window.see(lambda: [row.label for row in window.rows()] == ["A kept marimba"], "the hit")
    window.press("Enter")
    window.see(lambda: window.tabs() == [["kept.md"]], "the file")
    window.search('"of the second"')
    window.see(lambda: [row.description for row in window.rows()] == ["second/a.md:3"], "the hit alone")
    window.see(lambda: window.tabs() == [["kept.md", "a.md, preview"]], "its preview")
    window.see(lambda: window.marked() == 1, "the match marked")
    window.page.locator(".quick-input-list .monaco-list-row").first.hover()
    window.page.locator('.quick-input-list .monaco-list-row [aria-label^="Open to the Side"]').first.click()
    window.see(lambda: window.tabs() == [["kept.md"], ["a.md"]], "both files")
    window.see(lambda: window.position().startswith("Ln 3, "), "its line")
