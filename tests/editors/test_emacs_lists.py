"""Emacs' lists of hits: xref, a buffer that follows its query, eglot with the language server; and clean Lisp."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.editor_terminal import in_editor
from helpers.emacs import INTERFACES, PAGE, batch, emacs, require_current
from helpers.fault_injection import Unfresh
from helpers.support import CHECKOUT, Daemon, Home, Tree, add_root

EMACS = in_editor("emacs")
SOURCES = sorted((CHECKOUT / "editors" / "emacs").glob("*.el"))
CODE = "import lute\n\n\ndef tune(zither):\n    return zither\n\n\nprint(tune(lute))\n"


@pytest.fixture
def indexed(daemon: Daemon, tree: Tree) -> Tree:
    tree.write("tuning.py", CODE)
    tree.write("notes/a.md", "# Notes\n\nOne zither, tuned.\n")
    with daemon.client() as client:
        add_root(client, tree)
    return tree


@EMACS
@pytest.mark.shares_daemon
def test_xref_lists_hits_and_searches_again(home: Home, indexed: Tree, program: Path) -> None:
    with emacs(program, home, indexed.path) as terminal:
        terminal.type("\x03sxzither\r")
        terminal.see(lambda screen: "4:def tune(zither):" in screen and "3:One zither, tuned." in screen)
        indexed.save("notes/b.md", "Another zither.\n")
        terminal.type("g")
        terminal.see("1:Another zither.")
        terminal.type("\x13def tune\r\r")  # C-s
        terminal.see("tuning.py:4:")


@EMACS
@pytest.mark.shares_daemon
def test_definitions_and_references_without_a_language_server(home: Home, indexed: Tree, program: Path) -> None:
    with emacs(program, home, indexed.path, lisp=['(find-file "tuning.py")', "(goto-line 8)"]) as terminal:
        terminal.see("tuning.py:8:0")
        terminal.type("\x13tune\r\x1b.")  # C-s, M-.
        terminal.see("tuning.py:4:")
        terminal.type("\x1b,\x1b?\r")  # M-,
        terminal.see(lambda screen: "4:def tune(zither):" in screen and "8:print(tune(lute))" in screen)


def entries(screen: str) -> list[str]:
    """Return the entries of a following buffer on the screen."""
    return re.findall(r"^\S+:\d+:.*[^\d\n]$", screen, re.MULTILINE)


@EMACS
def test_a_buffer_follows_its_query(home: Home, daemon: Daemon, indexed: Tree, program: Path) -> None:
    with emacs(program, home, indexed.path) as terminal:
        terminal.type("\x03sfzither\r")
        terminal.see("zither · 2 hits · following")
        first = "tuning.py:4:def tune(zither):"
        terminal.see(lambda screen: sorted(entries(screen)) == ["notes/a.md:3:One zither, tuned.", first])
        terminal.type("\x13def tune\r")  # C-s: point is on that entry
        indexed.save("tuning.py", "# moved\n" + CODE)
        moved = "tuning.py:5:def tune(zither):"
        terminal.see(lambda screen: moved in entries(screen))
        indexed.save("z/new:1:2.md", "\n a new zither\n")
        terminal.see(lambda screen: entries(screen)[0] == "z/new:1:2.md:2: a new zither")
        indexed.remove("notes/a.md")
        terminal.see(lambda screen: len(entries(screen)) == 2 and "2 hits" in screen)
        daemon.kill()
        indexed.write("after.md", "A zither after the end.\n")
        terminal.see(lambda screen: "3 hits · following" in screen and "after.md:1:" in screen)
        terminal.type("\r")  # point is where it was
        terminal.see("tuning.py:5:9")
        terminal.type("\x1bgp")  # M-g p: the entry above the one that was opened
        terminal.see("new:1:2.md:2:7")


@EMACS
def test_a_buffer_says_when_it_is_fresh(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon], program: Path
) -> None:
    tree.write("tuning.py", CODE)
    unfresh = Unfresh(tmp_path / "unfresh")
    with start_daemon(**unfresh.env).client() as client:
        add_root(client, tree)
    with emacs(program, home, tree.path) as terminal:
        with unfresh.held():
            terminal.type("\x03sfzither\r")
            terminal.see("zither · 1 hit · not up to date: recovering")
        terminal.see("zither · 1 hit · following")


EGLOT = """
(require 'eglot)
(setq eglot-connect-timeout nil eglot-sync-connect nil)
(defun project-here (_) (cons 'transient default-directory))
(setq project-find-functions '(project-here))
(find-file "begin.txt")
(eglot-ensure)
"""


@EMACS
@pytest.mark.shares_daemon
def test_eglot_finds_symbols_by_the_language_server(home: Home, indexed: Tree, program: Path) -> None:
    indexed.write("begin.txt", "Begin here.\n")
    with emacs(program, home, indexed.path, lisp=[EGLOT]) as terminal:
        terminal.see("begin.txt:1:0")
        terminal.press("C-e")  # eglot connects after the first command
        terminal.see("Connected!")  # until then Emacs asks for a table of tags
        terminal.type("\x1bxxref-find-apropos\r")
        terminal.see("Search for pattern")
        terminal.type("zither\r")
        terminal.see(lambda screen: "def tune(zither):" in screen and "One zither, tuned." in screen)
        terminal.type("\x13def tune\r\r")  # C-s
        terminal.see("tuning.py:4:9")


@EMACS
@pytest.mark.shares_daemon
def test_the_page_shows_what_is_drawn(home: Home, indexed: Tree, program: Path) -> None:
    """The picture in docs/editors/emacs.md; with LIVEDEX_DRAW=1 it is written there."""
    with emacs(program, home, indexed.path, lisp=[INTERFACES["fido"]], size=(14, 80)) as terminal:
        terminal.type("\x03sfzither\r")
        terminal.see(lambda screen: len(entries(screen)) == 2 and "following" in screen)
        terminal.type("\x181\x03ssdef tu")  # C-x 1
        drawn = terminal.see(lambda screen: len(entries(screen)) == 4 and "1/2 Search: def tu" in screen)
    page = PAGE.read_text()
    picture = "\n".join(row for row in drawn.splitlines() if row)
    made = re.sub(r"(?<=```text\n) zither ·.*?(?=```)", lambda _: f"{picture}\n", page, count=1, flags=re.DOTALL)
    if os.environ.get("LIVEDEX_DRAW"):
        PAGE.write_text(made)
    assert made == page


@EMACS
@pytest.mark.shares_daemon
@pytest.mark.parametrize(
    "query", ["lute zither", "zither lute", "tuned zither", "zither", "\u00e9tude zither", "zzither"]
)
def test_what_is_marked_in_the_line_of_a_hit_is_what_matches(
    daemon: Daemon, tree: Tree, program: Path, query: str
) -> None:
    """The first match of the snippet may be in an earlier line, or before the place that the hit is about."""
    tree.write(
        "a.md",
        "zither here\n\U0001d4b3 zither \u00e9tude zither lute\ntuned\r\nlute zither\n" + "\u00e9 " * 900 + "zzither\n",
    )
    with daemon.client() as client:
        add_root(client, tree)
        (hit,) = client.call("search", {"query": query, "group": "file"})["hits"]
    lisp = f"""(let* ((hit (json-parse-string (decode-coding-string (base64-decode-string
                 "{b64encode(json.dumps(hit).encode()).decode()}") 'utf-8) :object-type 'plist))
               (text (livedex-hit-text hit 'face 'match)) (at 0))
      (while (setq at (text-property-any at (length text) 'face 'match text))
        (let ((end (or (next-single-property-change at 'face text) (length text))))
          (princ (format "%d-%d " at end))
          (setq at end))))"""
    said = batch(program, "-L", SOURCES[0].parent, "-l", "livedex-hit", "--eval", lisp)
    words = "|".join(f"\\b{word}\\b" for word in query.split())
    matches = [match.span() for match in re.finditer(words, hit["text"])]
    assert said.split() == [f"{start}-{end}" for start, end in matches] and matches


@EMACS
def test_the_lisp_is_clean(home: Home, tmp_path: Path, program: Path) -> None:
    """Neither the compiler nor checkdoc has anything to say; each file says what it is, as package archives want it."""
    require_current(program)
    check = f"""(progn
      (require 'bytecomp)
      (setq byte-compile-error-on-warn t
            byte-compile-dest-file-function (lambda (_) "{tmp_path}/out.elc"))
      (dolist (file command-line-args-left)
        (byte-compile-file file)
        (checkdoc-file file))
      (kill-emacs 0))"""
    said = batch(program, "-L", SOURCES[0].parent, "--eval", check, *SOURCES)
    assert said == ""
    for source in SOURCES:
        text = source.read_text()
        assert re.match(rf";;; {source.name} --- .+  -\*- lexical-binding: t; -\*-\n", text)
        assert text.endswith(f"(provide '{source.stem})\n;;; {source.name} ends here\n")


def test_the_package_has_the_version_of_livedex() -> None:
    from livedex_ipc import __version__

    assert f";; Version: {__version__}\n" in (CHECKOUT / "editors" / "emacs" / "livedex.el").read_text()
