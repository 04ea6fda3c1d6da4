"""``livedex exchange run``: one worker host in this process, until it is done, or SIGTERM or Ctrl-C ends it.

Invariant: standard output has one line for each message that was handled, and nothing else. Only a line that nobody
reads when the host is to end is left out.
"""

from __future__ import annotations

import select
import shlex
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final

from livedex_daemon.exchange.local_exchange import open_exchange
from livedex_daemon.exchange.topics import check_topic
from livedex_daemon.worker_host.group_guard import GroupGuard
from livedex_daemon.worker_host.orphans import adopt_orphans
from livedex_daemon.worker_host.plugin_outcome import Topics
from livedex_daemon.worker_host.wake_ups import refuse_stranger
from livedex_daemon.worker_host.worker_host import HostOptions, RunReport, WorkerHost, require_program
from livedex_ipc.cli.streams import OutputClosedError, Streams
from livedex_ipc.constants import INTERRUPTED, LEASE_S
from livedex_ipc.errors import InvalidParams

TIMEOUT_S: Final = 600.0
MOST_CONCURRENT: Final = 64
MOST_LEASE_S: Final = 86_400


def run(values: Mapping[str, Any], streams: Streams) -> int:
    """Work with the options of the command line. Return the exit code. Raises InvalidParams or Unavailable."""
    options = options_of(values)
    require_program(options.command[0])
    open_exchange().close()  # what cannot be used is said before a signal handler and a thread are there
    refuse_stranger(options.topics.topic)
    adopt_orphans()
    guard = GroupGuard()
    printer = _Printer(streams)
    host = WorkerHost(options, open_exchange, printer.show, guard)
    printer.host = host
    received: list[int] = []

    def stop(number: int, _frame: object) -> None:
        received.append(number)
        host.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    try:
        succeeded = host.run()
    finally:
        host.close()
        guard.close()
    if signal.SIGINT in received:
        return INTERRUPTED
    return 4 if options.once and not succeeded else 0


def options_of(values: Mapping[str, Any]) -> HostOptions:
    """Return what the command line asks for. Raises InvalidParams."""
    try:
        command = tuple(shlex.split(values.get("plugin") or ""))
    except ValueError as error:
        raise InvalidParams(f"plugin cannot be split into words: {error}", {"field": "plugin"}) from None
    if not command:
        raise InvalidParams("plugin is missing: --plugin CMD says what to run", {"field": "--plugin"})
    names = [values.get(name) for name in ("success_topic", "failure_topic")]
    topics = Topics(check_topic(values["topic"]), *(name and check_topic(name) for name in names))
    lease_s = -(-values.get("lease_ms", LEASE_S * 1000) // 1000)
    concurrency = values.get("concurrency", 1)
    if not 1 <= lease_s <= MOST_LEASE_S:
        raise InvalidParams(f"lease_ms must be from 1 to {MOST_LEASE_S} seconds", {"field": "lease_ms"})
    if not 1 <= concurrency <= MOST_CONCURRENT:
        raise InvalidParams(f"concurrency must be from 1 to {MOST_CONCURRENT}", {"field": "concurrency"})
    return HostOptions(
        command,
        topics,
        values.get("worker_group"),
        values.get("timeout_ms", TIMEOUT_S * 1000) / 1000,
        lease_s,
        concurrency,
        bool(values.get("once")),
        bool(values.get("drain")),
    )


class _Printer:
    """Prints what became of each message, from any thread; ends the host when nobody reads it any more."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._lock = threading.Lock()
        self.host: WorkerHost | None = None

    def show(self, report: RunReport) -> None:
        assert self.host is not None
        try:
            with self._lock:
                if not _takes_a_line(self.host.stopped):
                    return
                if self._streams.json:
                    self._streams.write_json(report)
                else:
                    self._streams.write(_line(report))
                self._streams.flush()
        except OutputClosedError:
            self.host.stop()


def _takes_a_line(stopped: int) -> bool:
    """Wait until stdout takes a line. Return False if the host was stopped, and nobody reads what is there."""
    if sys.stdout is None:
        return True
    out = sys.stdout.fileno()
    return out in select.select([stopped], [out], [])[1]


def _line(report: RunReport) -> str:
    words = [f"message {report['message_id']}: {report['status'].replace('_', ' ')}", f"exit {report['exit_status']}"]
    if report["attempt"] > 1:
        words.append(f"attempt {report['attempt']}")
    words.append(f"{report['duration_ms'] / 1000:.1f} s")
    if report["follow_up_id"] is not None:
        words.append(f"message {report['follow_up_id']} follows")
    return ", ".join(words) + "\n"
