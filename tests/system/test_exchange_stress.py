"""Many workers that are killed and stopped at random: a checker of the log finds every promise kept."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from contextlib import closing, suppress
from pathlib import Path

import pytest

from helpers import exchange_checker as checker
from helpers.exchange_file import Queue
from helpers.exchange_programs import POISON_EVERY, TOPICS, read_journals, started
from helpers.support import wait_until

WORKERS = int(os.environ.get("LIVEDEX_EXCHANGE_WORKERS", "12"))
MESSAGES = int(os.environ.get("LIVEDEX_EXCHANGE_MESSAGES", "400"))
PUBLISHERS = 2
KILLED = 0.24 / WORKERS  # at each step: a new process takes a while to start


class Crowd:
    """Processes, some of which are killed and started again, or stopped for a while."""

    def __init__(self, folder: Path, database: Path) -> None:
        self._folder = folder
        self._database = database
        self._chance = random.Random(21)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._stopped: dict[int, int] = {}  # the step at which it continues
        self._steps = 0
        self.killed = self.stopped = 0
        for number in range(WORKERS + PUBLISHERS):
            self._start(number)

    def _start(self, number: int) -> None:
        journal = self._folder / f"{number}-{self._steps}.journal"
        if number >= WORKERS:
            self._processes[number] = started("publisher", self._database, journal, MESSAGES)
        else:
            seed = f"{number} {self._steps}"
            self._processes[number] = started("worker", self._database, journal, seed, 2 * WORKERS)

    def has_published(self) -> bool:
        return any(self._processes[number].poll() == 0 for number in range(WORKERS, WORKERS + PUBLISHERS))

    def step(self) -> None:
        """Kill, stop or continue one of them."""
        self._steps += 1
        for number in [number for number, until in self._stopped.items() if until <= self._steps]:
            del self._stopped[number]
            self._signal(number, signal.SIGCONT)
        number = self._chance.randrange(WORKERS + PUBLISHERS)
        process = self._processes[number]
        if process.poll() is not None:
            assert (process.returncode, number >= WORKERS) == (0, True), "a worker ended by itself"
            return
        fate = self._chance.random()
        if fate < KILLED:
            self.killed += 1
            process.kill()
            process.wait()
            self._stopped.pop(number, None)
            self._start(number)
        elif fate < 0.1 and number not in self._stopped:
            self.stopped += 1
            self._signal(number, signal.SIGSTOP)
            self._stopped[number] = self._steps + self._chance.choice((2, 20, 200))

    def _signal(self, number: int, what: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._processes[number].send_signal(what)

    def end(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()


@pytest.mark.timeout(300 + MESSAGES)
def test_many_workers_that_are_killed_and_stopped(tmp_path: Path) -> None:
    database = tmp_path / "exchange.db"
    with closing(Queue(database, real=True)) as queue:
        crowd = Crowd(tmp_path, database)

        def is_done() -> bool:
            for _ in range(max(1, WORKERS // 10)):
                crowd.step()
            if not crowd.has_published():
                return False
            topics = [each for each in queue.exchange.stats()["topics"] if each["topic"] in TOPICS]
            return not any(each["waiting"] + each["active"] for each in topics)

        try:
            wait_until(is_done, 120 + MESSAGES / 4, what="the end of all messages")
        finally:
            crowd.end()
    log = checker.Log(database)
    checker.check_counts(log)
    checker.check_leases(log)
    checker.check_order(log)
    checker.check_acknowledged(log, read_journals(tmp_path))
    outcomes = checker.check_outcomes(log, TOPICS)
    assert outcomes.total() == MESSAGES
    assert outcomes["dead"] >= len(range(1, MESSAGES, POISON_EVERY))
    print(f"{outcomes}, {crowd.killed} killed, {crowd.stopped} stopped")
    assert crowd.killed and crowd.stopped
