"""Run jobs on a schedule: check the roots, reconcile, poll, and maintain the store.

Invariant: a walk of the tree waits at least 50 times the duration of the last one. What times the jobs is loaded after
the start, which nobody waits for then.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from livedex_daemon.config.settings import Config
from livedex_daemon.process.daemon_thread import in_daemon_thread
from livedex_daemon.process.supervision import SupervisedTask
from livedex_daemon.process.tick import tick
from livedex_daemon.watch.backlog import Backlog, Mark
from livedex_daemon.watch.root_table import Root, Roots
from livedex_ipc.errors import Unavailable

if TYPE_CHECKING:
    from livedex_daemon.upkeep.timed_jobs import TimedJobs

log = logging.getLogger(__name__)

LATER_S = 8.0  # after the start: the first answers need the processor more
MAINTAIN_EVERY_S = 30.0
REST_FACTOR = 50  # a walk waits so many times the duration of the last one
JUMP_S = 1.0  # the wall clock advanced so much more than the monotonic clock between two checks: it was set
SLEPT_S = 60.0  # … or the machine slept, and watched files may have changed in the meantime


class Chores(Protocol):
    """The actions of the jobs; each runs quickly or submits its work to the worker."""

    def check_roots(self) -> None: ...

    def maintain(self) -> None: ...


class Schedule:
    def __init__(self, chores: Chores, roots: Roots, backlog: Backlog) -> None:
        self._chores = chores
        self._roots = roots
        self._backlog = backlog
        self._jobs: TimedJobs | None = None
        self._began_at = 0.0  # monotonic
        self._planned: dict[str, tuple[float, Callable[[], None]]] = {}  # by name: the period in seconds, the action
        self.checks = SupervisedTask("root checks", self._check_often)
        self.beginning = SupervisedTask("jobs", self._begin_jobs)
        self._poll_every_s = 0.0

    def start(self, config: Config) -> None:
        self._began_at = time.monotonic()
        self.checks.start()
        self._every("maintain", MAINTAIN_EVERY_S, self._chores.maintain)
        self.reschedule(config)
        self.beginning.start()

    def reschedule(self, config: Config) -> None:
        """Apply the periods of a new configuration."""
        self._every("reconcile", config.watch.reconcile_every_s, self.reconcile)
        self._poll_every_s = config.watch.poll_every_s
        self._choose_polling()

    def stop(self) -> None:
        self.checks.cancel()
        self.beginning.cancel()
        if self._jobs is not None:
            self._jobs.stop()

    async def _begin_jobs(self) -> None:
        """Time the jobs from now on, each first when it would have been due if all had begun with the daemon."""
        due = self._began_at + min(LATER_S, *(seconds for seconds, _action in self._planned.values()))
        await asyncio.sleep(due - time.monotonic())
        with suppress(Unavailable):  # meanwhile the loop answers
            await in_daemon_thread(lambda: import_module("livedex_daemon.upkeep.timed_jobs"), "jobs")
        # Where no thread can be started, the loop waits for the import.
        from livedex_daemon.upkeep.timed_jobs import TimedJobs

        self._jobs = TimedJobs()
        waited = time.monotonic() - self._began_at
        for name, (seconds, action) in self._planned.items():
            self._plan(name, seconds, action, max(0.0, seconds - waited))

    async def _check_often(self) -> None:
        """Check the roots every few seconds by the loop's own clock.

        This check wakes an idle daemon more often than anything else. It also detects a change of the wall clock,
        which times the other jobs.
        """
        ahead = time.time() - time.monotonic()
        while True:
            await tick()
            _carry_out(self._check_roots)
            before, ahead = ahead, time.time() - time.monotonic()
            if abs(ahead - before) > JUMP_S:
                for name, (seconds, action) in self._planned.items():
                    self._plan(name, seconds, action, seconds)
            if abs(ahead - before) > SLEPT_S:
                _carry_out(self.reconcile)

    def _check_roots(self) -> None:
        self._chores.check_roots()
        self._choose_polling()

    def _choose_polling(self) -> None:
        """Poll only while something must be polled, so that an idle daemon sleeps."""
        if any(root.polled for root in self._roots):
            self._every("poll", self._poll_every_s, self.poll)
        elif self._planned.pop("poll", None) is not None and self._jobs is not None:
            self._jobs.remove("poll")

    def _every(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        """Run ``action`` with this period from now on; leave a job that has this period already as it is."""
        if name not in self._planned or self._planned[name][0] != seconds:
            self._planned[name] = seconds, action
            self._plan(name, seconds, action, seconds)

    def _plan(self, name: str, seconds: float, action: Callable[[], None], first_s: float) -> None:
        if self._jobs is not None:
            self._jobs.plan(name, seconds, partial(_carry_out, action), first_s)

    def reconcile(self) -> None:
        """Compare each root with the index, however quiet it was: events are hints, and some never arrive."""
        for root in self._roots:
            if root.state == "online" and _rested(root):
                self._backlog.mark((root.id, b""), Mark(tree=True, background=True))

    def poll(self) -> None:
        """Walk the folders without reliable events."""
        for root in self._roots:
            if root.state == "online" and root.polled and _rested(root):
                root.walked_at = time.monotonic()
                for path in root.polled:
                    self._backlog.mark((root.id, path), Mark(tree=True))


def _rested(root: Root) -> bool:
    return time.monotonic() - root.walked_at >= REST_FACTOR * root.walk_s


def _carry_out(action: Callable[[], None]) -> None:
    try:
        action()
    except Exception:  # a failed run must not be the last one
        log.exception("job_failed")
