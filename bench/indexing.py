"""First index and catch-up: what work on a whole corpus costs, against a plain program that does the least of it."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import floor
from bench.figures import Figure
from bench.server import Server, wait_indexed, wait_ready

CPU_GOAL = 6.0  # times the floor on source code, where tree-sitter's parse alone is about 3
PROSE_CPU_GOAL = 3.0
WALL_GOAL = 4.0
SIZE_GOAL = 0.5  # of the corpus
CATCH_UP_GOAL = 2.0  # times a bare walk-and-stat


def first_index(server: Server, corpus: Path, *, prose: bool) -> list[Figure]:
    """Indexes the corpus in a fresh home, by the floor before and after. Leaves the daemon stopped, the index whole."""
    least = [_floor(corpus)]
    client = server.start()
    start = time.perf_counter()
    client.call("roots/add", {"path": str(corpus)})
    status = wait_indexed(client)
    wall_s = time.perf_counter() - start
    client.close()
    cpu_s = server.stop()
    least.append(_floor(corpus))
    text_mb = least[0]["bytes"] / 1e6
    size = sum(file.stat().st_size for file in server.database.parent.glob("index.db*"))
    print(
        f"corpus: {least[0]['files']} files, {text_mb:.1f} MB of text;"
        f" indexed: {status['files']} files, {status['chunks']} chunks",
        file=sys.stderr,
    )
    cpu_goal = PROSE_CPU_GOAL if prose else CPU_GOAL
    return [
        Figure("first index, CPU", "s", [cpu_s], [one["cpu_s"] for one in least], cpu_goal),
        Figure("first index, wall", "s", [wall_s], [one["wall_s"] for one in least], WALL_GOAL),
        Figure("index to corpus", "MB", [size / 1e6], [text_mb], SIZE_GOAL),
    ]


def _floor(corpus: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return floor.measured("index", str(corpus), str(Path(folder) / "floor.db"))


def catch_up(server: Server, corpus: Path, runs: int) -> list[Figure]:
    """Starts the daemon over a complete index, until it is ready. Leaves it running.

    Both from the socket's first answer, which is what a client waits for, and from the start of the process.
    """
    answered, started, least = [], [], []
    for _run in range(runs):
        least.append(floor.measured("walk", str(corpus))["wall_s"])
        start = time.perf_counter()
        client = server.start()
        answer = time.perf_counter()
        wait_ready(client)
        ready = time.perf_counter()
        answered.append(ready - answer)
        started.append(ready - start)
        client.close()
        server.stop()
    server.start().close()
    return [
        Figure("catch-up after a start, wall", "s", answered, least, CATCH_UP_GOAL),
        Figure("the same with the start itself", "s", started, least),
    ]
