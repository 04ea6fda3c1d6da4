"""How the daemon ends a child, and says how one ended.

Invariant: a call returns within its time, also if the kernel keeps the child, as on a lost disk.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
from typing import Final

END_S: Final = 5.0  # for a child to end by itself, or after it was killed


def end_child(child: subprocess.Popen[bytes], patience_s: float = 0.0) -> int:
    """Close the pipes of a child, and kill it unless it ends by itself within ``patience_s``.

    Return its exit status; negative, the signal that ended it.
    """
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return child.wait(patience_s)
    child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return child.wait(END_S)
    return -signal.SIGKILL  # it ends as soon as the kernel lets it


def how_it_ended(status: int) -> str:
    """Say what an exit status means: ``killed by signal N`` or ``exit status N``."""
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"
