"""The documents show what the command prints, and the client on the protocol page works."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.console_examples import COMMANDS, CONSOLE, TOUR, comparable, with_output
from helpers.support import CHECKOUT, Daemon, Home, Tree, add_root
from livedex_ipc.cli import arguments

LONGEST_CLIENT = 20  # lines


@pytest.mark.parametrize("document", [COMMANDS, TOUR], ids=lambda document: document.stem)
def test_the_output_shown_is_the_output_printed(home: Home, document: Path) -> None:
    assert comparable(with_output(document, home)) == comparable(document.read_text())


def test_every_command_has_an_example() -> None:
    shown = "\n".join(CONSOLE.findall(COMMANDS.read_text()))
    used = set(re.findall(r"^\$ .*?\blivedex (?:--json )?([a-z]+)", shown, re.MULTILINE))
    assert used == {command.name for command in arguments.ROOT.subcommands}


def test_the_result_in_the_readme_is_one_of_these() -> None:
    readme = (CHECKOUT / "README.md").read_text()
    (block,) = re.findall(r"## What a result looks like\n.*?```console\n(.*?)```", readme, re.DOTALL)
    assert block in "\n".join(CONSOLE.findall(COMMANDS.read_text()))


def test_the_client_of_the_protocol_page_works(home: Home, tree: Tree, start_daemon: Callable[..., Daemon]) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", (CHECKOUT / "docs" / "protocol.md").read_text(), re.DOTALL)
    assert len(program.splitlines()) <= LONGEST_CLIENT
    tree.write("today.md", "Buy a zither for Ada\n")
    with start_daemon().client() as client:
        add_root(client, tree)
    command = [sys.executable, "-S", "-E", "-c", program, str(home.socket), "zither"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tree}/today.md:1: Buy a zither for Ada\n"
