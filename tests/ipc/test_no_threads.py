"""Programs for agents, editors, terminals and Python where the system starts no more threads: each says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.fault_injection import NO_MORE_THREADS, with_code
from helpers.live_terminal import LiveTerminal
from helpers.mcp_client import McpClient
from helpers.support import LIVEDEX, Daemon

SAID = "the system starts no more threads"
CONNECT = """
import asyncio
from livedex_ipc.async_client import connect_async
from livedex_ipc.errors import Unavailable

async def connect():
    try:
        await connect_async(spawn=False)
    except Unavailable as error:
        print(error.message, flush=True)

asyncio.run(connect())
"""

pytestmark = pytest.mark.shares_daemon


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return with_code(tmp_path / "seam", NO_MORE_THREADS)


def test_an_agent_gets_it_as_the_answer_and_may_ask_again(daemon: Daemon, env: dict[str, str]) -> None:
    with McpClient(daemon.home, PYTHONPATH=env["PYTHONPATH"]) as client:
        for _ in range(2):
            assert SAID in client.failure("status")


def test_the_language_server_ends_with_one_line(daemon: Daemon, env: dict[str, str]) -> None:
    command = [str(LIVEDEX), "lsp"]
    done = subprocess.run(
        command, env={**daemon.home.env, **env}, stdin=subprocess.PIPE, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (4, "")
    assert SAID in done.stderr and done.stderr.count("\n") == 1


def test_the_terminal_shows_it_and_goes_on(daemon: Daemon, env: dict[str, str]) -> None:
    terminal = LiveTerminal(daemon.home, env=env)
    terminal.see(SAID)
    terminal.type("\x1b")
    assert terminal.end()[0] == 130
    terminal.close()


def test_a_python_program_gets_it_as_an_error(daemon: Daemon, env: dict[str, str]) -> None:
    whole = {**os.environ, **daemon.home.env, **env}
    done = subprocess.run([sys.executable, "-c", CONNECT], env=whole, capture_output=True, text=True, check=False)
    assert SAID in done.stdout and (done.returncode, done.stderr) == (0, "")
