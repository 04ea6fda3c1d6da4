"""How long an editor in tmux takes from a key to the screen that shows its answer.

Invariant: the screen is read only when something was drawn, by one client that stays. A process for each key and each
look would take the CPU that is measured. Linux.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from bench.figures import Figure
from bench.live import PAUSE_S, spent_ms
from helpers.editor_terminal import EditorTerminal

KEY_MS = 50.0
LIMIT_S = 5.0
BETWEEN_S = 0.5  # two texts, and before the first


class Key(NamedTuple):
    """``shown``: a text that tells the answer to ``typed`` from the answer before; "" if there is none."""

    typed: str
    shown: str


class ScreenWatch:
    """A client of tmux in control mode: it hears what is drawn, types, and reads the screen."""

    def __init__(self, client: subprocess.Popen[bytes]) -> None:
        self._client = client
        self._received = b""
        self._drawn = False

    def type(self, text: str) -> None:
        self._command(f"send-keys -H {' '.join(f'{byte:x}' for byte in text.encode())}")

    def wait_for(self, wanted: str) -> None:
        """Wait until the screen has this text."""
        began = time.perf_counter()
        self._drawn = False
        while wanted not in (screen := self._screen()):
            while not self._drawn:
                left = LIMIT_S - (time.perf_counter() - began)
                if left <= 0:
                    raise RuntimeError(f"{wanted!r} was not shown:\n{screen}")
                self._line(left)
            self._drawn = False

    def _screen(self) -> str:
        return "\n".join(self._command("capture-pane -p"))

    def _command(self, command: str) -> list[str]:
        """Return what the command prints: the lines between `%begin` and `%end`, both with the flag 1 of our own."""
        assert self._client.stdin is not None
        self._client.stdin.write(command.encode() + b"\n")
        printed = list[str]()
        is_ours = False
        while True:
            line = self._line(LIMIT_S)
            if line is None:
                raise RuntimeError(f"tmux does not answer: {command}")
            if is_ours and line.startswith("%end "):
                return printed
            if is_ours and line.startswith("%error "):
                raise RuntimeError(f"tmux: {' '.join(printed)}")
            if is_ours:
                printed.append(line)
            elif line.startswith("%begin ") and line.endswith(" 1"):
                is_ours = True

    def _line(self, timeout: float) -> str | None:
        """Return the next line, or None if there is none in this time."""
        assert self._client.stdout is not None
        while b"\n" not in self._received:
            if not select.select([self._client.stdout], [], [], timeout)[0]:
                return None
            received = os.read(self._client.stdout.fileno(), 65536)
            if not received:
                raise RuntimeError("tmux has ended")
            self._received += received
        line, _, self._received = self._received.partition(b"\n")
        self._drawn |= line.startswith(b"%output ")
        return line.decode(errors="replace")


@contextmanager
def screen_watch(terminal: EditorTerminal) -> Iterator[ScreenWatch]:
    command = [*terminal.tmux, "-C", "attach-session", "-f", "ignore-size"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as client:
        try:
            yield ScreenWatch(client)
        finally:
            client.terminate()


def key_figures(
    name: str, terminal: EditorTerminal, pids: list[int], keys: list[Key], erase: Callable[[str], str]
) -> list[Figure]:
    """Type the texts of ``keys``; ``erase``: what to type so that the text goes away. ``pids``: whose CPU counts."""
    walls, cpus, typed = list[float](), list[float](), ""
    with screen_watch(terminal) as watch:
        time.sleep(BETWEEN_S)  # a client that comes makes tmux tell the size again
        for key in keys:
            if len(key.typed) == 1 and typed:
                watch.type(erase(typed))
                time.sleep(BETWEEN_S)
            typed, before, began = key.typed, spent_ms(pids), time.perf_counter()
            watch.type(typed[-1])
            if key.shown:
                watch.wait_for(key.shown)
                walls.append((time.perf_counter() - began) * 1000)
            time.sleep(PAUSE_S)
            cpus.append(spent_ms(pids) - before)
    return [
        Figure(f"a key in {name}, to the screen", "ms", walls, goal=KEY_MS),
        Figure("  its CPU", "ms", cpus, goal=KEY_MS),
    ]
