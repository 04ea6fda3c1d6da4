"""Programs that use the exchange in their own processes, to be killed and stopped: ``python -m … NAME FILE …``.

Invariant: a line is added to the journal after a call was acknowledged, never before; one write for each line.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from helpers.exchange_file import Claimed, Queue
from helpers.support import CHECKOUT
from livedex_daemon.precious import precious_database
from livedex_daemon.precious.precious_database import DatabaseBusy
from livedex_ipc.errors import Conflict

TOPICS = ("work.a", "work.b", "work.c")
POISON_EVERY = 67  # one of this many messages is never completed by a worker
LEASE_S = 1
T = TypeVar("T")
_PAUSE = threading.Event()


def command(name: str, *words: object) -> list[str]:
    """Return the command line of one of these programs."""
    return [sys.executable, "-m", "helpers.exchange_programs", name, *map(str, words)]


def environment() -> dict[str, str]:
    former = os.environ.get("PYTHONPATH")
    paths = [str(CHECKOUT / "tests"), *([former] if former else [])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def started(name: str, *words: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command(name, *words), env=environment(), stdin=subprocess.DEVNULL)


class Journal:
    """What was acknowledged to one process, one JSON object per line."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, **fields: Any) -> None:
        os.write(self._file, json.dumps(fields).encode() + b"\n")


def read_journals(folder: Path) -> list[dict[str, Any]]:
    """Return everything that was acknowledged to any process. The last line of a killed process may be cut off."""
    lines = [line for path in sorted(folder.glob("*.journal")) for line in path.read_text().split("\n")]
    return [json.loads(line) for line in lines if line.endswith("}")]


def publisher(path: str, journal: str, count: str) -> None:
    """Publish messages with keys, and all of them again at each start."""
    queue, notes = Queue(Path(path), real=True), Journal(Path(journal))
    for number in range(int(count)):
        body = "poison" if number % POISON_EVERY == 1 else f"body {number}"
        topic = TOPICS[number % len(TOPICS)]
        published = patiently(lambda: queue.publish(topic, body, idempotency_key=f"k{number}"))  # noqa: B023
        notes.note(published=published["id"], key=number)
    queue.close()


def worker(path: str, journal: str, seed: str, pause_ms: str) -> None:
    """Claim messages forever, and treat each as some worker might. ``pause_ms``: the pause while none waits."""
    queue, notes, chance = Queue(Path(path), real=True), Journal(Path(journal)), random.Random(seed)
    late: list[Claimed] = []
    while True:
        topic = chance.choice(TOPICS)
        claimed = patiently(lambda: queue.try_claim(topic, lease_s=LEASE_S))  # noqa: B023
        if claimed is None:
            _PAUSE.wait(chance.uniform(0, 2 * int(pause_ms)) / 1000)
            continue
        deed = chance.random()
        if claimed.message["body"] == "poison" or deed < 0.05:
            late.append(claimed)  # perhaps too late: the next one claims it
        elif deed < 0.1:
            _try(lambda: queue.renew(claimed, lease_s=0))  # noqa: B023
        else:
            if deed < 0.2:
                _try(lambda: queue.renew(claimed, lease_s=LEASE_S))  # noqa: B023
            complete(queue, notes, claimed)
        if late and late[0].message["body"] != "poison" and chance.random() < 0.1:
            complete(queue, notes, late.pop(0))


def complete(queue: Queue, notes: Journal, claimed: Claimed) -> None:
    token = claimed.claim["token"]
    follow_up = {"topic": "done", "body": f"{claimed.message['id']} {token}"}
    if _try(lambda: queue.complete(claimed, follow_up=follow_up)):
        notes.note(completed=claimed.message["id"], token=token)


def patiently(action: Callable[[], T]) -> T:
    """Repeat a call that was blocked by another process, which was stopped in the middle of a transaction."""
    while True:
        with suppress(DatabaseBusy):
            return action()


def _try(action: Callable[[], object]) -> bool:
    try:
        patiently(action)
    except Conflict:
        return False
    return True


def typist(path: str) -> None:
    """Publish each line of stdin, and print its id."""
    queue = Queue(Path(path), real=True)
    for line in sys.stdin:
        print(queue.publish("a", line)["id"], flush=True)


def script(path: str, journal: str) -> None:
    """The same short history each time. The log is often copied into the file, and the file is closed and opened."""
    precious_database.WAL_CHECKPOINT_PAGES = 40  # type: ignore[misc]
    notes = Journal(Path(journal))
    for part in range(2):
        queue = Queue(Path(path), real=True)
        for number in range(part * 6, part * 6 + 6):
            published = queue.publish("work", "x" * 100 * 2**number, idempotency_key=f"k{number}")
            notes.note(published=published["id"], key=number)
            if number % 2:
                complete(queue, notes, queue.claim("work"))
        queue.close()


if __name__ == "__main__":
    programs = (publisher, worker, script, typist)
    PROGRAMS: dict[str, Callable[..., None]] = {program.__name__: program for program in programs}
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
