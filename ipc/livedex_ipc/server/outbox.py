"""Writes one connection's outgoing bytes, and drops a client that does not read them.

Invariant: a client that is behind is given time to read; one that reads nothing, or next to nothing, is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from livedex_ipc.limits import Limits

HIGH_WATER = 1024 * 1024  # unread bytes above which the connection's other work pauses
MIN_TAKEN = 64 * 1024  # bytes that a client must read within Limits.write_s while it is behind


class Outbox:
    """Writes to a transport. ``behind``: more than HIGH_WATER bytes are unread. ``drop`` ends the connection."""

    def __init__(self, transport: asyncio.Transport, limits: Limits, drop: Callable[[], None]) -> None:
        self._transport = transport
        self._limits = limits
        self._drop = drop
        self._written = 0
        self._taken = 0  # bytes read by the client when the current time limit began
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False
        self.behind = False
        transport.set_write_buffer_limits(high=min(HIGH_WATER, limits.output_bytes))

    @property
    def waiting(self) -> int:
        """Bytes written but not yet read by the client."""
        return self._transport.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        """Send ``data``, at once or when the client reads. Does nothing after end() or on a closing connection."""
        if not self._ended and not self._transport.is_closing():
            self._written += len(data)
            self._transport.write(data)

    def break_off(self) -> None:
        """End the connection after a write that failed: its transport may wait to write, for ever, and have nothing."""
        self._transport.abort()
        asyncio.get_running_loop().remove_writer(self._transport.get_extra_info("socket"))

    def end(self) -> None:
        """Send the end of the stream after the written bytes; the client can still send."""
        if not self._ended and not self._transport.is_closing():
            self._ended = True
            self._transport.write_eof()

    def pause(self) -> None:
        """Note that the transport's buffer rose above HIGH_WATER."""
        self.behind = True
        loop = asyncio.get_running_loop()
        self._taken, self._since = self._written - self.waiting, loop.time()
        self._timer = loop.call_later(self._limits.stalled_s, self._check_stalled)

    def resume(self) -> None:
        """Note that the client read enough, or that the connection is lost."""
        self.behind = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check_stalled(self) -> None:
        loop = asyncio.get_running_loop()
        taken, now = self._written - self.waiting, loop.time()
        full = self.waiting > self._limits.output_bytes
        if taken - self._taken >= MIN_TAKEN:
            self._taken, self._since = taken, now
        elif now - self._since >= self._limits.write_s or (full and taken == self._taken):
            self._drop()
            return
        self._timer = loop.call_later(self._limits.stalled_s, self._check_stalled)
