"""Log lines for the journal and for a terminal: events with their fields, natively if the journal's socket answers.

Invariant: logging never fails and never waits: what the journal does not take is written to stderr, as a line.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import re
import select
import socket
import struct
import sys
from collections.abc import Callable

JOURNAL_SOCKET = "/run/systemd/journal/socket"
SEALS = 0xF  # the journal reads a file passed to it only if nobody can change it any more: memfd_create(2)

# <N> at the start of a stderr line is its priority in the journal (sd-daemon(3)).
_PRIORITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6), (0, 7))
_STANDARD = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "asctime", "taskName"}

Fields = dict[str, str]


def log_handler() -> logging.Handler:
    """Return the handler of stderr: of the journal if stderr leads there, else one with times."""
    if stderr_is_journal():
        return JournalHandler()
    handler = logging.StreamHandler()
    handler.setFormatter(EventFormatter("%(asctime)s %(levelname)s %(name)s"))
    return handler


class EventFormatter(logging.Formatter):
    """Format ``prefix event key=value …``: the event is the message, the fields are the record's ``extra``."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"{prefix} %(message)s".lstrip())
        self.default_msec_format = "%s.%03d"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (logging's own name)
        """Return the line, without a traceback."""
        fields = "".join(f" {key}={value!r}" for key, value in _extra(record))
        return super().formatMessage(record) + fields


class JournalFormatter(EventFormatter):
    """Start each line with its priority; the journal itself adds the time and the unit."""

    def __init__(self) -> None:
        super().__init__("%(name)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the record with its priority on each line: traceback lines without one would count as notices."""
        prefix = f"<{_priority(record)}>"
        return "\n".join(prefix + line for line in super().format(record).splitlines())


class JournalHandler(logging.Handler):
    """Send each record with its fields to the journal; on any fault write it to stderr, which leads there as well."""

    def __init__(self, address: str = JOURNAL_SOCKET) -> None:
        super().__init__()
        self._address = address
        self._text = EventFormatter("%(name)s")
        self._sock: socket.socket | None = None
        self.setFormatter(JournalFormatter())

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record."""
        try:
            self._send(self._fields(record))
        except Exception:  # whatever a library or the system says: a log line must not fail
            self._disconnect()
            self._print(record)

    def _print(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError, ValueError):  # closed, or its reader has gone
            if sys.stderr is not None:
                print(self.format(record), file=sys.stderr, flush=True)

    def _fields(self, record: logging.LogRecord) -> Fields:
        """Return the fields of a record. ``MESSAGE`` is the line that people read, without its priority."""
        fields = {
            "MESSAGE": self._text.format(record),
            "PRIORITY": str(_priority(record)),
            "SYSLOG_IDENTIFIER": "livedex",
            "LIVEDEX_EVENT": record.getMessage(),
            "LIVEDEX_LOGGER": record.name,
            "CODE_FILE": record.pathname,
            "CODE_LINE": str(record.lineno),
            "CODE_FUNC": record.funcName or "",
        }
        fields.update((_field_name(key), str(value)) for key, value in _extra(record))
        return fields

    def _send(self, fields: Fields) -> None:
        sender = _library() if self._address == JOURNAL_SOCKET else None
        if sender is not None:
            self._disconnect()  # the library is silent about a journal that has gone; a new connection is refused
        sock = self._connected()
        if sender is not None:
            sender(fields)
        else:
            self._send_datagram(sock, b"".join(_encoded(name, text) for name, text in fields.items()))

    def _connected(self) -> socket.socket:
        """Return a socket that takes a datagram now. Raise OSError: also the library would wait for a full queue."""
        if self._sock is None:
            self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._sock.connect(self._address)
            self._sock.setblocking(False)
        poller = select.poll()
        poller.register(self._sock, select.POLLOUT)
        if not poller.poll(0):
            raise BlockingIOError("the journal does not read")
        return self._sock

    def close(self) -> None:
        """End the connection to the journal."""
        self._disconnect()
        super().close()

    def _disconnect(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def _send_datagram(self, sock: socket.socket, data: bytes) -> None:
        """Send one entry; in a sealed file if it is too large for a datagram."""
        try:
            sock.send(data)
        except OSError as error:
            if error.errno not in (errno.EMSGSIZE, errno.ENOBUFS):
                raise
            _send_file(sock, data)


def _send_file(sock: socket.socket, data: bytes) -> None:
    descriptor = os.memfd_create("livedex-log", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(descriptor, "wb", buffering=0) as file:
        file.write(data)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, SEALS)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", descriptor))]
        sock.sendmsg([], rights)


def _library() -> Callable[[Fields], object] | None:
    """Return what sends fields through systemd-python, None if it is not installed."""
    try:
        from systemd import journal
    except ImportError:
        return None
    return lambda fields: journal.sendv(*(f"{name}={text}" for name, text in fields.items()))


def _encoded(name: str, text: str) -> bytes:
    """Return one field in the journal's own protocol: as ``NAME=text``, or with its length if it has several lines."""
    data = text.encode("utf-8", "replace")
    if b"\n" not in data:
        return name.encode() + b"=" + data + b"\n"
    return name.encode() + b"\n" + struct.pack("<Q", len(data)) + data + b"\n"


def _field_name(key: str) -> str:
    """Return the journal's name of a field: capital letters, digits and ``_``, at most 64 of them."""
    return "LIVEDEX_" + re.sub(r"[^A-Z0-9]", "_", key.upper())[:56]


def _extra(record: logging.LogRecord) -> list[tuple[str, object]]:
    return [(key, value) for key, value in vars(record).items() if key not in _STANDARD]


def _priority(record: logging.LogRecord) -> int:
    return next(priority for level, priority in _PRIORITIES if record.levelno >= level)


def stderr_is_journal() -> bool:
    """Return whether stderr is the stream in JOURNAL_STREAM, which children inherit even if stderr is redirected."""
    try:
        info = os.fstat(sys.stderr.fileno())
    except (OSError, ValueError, AttributeError):
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{info.st_dev}:{info.st_ino}"
