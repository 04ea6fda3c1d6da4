"""The calls of the page to a daemon that hangs."""

from __future__ import annotations

import asyncio
import threading

import pytest

from helpers.support import Daemon, Home
from livedex_ipc.errors import TimedOut
from livedex_ipc.web import daemon_calls
from livedex_ipc.web.daemon_calls import DaemonCalls


def test_a_daemon_that_hangs_is_named_where_no_thread_can_be_started(
    home: Home, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    async def call() -> None:
        calls = DaemonCalls(False, {})
        await calls.call("status", {})
        with daemon.paused(), pytest.MonkeyPatch.context() as none_left:
            none_left.setattr(threading.Thread, "start", refuse)
            with pytest.raises(TimedOut, match=rf"the daemon \(pid {daemon.pid}\) did not answer"):
                await calls.call("status", {})
        await calls.close()

    for name, value in home.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(daemon_calls, "SILENT_S", 0.2)
    asyncio.run(call())
