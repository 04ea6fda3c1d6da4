"""Which process is the daemon of this home, although it does not answer.

Invariant: it is the process that has locked the home, and a livedex daemon, and no other socket than that of the home
was named.
"""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
from contextlib import suppress

from livedex_ipc import paths
from livedex_ipc.errors import TimedOut

_DAEMON = "livedex_daemon"  # the module that a daemon's command line names


def holder() -> int | None:
    """Return the process id of the daemon that has locked this home; None if there is none, or if LIVEDEX_SOCKET names
    the socket: the daemon there may be another home's."""
    if os.environ.get("LIVEDEX_SOCKET"):
        return None
    try:
        where = os.path.join(paths.data_dir(), paths.LOCK_NAME)
        # NONBLOCK: a FIFO there, which the daemon refuses to lock, would wait for somebody who writes to it.
        descriptor = os.open(where, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(descriptor, 32).decode("ascii", "replace").strip()
    except OSError:
        return None
    else:
        return None
    finally:
        os.close(descriptor)
    return int(text) if text.isdigit() and is_daemon(int(text)) else None


def no_answer(seconds: float) -> TimedOut:
    """Return the error that the daemon has not answered for so long, with what helps."""
    pid = holder()
    named = "the daemon" if pid is None else f"the daemon (pid {pid})"
    remedy = "`livedex down` ends it, and the next command starts another"
    return TimedOut(f"{named} did not answer in {seconds:g} s: {remedy}", {"pid": pid})


def is_daemon(pid: int) -> bool:
    return _DAEMON in _command_line(pid)


def _command_line(pid: int) -> str:
    """Return the command line of a process; empty if it cannot be read. The number may be another process's by now."""
    if os.path.isdir("/proc/self"):
        with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            return os.fsdecode(file.read())
        return ""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, timeout=5, check=False)
        return os.fsdecode(done.stdout)
    return ""
