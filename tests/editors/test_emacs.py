"""Emacs with its client: what is typed is searched for, the daemon's order is kept, the hit opens at its place."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from helpers.editor_terminal import EditorTerminal, in_editor
from helpers.emacs import INTERFACES, emacs
from helpers.support import Daemon, Home, Tree, add_root

EMACS = in_editor("emacs")
EACH_INTERFACE = in_editor("emacs", interface=INTERFACES)
# No line that is found has the query, and the best file is neither the first nor the shortest by its name: a list
# that is filtered or sorted once more is another one.
QUERY = "zithers tuned -lute"
FILES = {
    "a.md": "# Other\n\nNothing here.\n\nŻółw: one zither, and a very long sentence about something else entirely.\n",
    "notes/of the year/best.md": "# Tuning\n\n\tEach zither is tuned. All zithers are tuned.\n",
    "b.md": "# More\n\nA tuned piano.\n",
    "lute.md": "A lute, tuned as zithers are tuned.\n",
}

# An event comes after the last key that no command follows, such as when the terminal is resized.
EVENT = f"""
(define-key special-event-map [sigusr1] #'ignore)
(add-hook 'post-command-hook
          (lambda () (when (and (minibufferp) (equal (minibuffer-contents) "{QUERY}"))
                       (signal-process (emacs-pid) 'sigusr1)))
          -90)
"""

# Emacs loses the call of a sentinel if a key comes just then, inside of `while-no-input`.
NO_SENTINEL = """
(advice-add 'make-process :filter-return
            (lambda (process) (set-process-sentinel process #'ignore) process))
"""


def leave_minibuffer(terminal: EditorTerminal) -> None:
    """Press C-g, which ends what Emacs is doing, or else the minibuffer; pressed twice at once it stops Emacs."""
    for _ in range(5):
        terminal.press("C-g")
        with suppress(AssertionError):
            terminal.see(lambda screen: "Search:" not in screen, timeout=4)
            return
    terminal.see(lambda screen: "Search:" not in screen)


@pytest.fixture
def indexed(daemon: Daemon, tree: Tree) -> Tree:
    tree.write_all(FILES)
    with daemon.client() as client:
        add_root(client, tree)
    return tree


def search(daemon: Daemon, query: str, **params: object) -> list[dict[str, Any]]:
    with daemon.client() as client:
        hits: list[dict[str, Any]] = client.call("search", {"query": query, "typing": True, **params})["hits"]
    return hits


def listed(hits: list[dict[str, Any]]) -> list[str]:
    """Return the hits as a list shows them."""
    return [" ".join(f"{hit['relative_path']}:{hit['line']}:{hit['text']}".split()) for hit in hits]


def place(hit: dict[str, Any]) -> str:
    """Return the place of a hit as the mode line shows it."""
    before = hit["text"].encode()[: hit["column"] - 1].decode()
    return f"{Path(hit['path']).name}:{hit['line']}:{len(before)}"


def shown(screen: str) -> list[str]:
    """Return the hits on the screen, in their order."""
    rows = (" ".join(row.split()) for row in screen.splitlines())
    return [row for row in rows if re.search(r"\.md:\d+:(?!\d+$)", row) and "Search:" not in row]


@EACH_INTERFACE
@pytest.mark.parametrize("event", ["", EVENT], ids=["keys", "event"])
@pytest.mark.shares_daemon
def test_it_searches_as_it_is_typed_into(
    home: Home, daemon: Daemon, indexed: Tree, program: Path, interface: str, event: str
) -> None:
    hits = search(daemon, QUERY)
    assert len(hits) == 3
    with emacs(program, home, indexed.path, lisp=[INTERFACES[interface], event]) as terminal:
        terminal.press("C-c", "s", "s")
        terminal.see("Search:")
        terminal.type(QUERY)
        terminal.see(lambda screen: shown(screen) == listed(hits))
        terminal.press("Enter")
        terminal.see(place(hits[0]))


@EACH_INTERFACE
@pytest.mark.shares_daemon
def test_enter_means_what_was_typed_not_what_is_listed(
    home: Home, daemon: Daemon, indexed: Tree, program: Path, interface: str
) -> None:
    """All keys come before the first list; none of them gets lost."""
    query = 'piano "tuned piano"'
    with emacs(program, home, indexed.path, lisp=[INTERFACES[interface]]) as terminal:
        terminal.type(f"\x03ss{query}\r")
        terminal.see(place(search(daemon, query)[0]))
        terminal.type("\x03ss")
        terminal.see("Search:")
        terminal.type("\x1bp")  # M-p
        terminal.see(query)


@EMACS
@pytest.mark.parametrize("key", ["M-Down", "C-n"])
@pytest.mark.shares_daemon
def test_another_hit_is_chosen(home: Home, daemon: Daemon, indexed: Tree, program: Path, key: str) -> None:
    interface = "plain" if key == "M-Down" else "vertico"
    hits = search(daemon, QUERY)
    with emacs(program, home, indexed.path, lisp=[INTERFACES[interface]]) as terminal:
        terminal.type(f"\x03ss{QUERY}")
        terminal.see(lambda screen: shown(screen) == listed(hits))
        terminal.press(key, key)
        if interface == "plain":  # there it goes from the input to the first one
            terminal.see(lambda screen: listed(hits)[1] in screen.splitlines()[-1])
        terminal.press("Enter")
        terminal.see(place(hits[1 if interface == "plain" else 2]))


@EMACS
@pytest.mark.parametrize("interface", ["fido", "vertico"])
@pytest.mark.shares_daemon
def test_consult_shows_the_place_of_the_selected_hit(
    home: Home, daemon: Daemon, indexed: Tree, program: Path, interface: str
) -> None:
    hits = search(daemon, QUERY)
    with emacs(program, home, indexed.path, lisp=["(require 'consult)", INTERFACES[interface]]) as terminal:
        terminal.type(f"\x03sc{QUERY}")
        terminal.see(lambda screen: shown(screen) == listed(hits) and place(hits[0]) in screen)
        terminal.press("C-n" if interface == "vertico" else "Down")
        terminal.see(place(hits[1]))
        terminal.press("Enter")
        terminal.see(lambda screen: place(hits[1]) in screen and "Search:" not in screen)
        terminal.type('\x03scpiano "tuned piano"\r')  # Enter comes before the list
        terminal.see(lambda screen: "b.md:3:2" in screen and "Search:" not in screen)


@EMACS
@pytest.mark.shares_daemon
def test_a_prefix_argument_limits_it_to_a_folder(home: Home, indexed: Tree, program: Path) -> None:
    with emacs(program, home, indexed.path, lisp=[INTERFACES["vertico"]]) as terminal:
        terminal.type("\x15\x03ss")
        terminal.see("Search below:")
        terminal.type("notes\r")
        terminal.see(lambda screen: "Search:" in screen)
        terminal.type("tuned")
        terminal.see(lambda screen: [row.split(":")[0] for row in shown(screen)] == ["notes/of the year/best.md"])


@EMACS
@pytest.mark.shares_daemon
def test_any_name_and_line_is_opened_at_its_place(home: Home, daemon: Daemon, tree: Tree, program: Path) -> None:
    names = ["a:12:b.md", "tab\tand blank.md", "Żółw.md", "%s.md"]
    for number, name in enumerate(names):
        tree.write(name, f"first\n\t\u00e4 \U0001f600 kazoo{number} here\n")
    bytes_of_name = os.fsencode(tree.path) + b"/raw\xff.md"
    Path(os.fsdecode(bytes_of_name)).write_text("first\nsecond\n ä kazoo4 here\n")
    tree.write("long.md", "\n" + "word " * 3000 + "kazoo5 " + "word " * 3000 + "\n")
    with daemon.client() as client:
        add_root(client, tree)
    with emacs(program, home, tree.path, lisp=[INTERFACES["vertico"]]) as terminal:
        for number in range(6):
            terminal.type(f"\x03sskazoo{number}\r")
            terminal.see(["2:5", "2:5", "2:5", "2:5", "raw\\377.md:3:3", "long.md:2:15000"][number])
            terminal.type("\x1b:(princ (file-exists-p buffer-file-name))\r")
            terminal.see(lambda screen: screen.splitlines()[-1].startswith("t"))
            terminal.press("C-x", "k", "Enter")
            terminal.see("*scratch*:")


@EMACS
def test_a_daemon_that_does_not_answer_stops_no_key(home: Home, daemon: Daemon, indexed: Tree, program: Path) -> None:
    with emacs(program, home, indexed.path, lisp=[INTERFACES["vertico"]]) as terminal:
        terminal.type("\x03sstuned")
        terminal.see("b.md:3:A tuned piano.")
        with daemon.paused():
            for end in range(1, 6):
                terminal.type(" more"[end - 1])
                terminal.see("Search: tuned" + " more"[:end])
            terminal.type(" than ever, all at once")  # a terminal gives Emacs several keys in one
            terminal.see("Search: tuned more than ever, all at once")
            terminal.press("C-g")
            terminal.see(lambda screen: "Search:" not in screen)
            terminal.type("\x03ss")
            terminal.see("Search:")
        terminal.type("zith")
        terminal.see("best.md")


@EACH_INTERFACE
def test_it_goes_on_after_the_daemon_was_killed(
    home: Home, daemon: Daemon, indexed: Tree, program: Path, interface: str
) -> None:
    hits = search(daemon, "zithers piano")
    with emacs(program, home, indexed.path, lisp=[INTERFACES[interface]]) as terminal:
        terminal.type("\x03sszithers")
        terminal.see("best.md:3:")
        daemon.kill()
        terminal.type(" piano")
        terminal.see(lambda screen: shown(screen) == listed(hits))
        terminal.press("Enter")
        terminal.see(place(hits[0]))


@EMACS
def test_a_search_under_way_outlives_the_daemon(home: Home, daemon: Daemon, indexed: Tree, program: Path) -> None:
    """No key follows that would ask again."""
    hits = search(daemon, "zithers piano")
    with emacs(program, home, indexed.path, lisp=[INTERFACES["fido"]]) as terminal:
        terminal.type("\x03sszithers")
        terminal.see("best.md:3:")
        daemon.pause()
        terminal.type(" piano")
        terminal.see("Search: zithers piano")
        daemon.kill()
        terminal.see(lambda screen: shown(screen) == listed(hits))


@EMACS
def test_consult_says_nothing_of_a_search_that_another_one_ended(
    home: Home, daemon: Daemon, indexed: Tree, program: Path
) -> None:
    with emacs(program, home, indexed.path, lisp=["(require 'consult)", INTERFACES["vertico"]]) as terminal:
        terminal.type("\x03sctuned")
        terminal.see(lambda screen: shown(screen) == listed(search(daemon, "tuned")))
        with daemon.paused():
            terminal.type(" p")
            terminal.see("Search* tuned p")  # it runs
            terminal.type("i")
            terminal.see("Search* tuned pi")
        terminal.see(lambda screen: shown(screen) == listed(search(daemon, "tuned pi")))
        terminal.press("Enter")
        terminal.see("b.md:3:2")
        terminal.type('\x1b:(with-current-buffer "*Messages*" (how-many "^livedex" (point-min)))\r')
        terminal.see(lambda screen: re.match(r"\d+ \(#o", screen.splitlines()[-1]))
        assert terminal.rows()[-1].startswith("0 ")


@EMACS
@pytest.mark.shares_daemon
def test_it_connects_though_emacs_does_not_tell_it_to(home: Home, daemon: Daemon, indexed: Tree, program: Path) -> None:
    hits = search(daemon, QUERY)
    with emacs(program, home, indexed.path, lisp=[INTERFACES["fido"], NO_SENTINEL]) as terminal:
        terminal.type(f"\x03ss{QUERY}")
        terminal.see(lambda screen: shown(screen) == listed(hits))


@EMACS
def test_what_is_missing_is_said_where_the_list_would_be(home: Home, tree: Tree, program: Path) -> None:
    with emacs(program, home, tree.path, env={"LIVEDEX_NO_SPAWN": "1"}, lisp=[INTERFACES["fido"]]) as terminal:
        terminal.type("\x03sstuned")
        terminal.see("no daemon answers")
        leave_minibuffer(terminal)
        terminal.type('\x1b:(setq livedex-program "livedex-lost")\r')
        terminal.type("\x03ssx")
        terminal.see("No such file or directory, livedex-lost")
