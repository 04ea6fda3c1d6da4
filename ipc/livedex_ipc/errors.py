"""Defines every error a user of livedex can meet, as one tree; each class has its wire code and exit code.

    LivedexError
    ├── ParseError          -32700  not JSON
    ├── InvalidRequest      -32600  JSON, but not a request; or a frame beyond a limit
    ├── MethodNotFound      -32601
    ├── InvalidParams       -32602  names the field
    │   └── ConfigInvalid           a broken configuration: data.faults lists every fault
    ├── InternalError       -32603  a bug in livedex
    ├── Cancelled           -32800  by the caller, or by a newer search with the same key
    ├── NotFound                 1
    ├── OutsideRoots             2  the path is in no root
    ├── TimedOut                 3
    ├── Unavailable              4  names the missing part and the remedy
    │   └── NoDaemon                none runs, and starting one was not allowed
    └── Conflict                 5

Invariant: an error that crosses the socket is raised again as the same class, with the same message and data.
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from livedex_ipc.wire_results import ErrorObject


class LivedexError(Exception):
    """The root of the tree. ``message``: one sentence for people; ``data``: details for programs, or None."""

    code: int = -32603
    exit_code: ClassVar[int] = 4

    def __init__(self, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data

    def to_wire(self) -> ErrorObject:
        """Return the error object of a JSON-RPC answer, without ``data`` if that is None."""
        wire: ErrorObject = {"code": self.code, "message": self.message}
        if self.data is not None:
            wire["data"] = self.data
        return wire


class ParseError(LivedexError):
    """The text is not JSON in UTF-8, is nested too deeply, or repeats a key."""

    code = -32700


class InvalidRequest(LivedexError):
    """JSON that is not a JSON-RPC 2.0 request, or a frame that breaks the framing or exceeds a limit."""

    code = -32600


class MethodNotFound(LivedexError):
    """No method has this name."""

    code = -32601


class InvalidParams(LivedexError):
    """A param is missing, unknown, of the wrong type or out of range. ``data.field`` names it."""

    code = -32602
    exit_code = 2


class ConfigInvalid(InvalidParams):
    """The configuration is broken. ``data.faults`` is a list of ``{key, line, column, message, nearest}``."""


class InternalError(LivedexError):
    """A bug in livedex; the daemon's log has the traceback."""

    code = -32603


class Cancelled(LivedexError):
    """The request was cancelled before it finished."""

    code = -32800


class NotFound(LivedexError):
    """The requested item does not exist."""

    code = 1
    exit_code = 1


class OutsideRoots(LivedexError):
    """The path is not inside a root."""

    code = 2
    exit_code = 2


class TimedOut(LivedexError):
    """The time limit passed before the work was done."""

    code = 3


class Unavailable(LivedexError):
    """A required part is missing, full, locked or too busy; the message names it and the remedy."""

    code = 4


class NoDaemon(Unavailable):
    """No daemon answers on the socket."""

    exit_code = 3


class Conflict(LivedexError):
    """Another process uses or changed the item."""

    code = 5


_BY_CODE: dict[int, type[LivedexError]] = {
    kind.code: kind
    for kind in (
        ParseError,
        InvalidRequest,
        MethodNotFound,
        InvalidParams,
        InternalError,
        Cancelled,
        NotFound,
        OutsideRoots,
        TimedOut,
        Unavailable,
        Conflict,
    )
}


def from_wire(wire: Mapping[str, Any]) -> LivedexError:
    """Return the exception for a JSON-RPC error object. An unknown code gives a plain LivedexError with that code."""
    code, data = wire.get("code"), wire.get("data")
    if not isinstance(code, int):
        return InternalError(f"the daemon answered with an error that has no code: {wire!r:.200}")
    details = data if isinstance(data, dict) else None
    if code == InvalidParams.code and details is not None and "faults" in details:
        kind: type[LivedexError] = ConfigInvalid
    else:
        kind = _BY_CODE.get(code, LivedexError)
    error = kind(str(wire.get("message", "")), details)
    error.code = code
    return error
