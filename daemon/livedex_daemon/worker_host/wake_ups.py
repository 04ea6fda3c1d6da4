"""Tells an idle worker when to look for a message: by the daemon if one runs, else by looking into the file often.

Invariant: a wake-up is advice. Without any, a message is found after ``RECHECK_S``, or ``WAIT_S`` with a daemon that
does not know of it, and ``ANSWERS_S`` later with one that hangs.
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
from livedex_ipc.client import Client, ForeignProgram, connect
from livedex_ipc.errors import LivedexError

WAIT_S: Final = 10.0
CONNECT_EVERY_S: Final = 2.0
CALL_S: Final = 10.0
ANSWERS_S: Final = 2.0  # nobody is to wait longer for a daemon that hangs: the file can be used without it


def refuse_stranger(topic: str) -> None:
    """Raise ForeignProgram if what answers at the socket is no livedex daemon; that none answers is no fault."""
    client = _daemon()
    if client is not None:
        with client:
            try:
                _wait_for_message(client, topic, 0.0)
            except ForeignProgram:
                raise
            except LivedexError:
                return  # a daemon that ends, or is busy


def running_daemon() -> Client | None:
    """Connect to a daemon of this version; None if none runs."""
    with contextlib.suppress(ForeignProgram):
        return _daemon()
    return None


def _daemon() -> Client | None:
    """Connect to a daemon of this version; None if none runs or says so in time. Raises ForeignProgram."""
    try:
        client = connect(spawn=False)
    except LivedexError:
        return None
    try:
        if client.who(ANSWERS_S).get("version") == __version__:
            return client
    except LivedexError as fault:
        client.close()
        if isinstance(fault, ForeignProgram):
            raise
        return None
    client.close()
    return None


def _wait_for_message(client: Client, topic: str, seconds: float) -> None:
    """Return when the daemon has answered. Raises LivedexError."""
    client.call("exchange/wait", {"topic": topic, "timeout_ms": int(seconds * 1000)}, timeout_s=seconds + ANSWERS_S)
    client.refuse_nonsense()


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
            self._connect_at = time.monotonic() + CONNECT_EVERY_S
        if self._client is not None:
            self._listen(self._client)
            return True
        self._stopping.wait(RECHECK_S)
        return False

    def _listen(self, client: Client) -> None:
        """Wait for the daemon's answer. The end of the daemon, or of this process, ends the connection."""
        try:
            _wait_for_message(client, self._topic, WAIT_S)
        except LivedexError:
            self._client = None
            client.close()

    def interrupt(self) -> None:
        """Let who waits return. Set the event that was given first."""
        client = self._client
        if client is not None:
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(client.fileno())) as peer:
                peer.shutdown(socket.SHUT_RDWR)
