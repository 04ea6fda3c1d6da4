"""What a supervised process says to whoever started it and receives from it: ready, watchdog, sockets, log format.

Invariant: without a supervisor every call here does nothing and says so; nothing that one does wrong ends the daemon,
except sockets that it promised and did not hand over.
"""

from __future__ import annotations

import logging
import os
import socket
import stat
import sys
import time
from collections.abc import Callable

FIRST_FD = 3  # sd_listen_fds(3): descriptors start here

# <N> on a line of stderr is its priority in the journal (sd-daemon(3)).
_PRIORITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6), (0, 7))
_STANDARD = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "asctime", "taskName"}


def notify(state: str) -> bool:
    """Sends ``state`` (lines of ``NAME=value``) to the supervisor. False where there is none or it does not listen."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    try:
        return _sender()(state, address)
    except OSError:  # it went away: what it is not told, it will find out
        return False


def ready(status: str = "") -> bool:
    """The socket answers. ``status`` is a line for people."""
    return notify("READY=1" + _status_line(status))


def status(text: str) -> bool:
    """What the daemon is doing now, in a line for people."""
    return notify("STATUS=" + text.replace("\n", " "))


def reloading() -> bool:
    """The configuration is being read again; ready() must follow."""
    # One datagram: systemd takes the time of the reload from it (sd_notify(3), Type=notify-reload).
    return notify(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")


def stopping(status: str = "") -> bool:
    """The daemon is ending."""
    return notify("STOPPING=1" + _status_line(status))


def watchdog() -> bool:
    """The daemon is alive: to be sent only by the loop whose being stuck should be noticed."""
    return notify("WATCHDOG=1")


def watchdog_interval_s() -> float | None:
    """Seconds between two watchdog() calls, half of what the supervisor allows; None where it does not watch us."""
    allowed = os.environ.get("WATCHDOG_USEC", "")
    if os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    usable = allowed.isdecimal() and len(allowed) < 20 and int(allowed) > 0
    return int(allowed) / 2_000_000 if usable else None


def inherited_sockets() -> list[socket.socket]:
    """The listening sockets the supervisor opened for us, which are never to be unlinked; empty where there are none.

    They are meant once: the environment forgets them, and child processes do not inherit them. Raises ValueError when
    what was promised is not there or is no listening Unix stream socket.
    """
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = os.environ.get("LISTEN_FDS", "0")
    for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"):
        os.environ.pop(name, None)
    if not count.isdecimal() or not count.isascii():
        raise ValueError(f"LISTEN_FDS is {count!r}, which is no number")
    return [_inherited(descriptor) for descriptor in range(FIRST_FD, FIRST_FD + int(count))]


def log_formatter() -> logging.Formatter:
    """How log lines on stderr look: with priorities where that is the journal, with times where it is not."""
    return JournalFormatter() if stderr_is_journal() else EventFormatter("%(asctime)s %(levelname)s %(name)s")


class EventFormatter(logging.Formatter):
    """``prefix event key=value …``: the event is the message, the fields are what was given as ``extra``."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"{prefix} %(message)s".lstrip())
        self.default_msec_format = "%s.%03d"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (logging's own name)
        """The line, without a traceback."""
        fields = "".join(f" {key}={value!r}" for key, value in vars(record).items() if key not in _STANDARD)
        return super().formatMessage(record) + fields


class JournalFormatter(EventFormatter):
    """Each line begins with its priority; the journal itself knows the time and the unit."""

    def __init__(self) -> None:
        super().__init__("%(name)s")

    def format(self, record: logging.LogRecord) -> str:
        """The record, each of its lines with the priority: without it, a traceback's would count as notices."""
        mark = next(f"<{priority}>" for level, priority in _PRIORITIES if record.levelno >= level)
        return "\n".join(mark + line for line in super().format(record).splitlines())


def _status_line(text: str) -> str:
    return "\nSTATUS=" + text.replace("\n", " ") if text else ""


def _sender() -> Callable[[str, str], bool]:
    try:
        from systemd import daemon
    except ImportError:
        return _send
    return lambda state, _address: bool(daemon.notify(state))


def _send(state: str, address: str) -> bool:
    """The datagram protocol of sd_notify(3); ``@`` begins an abstract address."""
    where = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.settimeout(1.0)  # a supervisor that hangs must not take us with it
        sock.connect(where)
        sock.sendall(state.encode("utf-8", "replace"))
    return True


def _inherited(descriptor: int) -> socket.socket:
    try:
        os.set_inheritable(descriptor, False)
        is_socket = stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError as error:
        raise ValueError(f"descriptor {descriptor} was not handed over: {error.strerror}") from error
    if not is_socket:
        raise ValueError(f"descriptor {descriptor} is no socket")
    sock = socket.socket(fileno=descriptor)
    listens = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if sock.family != socket.AF_UNIX or sock.type != socket.SOCK_STREAM or not listens:
        sock.detach()
        raise ValueError(f"descriptor {descriptor} is no listening Unix stream socket")
    return sock


def stderr_is_journal() -> bool:
    """Whether JOURNAL_STREAM names what our stderr is now: it is inherited by children whose stderr went elsewhere."""
    try:
        info = os.fstat(sys.stderr.fileno())
    except (OSError, ValueError, AttributeError):
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{info.st_dev}:{info.st_ino}"
