"""Jobs that run again and again on the event loop, timed by apscheduler.

Invariant: a late job runs once, not several times. Importing this module takes a fifth of a daemon's start, so it comes
later.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger


class TimedJobs:
    def __init__(self) -> None:
        """Begin on the running loop, without a job."""
        # This executor runs an action on the loop at once. The default one leaves a run for the next turn of the loop,
        # and logs a traceback if the daemon ends in between.
        self._scheduler = AsyncIOScheduler(
            executors={"default": DebugExecutor()},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
            timezone="UTC",
        )
        self._scheduler.start()

    def plan(self, name: str, seconds: float, action: Callable[[], None], first_s: float) -> None:
        """Run ``action`` in ``first_s`` seconds and then with this period, instead of what had the name before."""
        first = datetime.now(UTC) + timedelta(seconds=first_s)
        self._scheduler.add_job(action, _FromNow(seconds), id=name, replace_existing=True, next_run_time=first)

    def remove(self, name: str) -> None:
        self._scheduler.remove_job(name)

    def stop(self) -> None:
        self._scheduler.shutdown(wait=False)


class _FromNow(BaseTrigger):  # type: ignore[misc]
    """Fire one period after the present, however many runs were missed.

    The interval trigger of apscheduler counts the missed runs one by one: years of them when the wall clock is set
    forward.
    """

    def __init__(self, seconds: float) -> None:
        self._period = timedelta(seconds=seconds)

    def get_next_fire_time(self, _previous: datetime | None, now: datetime) -> datetime:
        return now + self._period
