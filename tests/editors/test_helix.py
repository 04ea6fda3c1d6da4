"""Helix with its recipe: what is typed into the symbol picker is searched, and the chosen hit opens at its place."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers.editor_terminal import EditorTerminal, editor_environment, editor_terminal, editors
from helpers.support import Home, Tree, wait_until

PAGE = Path(__file__).parents[2] / "docs" / "editors" / "helix.md"
PICTURE = {
    "src/lease.py": "LEASE = 30\n\n\ndef renew(lease):\n    return lease.end + LEASE\n",
    "notes/leases.md": "# Leases\n\nA lease lasts thirty days.\n\nRenew the lease in Tokyo early.\n",
}

pytestmark = pytest.mark.parametrize("helix", editors("hx"))


@contextmanager
def symbols(
    home: Home, tree: Tree, helix: Path, opened: str, typed: str, found: str, size: tuple[int, int] = (30, 110)
) -> Iterator[EditorTerminal]:
    """Type into the symbol picker, with a file of the tree open, until it lists what is to be found."""
    home.run("up", str(tree))
    env = editor_environment(home)
    config = Path(env["XDG_CONFIG_HOME"]) / "helix"
    config.mkdir(parents=True)
    (config / "languages.toml").write_text(home.run("editor", "helix").stdout)
    with editor_terminal([helix, opened], tree.path, env, size) as terminal:
        terminal.see(Path(opened).name)

        def finds() -> bool:
            """Helix does not wait for its servers: what is asked before one has started is asked in vain."""
            terminal.press("Escape")
            terminal.type(" S")
            terminal.type(typed)
            try:
                terminal.see(found, timeout=3)
            except AssertionError:
                terminal.press("Escape")
                return False
            return True

        wait_until(finds, 60, what="the hit in the symbol picker")
        yield terminal


def test_the_symbol_picker_searches_as_it_is_typed_into(home: Home, tree: Tree, helix: Path) -> None:
    tree.write("lease.md", "# Leases\n\nNothing here.\n\nA zither is leased for thirty days.\n")
    tree.write("begin.md", "Begin here.\n")
    with symbols(home, tree, helix, "begin.md", "zith", "A zither is leased") as terminal:
        terminal.press("Enter")
        terminal.see(lambda screen: "5:3" in screen and "lease.md" in screen)


def test_the_picture_of_the_page_is_the_screen(home: Home, tree: Tree, helix: Path) -> None:
    version = subprocess.run([helix, "--version"], capture_output=True, text=True, check=True).stdout
    if "25.07" not in version:
        pytest.skip(f"the picture is of Helix 25.07, this is {version.strip()}")
    tree.write_all(PICTURE)
    page = PAGE.read_text()
    with symbols(home, tree, helix, "notes/leases.md", "renew lea", "def renew", (14, 104)) as terminal:
        terminal.see(lambda screen: f"```text\n{screen.rstrip()}\n```" in page)
