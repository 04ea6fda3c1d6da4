"""Standing queries: what a hundred of them add to the indexing of two thousand changes, and how soon it reports."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from bench.corpus import text_files
from bench.figures import Figure
from bench.searching import queries
from bench.server import server, wait_ready
from livedex_ipc.client import Client, connect
from livedex_ipc.errors import Unavailable

FILES = 2_000
QUERIES = 100
RUNS = 2
EDITS = 50
STORM_GOAL = 1.3  # times the CPU without
REPORTED_GOAL_MS = 1000.0
SETTLED_S = 1.0  # the last round of a storm is over by then
SEED = 7


def standing(corpus: Path, folder: Path) -> list[Figure]:
    """Measures in a home of its own, on copies of the corpus's first files. Linux only."""
    if sys.platform != "linux":
        return []
    root = folder / "standing"
    texts = [data for _path, data in islice(text_files(corpus), FILES)]
    for number, data in enumerate(texts):
        place = root / str(number % 50) / f"{number}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    without: list[float] = []
    with_them: list[float] = []
    with server() as running:
        client = running.start()
        client.call("roots/add", {"path": str(root)})
        wait_ready(client)
        for run in range(RUNS):
            without.append(_storm(running.cpu_s, client, root, texts, 2 * run))
            crowd = connect(spawn=False, path=running.socket)
            for query in queries(corpus, QUERIES):
                crowd.call("search/subscribe", {"query": query, "limit": 1})
            threading.Thread(target=_drain, args=(crowd,), daemon=True).start()
            with_them.append(_storm(running.cpu_s, client, root, texts, 2 * run + 1))
            crowd.close()
        reported = _reported_after_edit(connect(spawn=False, path=running.socket), root)
        client.close()
        running.stop()
    return [
        Figure(f"{FILES} changes, {QUERIES} standing, CPU", "s", with_them, without, STORM_GOAL),
        Figure("edit to standing query reported, p99", "ms", reported, goal=REPORTED_GOAL_MS, which="p99"),
    ]


def _storm(cpu_s: Callable[[], float], client: Client, root: Path, texts: list[bytes], run: int) -> float:
    """The daemon's CPU seconds for one change of every file."""
    before = cpu_s()
    for number, data in enumerate(texts):
        (root / str(number % 50) / f"{number}.txt").write_bytes(b"changed %d %d\n" % (run, number) + data)
    client.call("sync", {"timeout_ms": 600_000})
    time.sleep(SETTLED_S)
    return cpu_s() - before


def _drain(crowd: Client) -> None:
    """Reads what it is sent until the connection is closed."""
    try:
        while True:
            crowd.notification()
    except (Unavailable, ValueError):
        return


def _reported_after_edit(client: Client, root: Path) -> list[float]:
    """Milliseconds from the end of a write to the notification, of edits with random pauses between them."""
    client.call("search/subscribe", {"query": "frobnicate"})
    chosen = random.Random(SEED)
    found: list[float] = []
    for number in range(EDITS):
        time.sleep(chosen.random() * 0.2)
        (root / "edited.txt").write_text(f"frobnicate {number}\n")
        start = time.perf_counter()
        while not any(hit["snippet"] == f"frobnicate {number}" for hit in client.notification(60)[1]["added"]):
            pass
        found.append((time.perf_counter() - start) * 1000)
    client.close()
    return found
