"""The chores of the schedule: which failures are logged."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any, cast

import pytest

from livedex_daemon.upkeep.chores import DaemonChores
from livedex_daemon.upkeep.idle_maintenance import IdleMaintenance
from livedex_daemon.upkeep.root_check import RootCheck
from livedex_ipc.errors import Unavailable


class Failing:
    """A chore whose work fails."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def maintain(self, _later: object) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(self._error)
        return future


@pytest.mark.parametrize(
    ("error", "logged"),
    [(Unavailable("the daemon is stopping: ask again when it is back"), []), (ValueError("bad"), ["chore_failed"])],
)
def test_a_chore_that_a_stopping_daemon_refuses_is_no_error_in_the_log(
    caplog: pytest.LogCaptureFixture, error: Exception, logged: list[str]
) -> None:
    async def run() -> None:
        DaemonChores(cast(RootCheck, None), cast(IdleMaintenance, Failing(error))).maintain()

    asyncio.run(run())
    assert [record.getMessage() for record in caplog.records] == logged
