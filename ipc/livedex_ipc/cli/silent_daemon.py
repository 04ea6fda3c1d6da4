"""Ends the daemon of this home although it does not answer: it hangs, is stopped, or has lost its socket.

Invariant: only the process that has locked the home is ended, and only if it is a livedex daemon, and no other socket
than that of the home was named; one that can still end in its own way may do so.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
from contextlib import suppress

from livedex_ipc import paths
from livedex_ipc.cli.process_end import has_ended

END_S = 6.0  # a daemon ends within 5 s
KILLED_S = 5.0
_DAEMON = "livedex_daemon"  # the module that a daemon's command line names


def holder() -> int | None:
    """Return the process id of the daemon that has locked this home; None if there is none, or if LIVEDEX_SOCKET names
    the socket: the daemon there may be another home's."""
    if os.environ.get("LIVEDEX_SOCKET"):
        return None
    try:
        where = os.path.join(paths.data_dir(), paths.LOCK_NAME)
        descriptor = os.open(where, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
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


def is_daemon(pid: int) -> bool:
    return _DAEMON in _command_line(pid)


def end(pid: int) -> bool:
    """End the daemon, in its own way or else by force; return whether it has ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        os.kill(pid, signal.SIGCONT)  # a stopped process hears nothing else
    if has_ended(pid, END_S):
        return True
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return has_ended(pid, KILLED_S)


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
