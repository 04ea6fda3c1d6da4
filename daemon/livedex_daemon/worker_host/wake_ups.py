"""Tells an idle worker when to look for a message: by the daemon if one runs, else by looking into the file often.

Invariant: a wake-up is advice. Without any, a message is found after ``RECHECK_S``, or ``WAIT_S`` with a daemon that
does not know of it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from typing import Final

from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.exchange.log_watch import FULL_RECHECK_S, RECHECK_S, LogWatch
from livedex_ipc import __version__
from livedex_ipc.client import Client, connect
from livedex_ipc.errors import LivedexError

WAIT_S: Final = 10.0
CONNECT_EVERY_S: Final = 2.0
CALL_S: Final = 10.0


def running_daemon() -> Client | None:
    """Connect to a daemon of this version; None if none runs."""
    with contextlib.suppress(LivedexError):
        client = connect(spawn=False)
        with contextlib.suppress(LivedexError):
            if client.call("server/info", timeout_s=CALL_S)["version"] == __version__:
                return client
        client.close()
    return None


class WakeUps:
    """Of the idle workers of a process one waits here, the others for their turn. For any thread."""

    def __init__(self, topic: str, stopping: threading.Event) -> None:
        self._topic = topic
        self._stopping = stopping
        self._turn = threading.Lock()
        self._client: Client | None = None
        self._connect_at = 0.0

    def wait(self, exchange: Exchange) -> None:
        """Return when a message may be claimed, or the process is to stop; at the latest after ``WAIT_S``."""
        with self._turn:
            log = LogWatch(exchange.path)
            until, expires_at = time.monotonic() + WAIT_S, 0.0
            while not self._stopping.is_set() and (now := time.monotonic()) < until:
                if log.may_have_changed() or now >= expires_at:
                    if exchange.is_ready(self._topic, None, None):
                        return
                    expiry_s = exchange.next_expiry_s(self._topic)
                    expires_at = now + (FULL_RECHECK_S if expiry_s is None else expiry_s)
                if self._pause(now):
                    expires_at = 0.0

    def _pause(self, now: float) -> bool:
        """Wait a while. Return whether the daemon has said to look."""
        if self._client is None and now >= self._connect_at:
            self._client = running_daemon()
            self._connect_at = now + CONNECT_EVERY_S
        if self._client is not None:
            self._listen(self._client)
            return True
        self._stopping.wait(RECHECK_S)
        return False

    def _listen(self, client: Client) -> None:
        """Wait for the daemon's answer. The end of the daemon, or of this process, ends the connection."""
        try:
            params = {"topic": self._topic, "timeout_ms": int(WAIT_S * 1000)}
            client.call("exchange/wait", params, timeout_s=WAIT_S + CALL_S)
        except LivedexError:
            self._client = None
            client.close()

    def interrupt(self) -> None:
        """Let who waits return. Set the event that was given first."""
        client = self._client
        if client is not None:
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(client.fileno())) as peer:
                peer.shutdown(socket.SHUT_RDWR)
