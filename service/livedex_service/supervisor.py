"""Talk to the supervisor (systemd) that started this process: ready, reload, watchdog, sockets.

Invariant: without a supervisor every call does nothing and returns False or nothing. No fault of a supervisor ends the
daemon, except when it announces sockets and does not pass them.
"""

from __future__ import annotations

import os
import select
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

WAIT_MS = 50  # for a supervisor that is slow to read: clients wait meanwhile
_untaken = ""  # what it must hear, and did not take yet
FIRST_FD = 3  # the first inherited descriptor: sd_listen_fds(3)


def notify(state: str) -> bool:
    """Send ``state`` (lines of ``NAME=value``) to the supervisor.

    Return False if there is none, it is gone, or it does not read: the event loop must not wait for it.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    where = "\0" + address[1:] if address.startswith("@") else address  # ``@`` starts an abstract address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.setblocking(False)
            sock.connect(where)
            return _takes_more(sock) and _sender()(state, sock)
    except OSError:  # the supervisor has ended
        return False


def is_present() -> bool:
    """Return whether a supervisor started this process and listens to it."""
    return bool(os.environ.get("NOTIFY_SOCKET"))


def ready(status: str = "") -> bool:
    """Report that the socket answers. ``status``: a line for people; "" keeps the one before.

    What the supervisor does not take, ``repeat`` says again: it would end a daemon from which it does not hear this.
    """
    global _untaken
    state = "READY=1" + _status_line(status) if status else _untaken or "READY=1"
    taken = notify(state)
    _untaken = state if is_present() and not taken else ""
    return taken


def repeat() -> None:
    """Say again what the supervisor did not take when ``ready`` said it. Call it every few seconds."""
    global _untaken
    if _untaken and notify(_untaken):
        _untaken = ""


@contextmanager
def reloading() -> Iterator[None]:
    """Report a reload of the configuration while the block runs, and ``READY=1`` however it ends."""
    # One datagram: systemd takes the time of the reload from it (sd_notify(3), Type=notify-reload).
    notify(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")
    try:
        yield
    finally:
        ready()  # also for a broken configuration: the daemon keeps the former one


def stopping(status: str = "") -> bool:
    """Report that the daemon is stopping. ``status``: a line for people; "" for none."""
    return notify("STOPPING=1" + _status_line(status))


def watchdog() -> bool:
    """Report that the daemon is alive. Call it only from the loop that the watchdog should supervise."""
    return notify("WATCHDOG=1")


def watchdog_interval_s() -> float | None:
    """Return the seconds between two watchdog() calls, half of the allowed time; None without a watchdog."""
    allowed = os.environ.get("WATCHDOG_USEC", "")
    if os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    usable = allowed.isdecimal() and len(allowed) < 20 and int(allowed) > 0
    return int(allowed) / 2_000_000 if usable else None


def status(text: str) -> bool:
    """Give people a line about what the daemon does now."""
    return notify(_status_line(text).lstrip())


def inherited_socket(name: str) -> socket.socket | None:
    """Return the listening socket that the supervisor passed under ``name``, else the first one; None without any.

    Never unlink it. Take it once: the variables are removed from the environment, child processes do not inherit the
    socket, and all others that were passed are closed. Raise ValueError when an announced descriptor is missing or is
    not a listening Unix stream socket.
    """
    descriptors, names = _passed_by_launchd(name) if sys.platform == "darwin" else _passed_by_systemd()
    sockets = [_inherited(descriptor) for descriptor in descriptors]
    chosen = names.index(name) if name in names[: len(sockets)] else 0
    for other in sockets[:chosen] + sockets[chosen + 1 :]:
        other.close()
    return sockets[chosen] if sockets else None


def _passed_by_systemd() -> tuple[Sequence[int], list[str]]:
    """Return the descriptors of sd_listen_fds(3) and their names, none if they are for another process."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return (), []
    count = os.environ.get("LISTEN_FDS", "0")
    names = os.environ.get("LISTEN_FDNAMES", "").split(":")
    for variable in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"):
        os.environ.pop(variable, None)
    if not count.isdecimal() or not count.isascii():
        raise ValueError(f"LISTEN_FDS is {count!r}, which is not a number")
    return range(FIRST_FD, FIRST_FD + int(count)), names


def _passed_by_launchd(name: str) -> tuple[Sequence[int], list[str]]:
    from livedex_service.launchd_sockets import activated_descriptors

    try:
        return activated_descriptors(name), []
    except OSError as error:
        raise ValueError(error.strerror) from error


def _status_line(text: str) -> str:
    return "\nSTATUS=" + text.replace("\n", " ") if text else ""


def _takes_more(sock: socket.socket) -> bool:
    """Return whether the queue of the other end takes another datagram, at once or very soon."""
    poller = select.poll()
    poller.register(sock, select.POLLOUT)
    return bool(poller.poll(WAIT_MS))


def _sender() -> Callable[[str, socket.socket], bool]:
    try:
        from systemd import daemon
    except ImportError:
        return _send
    return lambda state, _sock: bool(daemon.notify(state))


def _send(state: str, sock: socket.socket) -> bool:
    """Send a datagram as sd_notify(3) specifies."""
    sock.sendall(state.encode("utf-8", "replace"))
    return True


def _inherited(descriptor: int) -> socket.socket:
    try:
        os.set_inheritable(descriptor, False)
        is_socket = stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError as error:
        raise ValueError(f"descriptor {descriptor} was not passed on: {error.strerror}") from error
    if not is_socket:
        raise ValueError(f"descriptor {descriptor} is not a socket")
    sock = socket.socket(fileno=descriptor)
    listens = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if sock.family != socket.AF_UNIX or sock.type != socket.SOCK_STREAM or not listens:
        sock.detach()
        raise ValueError(f"descriptor {descriptor} is not a listening Unix stream socket")
    return sock
