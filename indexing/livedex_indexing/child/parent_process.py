"""What each child process does first, so that it ends with the daemon and leaves no text of files behind.

Invariant: a child ends when its parent ends, even in the middle of a loop in C code.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from typing import Final

from livedex_ipc import core_dumps

_PR_SET_PDEATHSIG: Final = 1


def follow_parent(parent: int, nice: int) -> None:
    """Tie this process to the process ``parent`` and lower its priority by ``nice``, where the system lets it.

    Exit if the parent is gone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        # The kernel sends it when the parent *thread* ends: ``child_starter`` has one that ends with its process.
        # A program that this process executes keeps it.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)  # the parent died before the line above took effect
    if nice:
        with contextlib.suppress(OSError):  # a filter of system calls may forbid it, as systemd's ``~@resources``
            os.nice(nice)
    core_dumps.disable()
