"""Undoes what the program that starts the daemon did to its own signals.

Invariant: the daemon ends on SIGTERM, and it learns how a child ended, whoever starts it. A program may block signals
in the thread that starts others, and may have the system reap its children.
"""

from __future__ import annotations

import signal


def reset() -> None:
    """Block no signal, and let the end of a child be asked for. Call it on the main thread, before any other starts."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
