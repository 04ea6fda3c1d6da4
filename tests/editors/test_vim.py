"""Vim with its recipe: any words are searched for as they are typed, and the quickfix list has the hits."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers.editor_terminal import EditorTerminal, editor_environment, editor_terminal
from helpers.support import Home, Tree

pytestmark = pytest.mark.needs("vim", "tmux")


@contextmanager
def vim(home: Home, tree: Tree, tmp_path: Path) -> Iterator[EditorTerminal]:
    tree.write("lease.md", "# Leases\n\nNothing here.\n\nA zither for thirty days; Ada's, 100% hers!\n")
    tree.write("lute.md", "A lute and a zither.\n")
    home.run("up", str(tree))
    recipe = tmp_path / "vimrc"
    recipe.write_text(home.run("editor", "vim").stdout)
    program = shutil.which("vim") or ""
    with editor_terminal([program, "-N", "-i", "NONE", "-u", recipe], tree.path, editor_environment(home)) as terminal:
        terminal.see("VIM - Vi IMproved")
        yield terminal


def test_hits_come_into_the_quickfix_list(home: Home, tree: Tree, tmp_path: Path) -> None:
    with vim(home, tree, tmp_path) as terminal:
        terminal.type(":Livedex thirty days\r")
        terminal.see("lease.md|5 col 14| A zither for thirty days; Ada's, 100% hers!")
        terminal.press("Enter")
        terminal.type(":echo expand('%:t') line('.') col('.')\r")
        terminal.see("lease.md 5 14")


@pytest.mark.parametrize("words", ["Ada's", '"100% hers"', "hers! $(touch made) `touch made` | # % zither"])
def test_no_character_of_the_words_is_the_shells(home: Home, tree: Tree, tmp_path: Path, words: str) -> None:
    with vim(home, tree, tmp_path) as terminal:
        terminal.type(f":Livedex {words}\r")
        terminal.see("lease.md|5 col ")
    assert not (tree / "made").exists()
