"""What each client costs that is left open with a search that it follows, while nothing is saved.

`PYTHONPATH=tests python -m bench.left_open [--minutes 60]`. All clients run at once, each beside its floor: the same
editor without a list of ours. An editor that the machine lacks is left out. Needs Chromium; Linux.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from bench.emacs import running
from bench.figures import HEADER, Figure
from bench.live import spent_ms
from bench.neovim import IDLE_PERCENT, processes
from bench.vscode import extension_host
from helpers.browser import chromium
from helpers.editor_terminal import editor_paths
from helpers.live_terminal import LiveTerminal
from helpers.neovim import neovim
from helpers.support import Daemon, Home, Tree, add_root, temporary_home
from helpers.vscode_window import CODE_SERVER, Window, code_server
from helpers.web_process import WebProcess

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WORD = "ornithopter"
SETTLE_S = 60.0  # what editors do after their start


class Opened(NamedTuple):
    """``pids``: its processes; ``floor``: those of the same program without a list."""

    name: str
    pids: list[int]
    floor: list[int]


@contextmanager
def neovim_client(home: Home, tree: Tree) -> Iterator[Opened]:
    program = next(iter(editor_paths("nvim").values()))
    with (
        neovim(program, home, tree.path) as vim,
        temporary_home() as other,
        neovim(program, other, tree.path) as bare,
    ):
        vim.type(f":LivedexFollow {WORD}\r")
        vim.see("(following)")
        yield Opened("Neovim", processes(vim), processes(bare))


@contextmanager
def emacs_client(home: Home, tree: Tree) -> Iterator[Opened]:
    program = next(iter(editor_paths("emacs").values()))
    with (
        running(program, home, tree.path) as (terminal, pid),
        temporary_home() as other,
        running(program, other, tree.path) as (_, bare),
    ):
        terminal.type(f"\x03sf{WORD}\r")
        terminal.see("following")
        yield Opened("Emacs", [pid], [bare])


@contextmanager
def live_client(home: Home) -> Iterator[Opened]:
    terminal = LiveTerminal(home, WORD)
    try:
        terminal.see("1 hit")
        terminal.type("/follow\r")
        yield Opened("livedex live", [terminal.process.pid], [])
    finally:
        terminal.close()


@contextmanager
def web_client(home: Home, browser: Browser) -> Iterator[Opened]:
    with WebProcess(home) as web:
        page = browser.new_page()
        page.goto(web.url)
        page.locator("#query").fill(WORD)
        page.locator("#live").wait_for()
        yield Opened("livedex web", [web.process.pid], [])


@contextmanager
def vscode_client(home: Home, tree: Tree, browser: Browser) -> Iterator[Opened]:
    with (
        code_server(home) as address,
        temporary_home() as other,
        code_server(other, extension=False) as bare,
    ):
        window = Window(browser, address, tree.path)
        window.follow(WORD)
        Window(browser, bare, tree.path)
        yield Opened("VS Code, extension host", [extension_host(home.path)], [extension_host(other.path)])


def opened(stack: ExitStack, home: Home, tree: Tree) -> Iterator[Opened]:
    if editor_paths("nvim"):
        yield stack.enter_context(neovim_client(home, tree))
    if editor_paths("emacs"):
        yield stack.enter_context(emacs_client(home, tree))
    yield stack.enter_context(live_client(home))
    browser = stack.enter_context(chromium())
    yield stack.enter_context(web_client(home, browser))
    if CODE_SERVER.exists():
        yield stack.enter_context(vscode_client(home, tree, browser))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.left_open", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args()
    with temporary_home() as home, ExitStack() as stack:
        daemon = Daemon(home).start()
        stack.callback(daemon.stop)
        tree = Tree(home.path / "opened")
        tree.write("first.md", f"An {WORD}.\n")
        with daemon.client() as client:
            add_root(client, tree)
            pid = int(client.call("status")["pid"])
        clients = [*opened(stack, home, tree), Opened("the daemon", [pid], [])]
        time.sleep(SETTLE_S)
        measured = [pids for each in clients for pids in (each.pids, each.floor)]
        before = [spent_ms(pids) for pids in measured]
        seconds = options.minutes * 60
        time.sleep(seconds)
        percents = [(spent_ms(pids) - spent) / seconds / 10 for pids, spent in zip(measured, before, strict=True)]
    print(f"{options.minutes:g} minutes, CPU of one core", HEADER, sep="\n")
    for each, percent, floor in zip(clients, percents[::2], percents[1::2], strict=True):
        goal = IDLE_PERCENT if each.name != "the daemon" else None
        print(Figure(each.name, "%", [percent - floor], goal=goal).as_line())
        if each.floor:
            print(Figure("  left out of it: the floor", "%", [floor]).as_line())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
