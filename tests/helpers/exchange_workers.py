"""Workers, `livedex exchange run` on the topic ``work``, as processes of a test.

Invariant: they run in the home of the test, and print JSON.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from helpers.support import LIVEDEX, Home, is_alive, wait_until


def words_of(plugin: str, *words: str) -> list[str]:
    return ["exchange", "run", "work", "--plugin", plugin, *words]


def run(home: Home, plugin: str, *words: str) -> list[dict[str, Any]]:
    """Let a worker handle the waiting messages; return what it reports of each."""
    done = home.run("--json", *words_of(plugin, "--drain", *words))
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def script(text: str) -> str:
    """Return the command line of a plugin that is this Python program."""
    return shlex.join([sys.executable, "-c", text])


def started(home: Home, plugin: str, *words: str) -> subprocess.Popen[str]:
    command = [str(LIVEDEX), "--json", *words_of(plugin, *words)]
    return subprocess.Popen(command, env=home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def processes_of(home: Home) -> list[int]:
    """Return the processes that were started in this home, whatever their state."""
    mark = f"LIVEDEX_HOME={home.path}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in path.read_bytes().split(b"\0") and is_alive(int(path.parent.name)):
                found.append(int(path.parent.name))
    return found


def nothing_runs(home: Home) -> None:
    wait_until(lambda: processes_of(home) == [], what="the end of all that the plugin started")
