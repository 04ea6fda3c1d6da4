"""Values that several answers share, as the wire writes them: times, absolute paths, warnings.

Invariant: pure, and the same value is always written the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from livedex_indexing import relpath
from livedex_ipc.wire_results import AnswerWarning

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


class Placed(Protocol):
    """A file by root and path relative to it."""

    @property
    def root_id(self) -> int: ...
    @property
    def path(self) -> bytes: ...


def rfc3339(nanoseconds: int) -> str:
    """Format a time since the epoch in UTC, with milliseconds, rounded down, and limited to the years 1 to 9999."""
    try:
        moment = _EPOCH + timedelta(milliseconds=nanoseconds // 1_000_000)
    except OverflowError:
        moment = _LATEST if nanoseconds > 0 else _EARLIEST
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def rfc3339_of_seconds(seconds: float) -> str:
    """Format a time in seconds since the epoch, exact to the microsecond: all that a float has for our days."""
    return rfc3339(round(seconds * 1e6) * 1000)


def absolute(roots: Mapping[int, bytes], file: Placed) -> bytes:
    return relpath.absolute(roots[file.root_id], file.path)


def warning(code: str, message: str, remedy: str) -> AnswerWarning:
    return {"code": code, "message": message, "remedy": remedy}
