"""Run the console examples of a document in a home of their own, and put what they print below each command.

Invariant: a document's commands run in order, in one home, from the user's folder; nothing outside that home changes.
``PYTHONPATH=tests python -m helpers.console_examples`` writes the output into docs/commands.md.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from helpers.support import CHECKOUT, LIVEDEX, Home, end_process, temporary_home

DOCUMENT = CHECKOUT / "docs" / "commands.md"
CONSOLE = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
# Output that differs from run to run and from machine to machine.
VARIABLE = (
    (r"\d+(\.\d+)? (ms|s|KiB|MiB|GiB)\b", r"N \2"),
    (r"\d+ samples?", "N samples"),
    (r"pid \d+", "pid N"),
    (r'"(generation|waited_ms)":[\d.]+', r'"\1":N'),
    (r"\b\d+(\.\d+)+\b", "N.N"),
    (r"[ \t]+", " "),
)


def with_output(text: str, home: Home) -> str:
    """Return ``text`` with the present output of every command in its console blocks (lines that begin with ``$``)."""
    env = {**home.env, "PATH": f"{LIVEDEX.parent}{os.pathsep}{home.env['PATH']}", "COLUMNS": "100"}
    try:
        return CONSOLE.sub(lambda block: _block(block[1], home, env), text)
    finally:
        if pid := home.server_pid():
            end_process(pid)


def _block(block: str, home: Home, env: dict[str, str]) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{command}\n{_output(command[2:], home, env)}" for command in commands)


def _output(command: str, home: Home, env: dict[str, str]) -> str:
    done = subprocess.run(
        ["sh", "-c", command],
        env=env,
        cwd=home.env["HOME"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    shown = done.stdout.replace(home.env["HOME"], "/home/ada").replace(str(home.path), "/home/ada/.livedex")
    return shown.replace(str(LIVEDEX.parent), "/home/ada/bin")


def comparable(text: str) -> list[str]:
    """Return the lines of ``text`` without times, sizes, versions, process ids and column widths."""
    for pattern, plain in VARIABLE:
        text = re.sub(pattern, plain, text)
    return [line.rstrip() for line in text.splitlines()]


def update(document: Path = DOCUMENT) -> None:
    """Write the present output into ``document``; keep a block that differs only in output that always differs."""
    text = document.read_text()
    with temporary_home() as home:
        blocks = iter(CONSOLE.findall(with_output(text, home)))

    def chosen(old: re.Match[str]) -> str:
        new = next(blocks)
        return old[1] if comparable(old[1]) == comparable(new) else new

    document.write_text(CONSOLE.sub(chosen, text))


if __name__ == "__main__":
    update()
