"""The connection of the terminal UI to the daemon: made on a thread, and used without ever waiting.

Invariant: ``exchange`` never blocks; a lost connection is reported once, and none of its answers comes later.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from socket import socket
from typing import Any

from livedex_ipc.constants import MAX_MESSAGE
from livedex_ipc.errors import LivedexError, Unavailable
from livedex_ipc.thread_start import start_thread

Message = Mapping[str, Any]
RECV_BYTES = 256 * 1024


class Lost(Exception):
    """The daemon has closed the connection."""


class DaemonLink:
    """At most one connection. ``wake``: a descriptor that gets a byte when an attempt to connect has ended."""

    def __init__(self, wake: int, spawn: bool) -> None:
        self._wake, self._spawn = wake, spawn
        self._is_connecting = False
        self._result: socket | LivedexError | None = None
        self._socket: socket | None = None
        self._received = bytearray()
        self._unsent = bytearray()
        self._last_id = 0

    def begin(self) -> None:
        """Begin to connect, unless that is under way."""
        if not self._is_connecting:
            self._is_connecting = True
            try:
                start_thread(self._connect, "connect")
            except Unavailable as error:
                self._connected(error)

    def _connect(self) -> None:
        from livedex_ipc.client import connect_known

        try:
            self._connected(connect_known(spawn=self._spawn).detach())
        except LivedexError as error:
            self._connected(error)
        except OSError as error:
            self._connected(LivedexError(f"no connection to the daemon: {error.strerror}"))

    def _connected(self, result: socket | LivedexError) -> None:
        self._result = result
        with contextlib.suppress(OSError):  # the program has ended
            os.write(self._wake, b"\0")

    def take_result(self) -> bool:
        """Return whether an attempt has just succeeded. Raises its error if it failed."""
        result, self._result = self._result, None
        if result is None:
            return False
        self._is_connecting = False
        if isinstance(result, LivedexError):
            raise result
        result.setblocking(False)
        self._socket = result
        self._received.clear()
        self._unsent.clear()
        return True

    @property
    def peer(self) -> socket | None:
        """The socket to wait for; None while there is no connection."""
        return self._socket

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def request(self, method: str, params: dict[str, object]) -> int:
        """Queue a request; return its id. ``exchange`` sends it."""
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        self._unsent += json.dumps(message, separators=(",", ":")).encode() + b"\n"
        return self._last_id

    def exchange(self) -> list[Message]:
        """Send and receive as much as is possible now; return the whole messages. Raises Lost."""
        if self._socket is None:
            return []
        try:
            self._send(self._socket)
            self._receive(self._socket)
        except OSError as error:
            self.close()
            raise Lost from error
        *lines, rest = self._received.split(b"\n") if b"\n" in self._received else [self._received]
        self._received = bytearray(rest)
        try:
            messages = [json.loads(line) for line in lines if line]
            if len(self._received) > MAX_MESSAGE or not all(isinstance(message, dict) for message in messages):
                raise ValueError
        except (ValueError, RecursionError) as error:  # of a program that is no daemon
            self.close()
            raise Lost from error
        return messages

    def _send(self, peer: socket) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._unsent:
                del self._unsent[: peer.send(self._unsent)]

    def _receive(self, peer: socket) -> None:
        with contextlib.suppress(BlockingIOError):
            while data := peer.recv(RECV_BYTES):
                self._received += data
            raise ConnectionResetError("end of stream")

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
