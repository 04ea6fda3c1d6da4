"""What `livedex live` costs: its first picture, a key, being idle. `PYTHONPATH=tests python -m bench.live [FOLDER]`.

Invariant: a key counts as shown when the screen has the count of its answer; CPU is that of the client alone. Linux.
"""

from __future__ import annotations

import os
import pty
import select
import sys
import tempfile
import time
from pathlib import Path

from bench import corpus
from bench.figures import HEADER, Figure
from bench.indexed import parser_for
from helpers.live_terminal import LiveTerminal
from helpers.support import LIVEDEX, Daemon, Home, add_root, temporary_home

FIRST_PICTURE_MS = 25.0  # over bare Python
KEY_MS = 50.0
TYPED = ("return value", "socket", "def parse", "file name", "error in")
STARTS = 15
PAUSE_S = 0.15  # between keys, as people type
IDLE_S = 20.0


def cpu_ms(pid: int) -> float:
    """CPU of a process so far, to the nanosecond: clock_getcpuclockid(3)."""
    return time.clock_gettime((~pid << 3) | 2) * 1000


def spent_ms(pids: list[int]) -> float:
    """CPU of these processes so far."""
    return sum(map(cpu_ms, pids))


def idle_percent(pids: list[int]) -> float:
    """The share of one core that these processes take while nothing happens for `IDLE_S`."""
    before, began = spent_ms(pids), time.perf_counter()
    time.sleep(IDLE_S)
    return (spent_ms(pids) - before) / (time.perf_counter() - began) / 10


def start_ms(command: list[str], home: Home, mark: bytes) -> float:
    """CPU from the start of a program until its terminal has got ``mark``."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.nice(19)  # so that the clock is read before the program goes on to the daemon
        os.execvpe(
            command[0],
            command,
            {**home.env, "PYTHONDONTWRITEBYTECODE": "", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
        )
    seen = b""
    while mark not in seen:
        seen += os.read(descriptor, 65536)
    spent = cpu_ms(pid)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(descriptor)
    return spent


def first_picture(home: Home) -> Figure:
    """To the last row of the first picture; bare Python to a line of its own."""
    bare = [sys.executable, "-c", "print('MARK', flush=True); input()"]
    live = [str(LIVEDEX), "live", "--no-spawn"]
    pairs = [(start_ms(live, home, b"/help"), start_ms(bare, home, b"MARK")) for _ in range(STARTS)]
    values, floor = zip(*pairs, strict=True)
    return Figure("first picture, CPU", "ms", values, floor, FIRST_PICTURE_MS, over=True)


def keys(home: Home) -> list[Figure]:
    """Types words; then leaves it alone."""
    walls, spent = [], []
    terminal = LiveTerminal(home, size=(40, 120))
    try:
        wait_shown(terminal, "")
        pid = terminal.process.pid
        for words in TYPED:
            terminal.type("\x15")
            wait_shown(terminal, "")
            for end in range(1, len(words) + 1):
                before, began = cpu_ms(pid), time.perf_counter()
                terminal.type(words[end - 1])
                wait_shown(terminal, words[:end])
                if words[end - 1] != " ":  # a blank is not seen on the screen
                    walls.append((time.perf_counter() - began) * 1000)
                time.sleep(PAUSE_S)
                spent.append(cpu_ms(pid) - before)
        percent = idle_percent([pid])
    finally:
        terminal.close()
    return [
        Figure("key to list, wall", "ms", walls, goal=KEY_MS),
        Figure("a key, CPU of the client", "ms", spent, goal=KEY_MS),
        Figure("idle, CPU of one core", "%", [percent], goal=0.0),
    ]


def wait_shown(terminal: LiveTerminal, typed: str) -> None:
    """Returns once the hits of what was typed are on the screen."""
    while True:
        select.select([terminal.master], [], [], 5)
        rows = terminal.rows()
        if rows[0] == f"> {typed}".rstrip() and rows[1].endswith(("hits", "hit", "fresh")):
            return


def main() -> int:
    options = parser_for("live", __doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="livedex-bench-") as made, temporary_home() as home:
        figures = [first_picture(home)]
        daemon = Daemon(home).start()
        with daemon.client() as client:
            add_root(client, options.folder or corpus.made_in(Path(made).resolve()), timeout=1800)
        figures += keys(home)
        daemon.stop()
    print("\n".join([HEADER, *(figure.as_line() for figure in figures)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
