"""Ends the daemon of this home although it does not answer: it hangs, is stopped, or has lost its socket.

Invariant: one that can still end in its own way may do so.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from livedex_ipc.cli.process_end import has_ended

END_S = 6.0  # a daemon ends within 5 s
KILLED_S = 5.0


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
