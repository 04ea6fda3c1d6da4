"""Helix with its recipe: what is typed into the symbol picker is searched, and the chosen hit opens at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.editor_terminal import editor_environment, editor_terminal, editors
from helpers.support import Home, Tree, wait_until


@pytest.mark.parametrize("helix", editors("hx"))
def test_the_symbol_picker_searches_as_it_is_typed_into(home: Home, tree: Tree, helix: Path) -> None:
    tree.write("lease.md", "# Leases\n\nNothing here.\n\nA zither is leased for thirty days.\n")
    tree.write("begin.md", "Begin here.\n")
    home.run("up", str(tree))
    env = editor_environment(home)
    config = Path(env["XDG_CONFIG_HOME"]) / "helix"
    config.mkdir(parents=True)
    (config / "languages.toml").write_text(home.run("editor", "helix").stdout)
    with editor_terminal([helix, "begin.md"], tree.path, env) as terminal:
        terminal.see("Begin here.")

        def finds() -> bool:
            """Helix does not wait for its servers: what is asked before one has started is asked in vain."""
            terminal.press("Escape")
            terminal.type(" S")
            terminal.type("zith")
            try:
                terminal.see("A zither is leased", timeout=3)
            except AssertionError:
                terminal.press("Escape")
                return False
            return True

        wait_until(finds, 60, what="the hit in the symbol picker")
        terminal.press("Enter")
        terminal.see(lambda screen: "5:3" in screen and "lease.md" in screen)
