"""A program at the socket that says that it is a livedex daemon, and answers nonsense: each command names it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

from helpers.stranger import stranger
from helpers.support import Home, share_of

COMMANDS = (
    "search x", "search -F x", "search --all x", "search -l x", "search -c x", "search --vimgrep x", "files x", "list",
    "status", "roots", "roots add /tmp", "index", "audit", "sync", "languages", "retrieve /tmp/x", "why /tmp/x",
    "forget /tmp/x", "watch x", "up /tmp", "plugins", "knowledge add x", "knowledge search x", "knowledge list",
    "knowledge stats", "exchange publish t b", "exchange read", "exchange check 1", "exchange request t b",
    "exchange notify", "exchange inspect", "exchange stats", "exchange run t --plugin true --once",
)  # fmt: skip
LISTS = ("hits", "files", "roots", "warnings", "entries", "plugins", "messages", "topics", "conversations", "domains")
ANSWERS: dict[str, Any] = {
    "empty": {},
    "list": [],
    "text": "x",
    "numbers": dict.fromkeys((*LISTS, "state", "fresh"), 1),
    "lists of numbers": {name: [1] for name in LISTS},
}


def answered(*commands: str) -> list[ParameterSet]:
    """Return each command with the answers that it gets; in `make test` with some, of which each has its turn."""
    return [
        pytest.param(answer, command, id=f"{name}-{command}")
        for turn, command in enumerate(commands)
        for name, answer in share_of(ANSWERS.items(), turn)
    ]


@pytest.fixture
def answering(request: pytest.FixtureRequest, home: Home, tmp_path: Path) -> Iterator[Home]:
    with stranger(home.socket, request.param):
        yield home


@pytest.mark.parametrize(("answering", "command"), answered(*COMMANDS), indirect=["answering"])
def test_it_is_no_traceback(answering: Home, command: str) -> None:
    done = answering.run(*command.split())
    assert "Traceback" not in done.stderr
    if done.returncode != 0:
        assert (done.returncode, "no livedex daemon" in done.stderr) == (4, True), done.stderr


@pytest.mark.parametrize(
    ("answering", "command"), answered("down", "uninstall", "uninstall --all"), indirect=["answering"]
)
def test_it_is_not_waited_for(answering: Home, command: str) -> None:
    """It says the number of a process that is no daemon: this one."""
    done = answering.run(*command.split())
    assert (done.returncode, "no livedex daemon" in done.stderr) == (4, True), done.stderr
    assert answering.socket.exists(), "nothing of it is removed"
