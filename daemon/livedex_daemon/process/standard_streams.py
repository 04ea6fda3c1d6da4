"""Opens the standard streams that were closed before the daemon started.

Invariant: no file of the daemon has the number of a standard stream, into which whatever fails in it, or in a child,
would be written.
"""

from __future__ import annotations

import os
import sys

from livedex_ipc.standard_files import open_standard_files


def open_missing() -> None:
    """Open the null device in the place of each stream that is closed. Call it before any file is opened."""
    open_standard_files()
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
