"""What runs on a schedule: looking at the roots, reconciling, polling, and keeping the store in shape.

Invariant: a walk of the tree waits at least 50 times the length of the last one, and a job that is late runs once, not
several times.
"""

from __future__ import annotations

import logging
import time
from typing import Protocol

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from livedex_daemon.backlog import Backlog
from livedex_daemon.config import Config
from livedex_daemon.roots import Root
from livedex_daemon.worker import Worker

log = logging.getLogger(__name__)

ROOTS_EVERY_S = 4.0
MAINTAIN_EVERY_S = 30.0
QUIET_S = 20.0  # without a commit, before maintenance runs
REST_FACTOR = 50  # a walk waits so many times the length of the last one


class Chores(Protocol):
    """What the jobs have done; each runs quickly or hands itself to the worker."""

    def look_at_roots(self) -> None: ...

    def maintain(self) -> None: ...


class Jobs:
    def __init__(self, chores: Chores, worker: Worker, backlog: Backlog) -> None:
        self._chores = chores
        self._worker = worker
        self._backlog = backlog
        self._scheduler = AsyncIOScheduler(
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}, timezone="UTC"
        )
        self._poll_every_s = 0.0

    def start(self, config: Config) -> None:
        self._scheduler.start()
        self._every("roots", ROOTS_EVERY_S, self.look_at_roots)
        self._every("maintain", MAINTAIN_EVERY_S, self._chores.maintain)
        self.reschedule(config)

    def reschedule(self, config: Config) -> None:
        """Takes over the periods of a new configuration."""
        self._every("reconcile", config.watch.reconcile_every_s, self.reconcile)
        self._poll_every_s = config.watch.poll_every_s
        self._choose_polling()

    async def look_at_roots(self) -> None:
        self._chores.look_at_roots()
        self._choose_polling()

    def _choose_polling(self) -> None:
        """Polls only while something must be polled: an idle daemon is not woken for nothing."""
        needed = any(root.polled for root in self._worker.roots)
        polling = self._scheduler.get_job("poll")
        if needed and (polling is None or polling.trigger.interval.total_seconds() != self._poll_every_s):
            self._every("poll", self._poll_every_s, self.poll)
        elif not needed and polling is not None:
            self._scheduler.remove_job("poll")

    def stop(self) -> None:
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def _every(self, name: str, seconds: float, action: object) -> None:
        self._scheduler.add_job(_async(action), "interval", seconds=seconds, id=name, replace_existing=True)

    async def reconcile(self) -> None:
        """Compares each root with the index, however quiet it was: events are hints, and some never come."""
        for root in self._worker.roots:
            if root.state == "online" and _rested(root):
                self._backlog.mark((root.id, b""), tree=True, background=True)

    async def poll(self) -> None:
        """Walks what no event is trusted for."""
        for root in self._worker.roots:
            if root.state == "online" and root.polled and _rested(root):
                root.walked_at = time.monotonic()
                for path in root.polled:
                    self._backlog.mark((root.id, path), tree=True)


def _rested(root: Root) -> bool:
    return time.monotonic() - root.walked_at >= REST_FACTOR * root.walk_s


def _async(action: object) -> object:
    """apscheduler runs plain functions in a thread; ours belong on the loop."""

    async def run() -> None:
        try:
            result = action()  # type: ignore[operator]
            if result is not None:
                await result
        except Exception:
            log.exception("job_failed")

    return run
