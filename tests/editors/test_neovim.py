"""Neovim's commands, typed in a terminal: what the lists have is what the index has, and stays so."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.editor_terminal import in_editor
from helpers.fault_injection import Unfresh
from helpers.neovim import Neovim, neovim
from helpers.support import CHECKOUT, LIVEDEX, Daemon, Home, Tree, add_root, wait_until

NEOVIM = in_editor("nvim")
FIRST = "lease.md:5:23:Żółw: a zither for thirty days."
FILES = {
    "lease.md": "# Leases\n\nNothing here.\n\nŻółw: a zither for thirty days.\n",
    "src/lute.py": "def lute(strings):\n    return strings\n",
}


@pytest.fixture
def indexed(daemon: Daemon, tree: Tree) -> Tree:
    tree.write_all(FILES)
    with daemon.client() as client:
        add_root(client, tree)
    return tree


def lists(vim: Neovim, entries: list[str]) -> None:
    """Wait until the quickfix list is this."""
    try:
        vim.see(lambda _: vim.quickfix() == entries)
    except AssertionError as error:
        raise AssertionError(f"{vim.quickfix()} is not {entries}\n{error}") from None


@NEOVIM
@pytest.mark.shares_daemon
def test_a_search_fills_the_quickfix_list(home: Home, indexed: Tree, program: Path) -> None:
    with neovim(program, home, indexed.path) as vim:
        vim.type(":Livedex! thirty days\r")
        vim.see("lease.md|5 col 23| Żółw: a zither for thirty days.")
        assert vim.quickfix() == [FIRST]
        vim.type("\r")
        vim.see(lambda _: vim.place() == "lease.md:5:23")
        vim.type(":Livedex! zzqqxx\r")
        vim.see("(nothing found)")
        vim.type(":lua require('livedex').search({ query = 'RETURN', mode = 'regex', letter_case = 'sensitive' })\r")
        vim.see("livedex RETURN (nothing found)")
        vim.type(":lua require('livedex').search({ query = 'return .', mode = 'regex' })\r")
        lists(vim, ["lute.py:2:5:return strings"])
        vim.type(":lua require('livedex').search({ query = '(', mode = 'regex' })\r")
        vim.see("livedex: query: the pattern does not compile")


@NEOVIM
@pytest.mark.shares_daemon
def test_without_a_picker_the_words_are_asked_for(home: Home, indexed: Tree, program: Path) -> None:
    with neovim(program, home, indexed.path) as vim:
        vim.type(":Livedex\r")
        vim.see("\nlivedex:")
        vim.type("thirty days\r")
        lists(vim, [FIRST])
    with neovim(program, home, indexed.path, init=["vim.g.livedex = { picker = 'select' }"]) as vim:
        vim.type(":Livedex\r")
        vim.see("\nlivedex:")
        vim.type("zither days\r")
        vim.see("1: lease.md:5:12: Żółw: a zither for thirty days.")
        vim.type("1\r")
        vim.see(lambda _: vim.place() == "lease.md:5:12")


@NEOVIM
@pytest.mark.shares_daemon
def test_a_list_follows_its_query(home: Home, indexed: Tree, program: Path) -> None:
    with neovim(program, home, indexed.path) as vim:
        vim.type(":LivedexFollow zither\r")
        vim.see("livedex zither (following)")
        lists(vim, ["lease.md:5:12:Żółw: a zither for thirty days."])
        indexed.save("a.md", "A zither.\n")
        lists(vim, ["a.md:1:3:A zither.", "lease.md:5:12:Żółw: a zither for thirty days."])
        assert vim.ask("getqflist({'idx': 0}).idx") == 2, "the current entry stays the current one"
        assert vim.ask("line('.')") == 2, "so does the line of the cursor"
        indexed.save("a.md", "\nNo zither more.\n")
        lists(vim, ["a.md:2:4:No zither more.", "lease.md:5:12:Żółw: a zither for thirty days."])
        indexed.remove("lease.md")
        lists(vim, ["a.md:2:4:No zither more."])
        vim.type(":LivedexFollow!\r")
        vim.see("livedex zither (ended)")
        indexed.save("b.md", "A zither.\n")
        vim.type(":LivedexFollow zither\r")
        lists(vim, ["a.md:2:4:No zither more.", "b.md:1:3:A zither."])
        vim.type(":colder\r")
        lists(vim, ["a.md:2:4:No zither more."])
        vim.type(":LivedexFollow!\r")
        vim.see("livedex: the quickfix list does not follow a query")


@NEOVIM
@pytest.mark.shares_daemon
def test_a_list_that_follows_has_every_hit_of_a_long_line(home: Home, indexed: Tree, program: Path) -> None:
    with neovim(program, home, indexed.path) as vim:
        vim.type(":LivedexFollow quagga\r")
        vim.see("livedex quagga (following)")
        indexed.save("long.md", "The quagga runs over the plain. " * 200 + "\n")
        hits = json.loads(home.run("--json", "search", "quagga").stdout)["hits"]
        places = sorted((hit["line"], hit["column"]) for hit in hits)
        assert len(places) > 2
        vim.see(lambda _: [(each["lnum"], each["col"]) for each in vim.ask("getqflist()")] == places)
        indexed.save("long.md", "The quagga runs.\n")
        lists(vim, ["long.md:1:5:The quagga runs."])


@NEOVIM
@pytest.mark.shares_daemon
def test_a_list_that_is_forgotten_follows_no_more(home: Home, indexed: Tree, program: Path) -> None:
    with neovim(program, home, indexed.path) as vim:
        vim.type(":LivedexFollow zither\r")
        vim.see("livedex zither (following)")
        for _ in range(10):
            vim.type(":call setqflist([], ' ')\r")
        indexed.save("a.md", "A zither.\n")
        vim.type(":LivedexFollow zither\r")
        lists(vim, ["a.md:1:3:A zither.", "lease.md:5:12:Żółw: a zither for thirty days."])
        followed = "len(luaeval('require(\"livedex.follow\").followed()'))"
        wait_until(lambda: vim.ask(followed) == 1, what="the end of the forgotten list")


@NEOVIM
@pytest.mark.breaks_daemon
def test_a_list_outlives_the_daemon(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon], program: Path
) -> None:
    tree.write_all(FILES)
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, tree)
    command = tmp_path / "livedex"
    command.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/calls\nexec {LIVEDEX} "$@"\n')
    command.chmod(0o755)
    with neovim(program, home, tree.path, init=[f"vim.g.livedex = {{ command = '{command}' }}"]) as vim:
        vim.type(":LivedexFollow zither\r")
        lists(vim, ["lease.md:5:12:Żółw: a zither for thirty days."])
        daemon.kill()
        vim.see("livedex zither (not connected)")
        assert len(vim.quickfix()) == 1
        tree.save("a.md", "A zither.\n")
        lost_ms = vim.ask("luaeval('vim.uv.now()')")
        wait_until(lambda: vim.ask("luaeval('vim.uv.now()')") > lost_ms + 1000, what="the plugin's timers")
        assert home.server_pid() is None, "a list alone starts no daemon"
        home.run("status")
        lists(vim, ["a.md:1:3:A zither.", "lease.md:5:12:Żółw: a zither for thirty days."])
        vim.see("livedex zither (following)")
        os.kill(home.server_pid() or 0, signal.SIGKILL)
        vim.see("livedex zither (not connected)")
        tree.save("b.md", "A zither.\n")
        vim.type(":Livedex! thirty days\r")
        lists(vim, [FIRST])
        vim.type(":colder\r")
        lists(vim, ["a.md:1:3:A zither.", "b.md:1:3:A zither.", "lease.md:5:12:Żółw: a zither for thirty days."])
        home.run("down")
    assert (tmp_path / "calls").read_text().split() == ["socket", "socket"], "once, and for the second search"


@pytest.fixture
def unfresh(tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]) -> Unfresh:
    """Of a daemon that has the files."""
    tree.write_all(FILES)
    made = Unfresh(tmp_path / "unfresh")
    with start_daemon(**made.env).client() as client:
        add_root(client, tree)
    return made


@NEOVIM
def test_a_list_says_when_it_is_fresh(home: Home, tree: Tree, unfresh: Unfresh, program: Path) -> None:
    with neovim(program, home, tree.path) as vim:
        with unfresh.held():
            vim.type(":LivedexFollow zither\r")
            vim.see("livedex zither (not fresh: recovering)")
        vim.see("livedex zither (following)")


@NEOVIM
def test_a_search_into_a_list_waits_for_the_newest_changes(
    home: Home, tree: Tree, unfresh: Unfresh, program: Path
) -> None:
    with neovim(program, home, tree.path) as vim:
        with unfresh.held(until_late=True):
            vim.type(":Livedex! zither\r")
            vim.see("livedex zither (searching)")
            asked_ms = vim.ask("luaeval('vim.uv.now()')")
            wait_until(lambda: vim.ask("luaeval('vim.uv.now()')") > asked_ms + 1500, what="more time than by default")
            vim.see("livedex zither (searching)")
        lists(vim, ["lease.md:5:12:Żółw: a zither for thirty days."])


@NEOVIM
@pytest.mark.shares_daemon
def test_nothing_blocks_typing(home: Home, daemon: Daemon, indexed: Tree, program: Path) -> None:
    with neovim(program, home, indexed.path) as vim:
        vim.type(":Livedex! thirty days\r")
        lists(vim, [FIRST])
        with daemon.paused():
            vim.type(":Livedex! lute\r")
            vim.type(":LivedexFollow strings\r:wincmd p\ri")
            vim.type("typed while nothing answers")
            vim.see("typed while nothing answers")
        vim.see("lute.py|1 col 10| def lute(strings):")
        assert vim.ask("getline(1)") == "typed while nothing answers"


@NEOVIM
@pytest.mark.shares_daemon
def test_the_search_for_what_was_typed_before_ends(home: Home, daemon: Daemon, indexed: Tree, program: Path) -> None:
    typed = """
        answers = {}
        for at, query in ipairs({ 'z', 'zi', 'zit', 'zith', 'thirt' }) do
          require('livedex.hits').typed({}, query, function(items) answers[at] = items or 'cancelled' end)
        end
    """
    with neovim(program, home, indexed.path) as vim:
        vim.type(":Livedex! thirty days\r")
        lists(vim, [FIRST])
        with daemon.paused():  # so that all five reach it together
            vim.type(f":lua {' '.join(typed.split())}\r")
            wait_until(lambda: vim.ask("luaeval('answers ~= nil')"), what="that all are sent")
        wait_until(lambda: vim.ask("len(luaeval('vim.tbl_values(answers)'))") == 5, what="all answers")
        answers = vim.ask("luaeval('answers')")
        assert [item["text"] for item in answers[4]] == ["Żółw: a zither for thirty days."]
        assert "cancelled" in answers[:4]


@NEOVIM
@pytest.mark.shares_daemon
def test_health_is_reported(home: Home, indexed: Tree, program: Path) -> None:
    with neovim(program, home, indexed.path) as vim:
        vim.type(":checkhealth livedex\r")
        report = vim.see("connected yet")
        assert "this plugin came with it" in report
        assert "the daemon is ready: 2 files in 1 roots" in report
        assert "searches as you type use: quickfix" in report


@NEOVIM
def test_a_command_that_is_not_there_is_said(home: Home, tree: Tree, program: Path) -> None:
    with neovim(program, home, tree.path, init=["vim.g.livedex = { command = '/nowhere/livedex' }"]) as vim:
        vim.type(":Livedex! zither\r")
        vim.see("/nowhere/livedex cannot be run: see :checkhealth livedex")
        vim.type("\r:checkhealth livedex\r")
        vim.see("the command livedex cannot be run")


@NEOVIM
def test_the_help_is_found(home: Home, tree: Tree, tmp_path: Path, program: Path) -> None:
    with neovim(program, home, tree.path) as vim:
        vim.type(":help :LivedexFollow\r")
        vim.see("LivedexFollow! ")
    docs = CHECKOUT / "editors" / "nvim" / "doc"
    shutil.copytree(docs, tmp_path / "doc")
    subprocess.run([program, "--headless", "--clean", "-c", f"helptags {tmp_path}/doc", "-c", "qa"], check=True)
    assert (docs / "tags").read_text() == (tmp_path / "doc" / "tags").read_text(), ":helptags editors/nvim/doc"


PICTURE = {
    "src/lease.py": "LEASE = 30\n\n\ndef renew(lease):\n    return lease.end + LEASE\n",
    "notes/leases.md": "# Leases\n\nA lease lasts thirty days.\n\nRenew the lease in 東京 early.\n",
}


@NEOVIM
@pytest.mark.shares_daemon
def test_the_picture_of_the_page_is_the_screen(home: Home, daemon: Daemon, tree: Tree, program: Path) -> None:
    page = (CHECKOUT / "docs" / "editors" / "nvim.md").read_text()
    tree.write_all(PICTURE)
    with daemon.client() as client:
        add_root(client, tree)
    with neovim(program, home, tree.path, init=["vim.o.ruler = false"], size=(18, 76)) as vim:
        vim.type(":edit src/lease.py | syntax off\r:LivedexFollow lease\r:\x15")
        vim.terminal.press("Escape")
        vim.see("livedex lease (following)")
        tree.save("src/new.py", "# Each lease is renewed.\n")
        screen = vim.see("Each lease is renewed")
    assert f"```text\n{screen.rstrip()}\n```" in page, screen
