"""The exchange: publish and claim with a million messages in the log, a waiting worker's start, what waiting costs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.server import Server, server
from livedex_daemon.config.settings import ExchangeConfig
from livedex_daemon.exchange import messages
from livedex_daemon.exchange.exchange_store import SCHEMA, Exchange
from livedex_daemon.exchange.messages import Draft
from livedex_daemon.precious.precious_database import PreciousDatabase
from livedex_ipc.methods import check_params

CALL_GOAL_MS = 10.0
START_GOAL_MS = 10.0
CPU_GOAL_PERCENT = 0.1  # of one core
COUNTED_S = 60.0  # the daemon has work of its own every half minute
SETTLED_S = 10.0  # after the messages: their log is written into the file
BATCH = 20_000
BODY = "x" * 200
SYNCED_BYTES = 4096


def exchange(folder: Path, queued: int, calls: int) -> list[Figure]:
    """``queued``: messages that wait; ``calls``: how many of each are measured."""
    return [*_among_many(folder, queued, calls), *_waiting_worker(calls // 5)]


def _params(method: str, **given: Any) -> Any:
    return check_params(f"exchange/{method}", given)


def _among_many(folder: Path, queued: int, calls: int) -> Iterator[Figure]:
    path = folder / "exchange.db"
    database = PreciousDatabase(str(path), SCHEMA)
    limits = ExchangeConfig(max_waiting=queued + calls + 1)
    for first in range(0, queued, BATCH):
        with database.transaction(durable=True) as db:
            for _ in range(min(BATCH, queued - first)):
                messages.publish(db, Draft("work", BODY), limits)
    database.close()
    queue = Exchange(str(path), limits)
    floor = _synced_writes(folder / "floor", calls)
    publish = lambda: queue.publish(_params("publish", topic="work", body=BODY))  # noqa: E731
    yield Figure(f"publish among {queued:,}, p99", "ms", _times(calls, publish), goal=CALL_GOAL_MS, which="p99")
    yield Figure("  a page synced, p99", "ms", floor, which="p99")
    claims: list[Any] = []
    claim = lambda: claims.append(queue.claim(_params("claim", topic="work"))["claim"])  # noqa: E731
    yield Figure(f"claim among {queued:,}, p99", "ms", _times(calls, claim), goal=CALL_GOAL_MS, which="p99")
    left = iter(claims)

    def complete() -> None:
        claim = next(left)
        follow_up = {"topic": "done", "body": BODY}
        own = {"claim_id": claim["id"], "token": claim["token"]}
        queue.complete(_params("complete", **own, status="completed", follow_up=follow_up))

    yield Figure(f"complete among {queued:,}, p99", "ms", _times(calls, complete), goal=CALL_GOAL_MS, which="p99")
    queue.close()


def _times(count: int, action: Callable[[], object]) -> list[float]:
    found = []
    for _ in range(count):
        began = time.perf_counter()
        action()
        found.append((time.perf_counter() - began) * 1000)
    return found


def _synced_writes(path: Path, count: int) -> list[float]:
    """The floor: a page is appended to a file and synced."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)

    def write() -> None:
        os.write(descriptor, b"x" * SYNCED_BYTES)
        getattr(os, "fdatasync", os.fsync)(descriptor)

    try:
        return _times(count, write)
    finally:
        os.close(descriptor)


def _waiting_worker(runs: int) -> Iterator[Figure]:
    with server() as running:
        client = running.start()
        client.call("exchange/stats")
        with _counted(running.pids()) as alone:
            time.sleep(COUNTED_S)
        with _worker(running) as worker:
            starts = []
            for _ in range(runs):
                began = time.time_ns()
                params = {"topic": "work", "body": ""}
                published = client.call("exchange/publish", params)
                answer = _reply(client, published["id"])
                starts.append((int(answer) - began) / 1e6)
                time.sleep(0.02)  # until the worker waits again
            yield Figure("publish to a waiting worker's start", "ms", starts, goal=START_GOAL_MS)
            time.sleep(SETTLED_S)
            with _counted([worker, *running.pids()]) as percent:
                time.sleep(COUNTED_S)
            yield Figure("waiting, daemon and worker, CPU", "%", percent, alone, CPU_GOAL_PERCENT, over=True)
        running.stop()
        with _worker(running) as worker, _counted([worker]) as percent:
            time.sleep(COUNTED_S)
        yield Figure("waiting, worker alone, CPU", "%", percent, goal=CPU_GOAL_PERCENT)


def _reply(client: Any, message_id: int) -> str:
    while True:
        found = client.call("exchange/inspect", {"conversation_id": str(message_id)})["messages"]
        if len(found) == 2:
            return str(found[1]["body"])
        time.sleep(0.002)


@contextmanager
def _worker(running: Server) -> Iterator[int]:
    """A worker whose plugin prints the time of its start; its process id."""
    words = ["exchange", "run", "work", "--plugin", "date +%s%N"]
    command = [sys.executable, "-m", "livedex_daemon", *words[:1], *words]
    process = subprocess.Popen(command, env=running.env, stdout=subprocess.DEVNULL)
    time.sleep(1.0)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _counted(pids: Sequence[int]) -> Iterator[list[float]]:
    """The CPU time of processes, in percent of one core. Linux only."""

    def cpu_s() -> float:
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)

    time.sleep(1.0)
    percent: list[float] = []
    start, before = time.monotonic(), cpu_s()
    yield percent
    percent.append((cpu_s() - before) / (time.monotonic() - start) * 100)
