"""A program at the socket that says that it is a livedex daemon, and answers nonsense: each command names it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.stranger import stranger
from helpers.support import Home

COMMANDS = (
    "search x", "search -F x", "search --all x", "search -l x", "search -c x", "search --vimgrep x", "files x", "list",
    "status", "roots", "roots add /tmp", "index", "audit", "sync", "languages", "retrieve /tmp/x", "why /tmp/x",
    "forget /tmp/x", "watch x", "up /tmp", "plugins", "knowledge add x", "knowledge search x", "knowledge list",
    "knowledge stats", "exchange publish t b", "exchange read", "exchange check 1", "exchange request t b",
    "exchange notify", "exchange inspect", "exchange stats", "exchange run t --plugin true --once",
)  # fmt: skip
LISTS = ("hits", "files", "roots", "warnings", "entries", "plugins", "messages", "topics", "conversations", "domains")
ANSWERS: tuple[Any, ...] = ({}, [], "x", dict.fromkeys((*LISTS, "state", "fresh"), 1), {name: [1] for name in LISTS})


@pytest.fixture(params=ANSWERS, ids=["empty", "list", "text", "numbers", "lists of numbers"])
def answering(request: pytest.FixtureRequest, home: Home, tmp_path: Path) -> Iterator[Home]:
    with stranger(home.socket, request.param):
        yield home


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_no_traceback(answering: Home, command: str) -> None:
    done = answering.run(*command.split())
    assert "Traceback" not in done.stderr
    if done.returncode != 0:
        assert (done.returncode, "no livedex daemon" in done.stderr) == (4, True), done.stderr


@pytest.mark.parametrize("command", ["down", "uninstall", "uninstall --all"])
def test_it_is_not_waited_for(answering: Home, command: str) -> None:
    """It says the number of a process that is no daemon: this one."""
    done = answering.run(*command.split())
    assert (done.returncode, "no livedex daemon" in done.stderr) == (4, True), done.stderr
    assert answering.socket.exists(), "nothing of it is removed"
