"""The pickers of Neovim, typed into: the list is the answer to what was typed last, in its order, and opens its places.

`LIVEDEX_NVIM_PLUGINS` names a folder with copies of the plugins, under the names of their repositories. Without it,
this Neovim's own are taken. Each that is not there is skipped.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from helpers.editor_terminal import editors
from helpers.neovim import PICKERS, Neovim, Picker, neovim
from helpers.support import Home, Tree, add_root
from livedex_ipc.client import Client

QUERY = "zither lea"

pytestmark = [
    pytest.mark.parametrize("program", editors("nvim")),
    pytest.mark.parametrize("picker", PICKERS, ids=lambda picker: picker.name),
    pytest.mark.shares_daemon,
]


@pytest.fixture
def init(picker: Picker, program: Path) -> list[str]:
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < tuple(map(int, picker.least.split("."))):
        pytest.skip(f"{picker.name} needs Neovim {picker.least}")
    folder = Path(os.environ.get("LIVEDEX_NVIM_PLUGINS", program.parent.with_name("plugins")))
    missing = picker.missing(folder)
    if missing:
        pytest.skip(f"not in the folder LIVEDEX_NVIM_PLUGINS: {', '.join(missing)}")
    return picker.lines(folder)


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Tree:
    tree.write("lease.md", "# Leases\n\nNothing here.\n\nŻółw: a zither is leased for thirty days.\n")
    tree.write("zither lessons.md", "# Lessons\n\nA zither, and a lesson.\n")
    for number in range(12):
        tree.write(f"src/z{number}.py", f"def leave{number}():\n    return {'zither, ' * (number % 5)}'lea'\n")
    tree.write("other.md", "Nothing of that.\n")
    add_root(client, tree)
    return tree


def truth(client: Client, query: str) -> list[str]:
    """Return the answer to a query, as `name:line:column`."""
    hits = client.call("search", {"query": query, "typing": True, "limit": 30})["hits"]
    return [f"{Path(hit['path']).name}:{hit['line']}:{hit['column']}" for hit in hits]


def listed(screen: str, picker: Picker) -> list[str]:
    """Return the list on the screen, the best first, as `name:line`."""
    found = [place.strip() for place in re.findall(r"([\w ]+\.(?:md|py):\d+):", screen)]
    return found[::-1] if picker.name == "telescope" else found


def lists(vim: Neovim, picker: Picker, answer: list[str]) -> None:
    """Wait until the list on the screen is this answer."""
    vim.see(lambda screen: listed(screen, picker) == [place.rpartition(":")[0] for place in answer])


def type_query(vim: Neovim, query: str) -> None:
    """Type as people do: with a mistake, which is corrected."""
    for key in "zitherr":
        vim.type(key)
    vim.terminal.press("BSpace")
    for key in query.removeprefix("zither"):
        vim.type(key)


def test_the_list_is_the_answer_in_its_order(
    home: Home, client: Client, indexed: Tree, init: list[str], picker: Picker, program: Path
) -> None:
    before, expected = truth(client, QUERY[:-1]), truth(client, QUERY)
    assert len(before) == len(expected) > 10 and before != expected
    with neovim(program, home, indexed.path, init=init, size=(80, 110)) as vim:
        vim.type(":Livedex\r")
        vim.see(lambda screen: picker.ready in screen and "other.md" in screen)
        type_query(vim, QUERY[:-1])
        lists(vim, picker, before)
        # Alone: telescope searches twice for the end of what is typed at once, and has no entries during the second.
        vim.type(QUERY[-1])
        lists(vim, picker, expected)
        for key in picker.keys:  # fzf loses one that comes too soon after another
            screen = vim.terminal.text()
            vim.terminal.press(key)
            vim.see(lambda now, old=screen: now != old)

        def places() -> list[str]:
            return [":".join(entry.split(":")[:3]) for entry in vim.quickfix()]

        vim.see(lambda _: places())
        in_order = sorted if picker.name == "fzf_lua" else list  # fzf-lua sorts the quickfix list by itself
        assert in_order(places()) == in_order(expected)


def test_a_choice_opens_its_place(home: Home, indexed: Tree, init: list[str], picker: Picker, program: Path) -> None:
    with neovim(program, home, indexed.path, init=init) as vim:
        vim.type(":Livedex thirty days\r")
        vim.see("thirty days.")
        vim.terminal.press("Enter")
        vim.see(lambda _: vim.place() == "lease.md:5:33")


def test_params_of_a_search_apply(home: Home, indexed: Tree, init: list[str], picker: Picker, program: Path) -> None:
    indexed.write("elsewhere.py", "leave10\n")
    with neovim(program, home, indexed.path, init=init, size=(80, 110)) as vim:
        vim.type(f":lua require('livedex').pick({{ mode = 'regex', path = '{indexed}/src' }})\r")
        vim.see(lambda screen: "livedex" in screen and (picker.ready in screen or picker.name == "mini"))
        vim.type("lea.e1[01]")
        screen = vim.see(lambda screen: "z10.py" in screen and "z11.py" in screen)
        assert "z2.py" not in screen
        assert "elsewhere.py" not in screen
