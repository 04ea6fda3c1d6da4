"""Opens a SQLite file of the daemon's from another process.

Invariant: nothing is changed, neither in the file nor in its folder.
"""

from __future__ import annotations

import os
from pathlib import Path

import apsw


def open_unchanged(path: str) -> apsw.Connection:
    """Open a file to read it and to change nothing beside it either. Raises apsw.Error."""
    # Without a log nobody uses the file, and SQLite need not make one to read it.
    mode = "mode=ro" if os.path.exists(f"{path}-wal") else "immutable=1"
    return apsw.Connection(f"{Path(path).as_uri()}?{mode}", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
