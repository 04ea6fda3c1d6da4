"""The worker host: what fails in one of its threads ends it and is said."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from helpers.exchange_file import Queue
from livedex_daemon.config.settings import ExchangeConfig
from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.worker_host.group_guard import GroupGuard
from livedex_daemon.worker_host.plugin_outcome import Topics
from livedex_daemon.worker_host.worker_host import HostOptions, WorkerHost
from livedex_ipc.errors import Unavailable


def host(open_exchange: Callable[[], Exchange]) -> WorkerHost:
    """Return a host that starts no plugin: nothing waits in its topic."""
    options = HostOptions(("true",), Topics("work", None, None), None, 10.0, 10, 4, once=False, drain=False)
    return WorkerHost(options, open_exchange, lambda report: None, cast(GroupGuard, None))


def test_an_error_of_a_thread_is_an_error_of_the_host() -> None:
    def broken() -> Exchange:
        raise MemoryError("no more")

    with closing(host(broken)) as opened, pytest.raises(MemoryError):
        opened.run()


def test_a_system_without_threads_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "exchange.db"
    Queue(path, real=True).close()
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "worker 2":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    opened = host(lambda: Exchange(str(path), ExchangeConfig()))
    with closing(opened), pytest.raises(Unavailable, match="TasksMax"):
        opened.run()
    assert [thread for thread in threading.enumerate() if thread.name.startswith("worker ")] == []


@pytest.mark.parametrize("at", range(12))
def test_a_signal_may_come_while_another_one_is_handled(at: int) -> None:
    """Its handler runs in the same thread, in the middle of what the first one does."""
    opened = host(lambda: pytest.fail("it is stopped"))
    events = 0

    def second(*_event: object) -> None:
        nonlocal events
        events += 1
        if events == at:
            opened.stop()

    def first() -> None:
        sys.setprofile(second)
        opened.stop()

    thread = threading.Thread(target=first, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert events >= at
    opened.close()


def test_a_signal_may_come_after_the_end() -> None:
    opened = host(lambda: pytest.fail("it does not run"))
    opened.close()
    opened.stop()
