"""Jobs that are timed, and the end of the daemon just when one is due."""

from __future__ import annotations

import asyncio
import logging

import pytest

from livedex_daemon.upkeep.timed_jobs import TimedJobs


def test_a_run_that_is_due_at_the_end_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    async def end_when_due() -> None:
        jobs = TimedJobs()
        jobs.plan("poll", 60.0, lambda: None, 0.0)
        jobs.stop()

    with caplog.at_level(logging.WARNING):
        asyncio.run(end_when_due())
    assert caplog.records == []
