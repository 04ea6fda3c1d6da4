"""Says on a terminal what a command waits for, on one line of stderr that goes away.

Invariant: whatever the daemon does meanwhile, showing the line takes half a second at most, and never fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from livedex_ipc.cli.streams import Streams
from livedex_ipc.client import Client
from livedex_ipc.errors import LivedexError

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from livedex_ipc.wire_results import StatusResult

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_STATUS_EVERY_S = 1.0
_STATUS_S = 0.5  # how long a status may take
_CLEAR = "\r\x1b[K"


class Spinner:
    """One line. ``connect``: makes a connection of its own, to ask what is pending; None: only ``what`` is said."""

    def __init__(self, streams: Streams, connect: Callable[[], Client] | None = None, what: str = "searching") -> None:
        self._streams = streams
        self._connect = connect
        self._client: Client | None = None
        self._read_at = float("-inf")
        self._what = what
        self._frame = 0

    def show(self, waited_s: float) -> None:
        """Draw the line again, after ``waited_s`` seconds of waiting."""
        if time.monotonic() - self._read_at >= _STATUS_EVERY_S:
            self._read_at = time.monotonic()
            self._what = self._status() or self._what
        self._frame += 1
        frame = _FRAMES[self._frame % len(_FRAMES)]
        self._streams.write_err(f"{_CLEAR}{frame} {self._what} ({waited_s:.0f} s)"[: self._streams.size[0]])

    def clear(self) -> None:
        """Take the line away."""
        self._streams.write_err(_CLEAR)
        if self._client is not None:
            self._client.close()

    def _status(self) -> str:
        """Return what the daemon is doing, "" if it does not say so in time."""
        if self._connect is None:
            return ""
        try:
            if self._client is None:
                self._client = self._connect()
            status: StatusResult = self._client.call("status", timeout_s=_STATUS_S)
        except LivedexError:
            return ""
        if status["state"] == "starting" or any(root["state"] == "indexing" for root in status["roots"]):
            return f"the first index is being made: {status['files']:,} files so far, {status['pending']:,} to go"
        if status["pending"]:
            changes = "1 change" if status["pending"] == 1 else f"{status['pending']:,} changes"
            return f"waiting for {changes} to be indexed"
        return "searching"
