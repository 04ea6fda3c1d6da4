"""Run the console examples of a document in a home of their own, and put what they print below each command.

Invariant: a document's commands run in order, in one home, from the user's folder; nothing outside that home changes.
``PYTHONPATH=tests python -m helpers.console_examples`` writes the output into the documents: what a pipe gets into
docs/commands.md, what a terminal shows into docs/tour.md.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path

import pyte

from helpers.support import CHECKOUT, LIVEDEX, Home, end_process, temporary_home

COMMANDS, TOUR = CHECKOUT / "docs" / "commands.md", CHECKOUT / "docs" / "tour.md"
COLUMNS, LINES = 100, 60  # of the terminal: no answer needs the pager
CONSOLE = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
# Output that differs from run to run and from machine to machine.
VARIABLE = (
    (r"\d+(\.\d+)? (ms|s|KiB|MiB|GiB)\b", r"N \2"),
    (r"\d+ samples?", "N samples"),
    (r"pid \d+", "pid N"),
    (r'"(generation|waited_ms)":[\d.]+', r'"\1":N'),
    (r"\b\d+(\.\d+){2,}\b", "N.N"),
    (r"[ \t]+", " "),
)


def with_output(document: Path, home: Home) -> str:
    """Return the text with the present output of every command in its console blocks (lines that begin with ``$``)."""
    env = {**home.env, "PATH": f"{LIVEDEX.parent}{os.pathsep}{home.env['PATH']}", "COLUMNS": str(COLUMNS)}
    run = _on_terminal if document == TOUR else _in_pipe
    try:
        return CONSOLE.sub(lambda block: _block(block[1], home, lambda words: run(words, env)), document.read_text())
    finally:
        if pid := home.server_pid():
            end_process(pid)


def _block(block: str, home: Home, run: Callable[[list[str]], str]) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{command}\n{_shown(run(['sh', '-c', command[2:]]), home)}" for command in commands)


def _shown(output: str, home: Home) -> str:
    shown = output.replace(home.env["HOME"], "/home/ada").replace(str(home.path), "/home/ada/.livedex")
    return shown.replace(str(LIVEDEX.parent), "/home/ada/bin")


def _in_pipe(command: list[str], env: dict[str, str]) -> str:
    return subprocess.run(
        command,
        env=env,
        cwd=env["HOME"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    ).stdout


def _on_terminal(command: list[str], env: dict[str, str]) -> str:
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    size = {name: value for name, value in env.items() if name not in ("COLUMNS", "NO_COLOR")}
    with subprocess.Popen(
        command, env={**size, "TERM": "xterm-256color"}, cwd=env["HOME"], stdin=slave, stdout=slave, stderr=slave
    ):
        os.close(slave)
        with contextlib.suppress(OSError):  # the end of a terminal whose other side was closed
            while data := os.read(master, 1 << 16):
                stream.feed(data)
    os.close(master)
    lines = [line.rstrip() for line in screen.display]
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


def comparable(text: str) -> list[str]:
    """Return the lines of ``text`` without times, sizes, versions, process ids and column widths."""
    for pattern, plain in VARIABLE:
        text = re.sub(pattern, plain, text)
    return [line.rstrip() for line in text.splitlines()]


def update(document: Path) -> None:
    """Write the present output into ``document``; keep a block that differs only in output that always differs."""
    text = document.read_text()
    with temporary_home() as home:
        blocks = iter(CONSOLE.findall(with_output(document, home)))

    def chosen(old: re.Match[str]) -> str:
        new = next(blocks)
        return old[1] if comparable(old[1]) == comparable(new) else new

    document.write_text(CONSOLE.sub(chosen, text))


if __name__ == "__main__":
    for each in (COMMANDS, TOUR):
        update(each)
