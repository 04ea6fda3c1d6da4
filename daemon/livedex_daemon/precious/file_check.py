"""Checks a precious SQLite file without the daemon: is it one that this livedex can use, and whole?

Invariant: it writes nothing into the file, and takes a few seconds however large the file is.
"""

from __future__ import annotations

import os
import stat
import time
from typing import Final

import apsw

from livedex_daemon.precious.precious_database import Schema, strangeness
from livedex_daemon.process.unchanged_database import open_unchanged

CHECK_S: Final = 3.0  # of a large file, what was read by then has to do
_STEPS: Final = 10_000  # instructions of SQLite between two looks at the clock


def fault_of(path: str, schema: Schema) -> str | None:
    """Return why a file cannot be used; None if nothing speaks against it."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return "it is not a regular file"
        db = open_unchanged(path)
    except (apsw.Error, OSError) as fault:
        return str(fault)
    try:
        return _fault_inside(db, schema)
    except apsw.InterruptError:
        return None
    except apsw.Error as fault:
        return f"it is damaged ({fault})"
    finally:
        db.close()


def _fault_inside(db: apsw.Connection, schema: Schema) -> str | None:
    ends = time.monotonic() + CHECK_S
    db.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
    db.set_busy_timeout(int(CHECK_S * 1000))
    strange = strangeness(db, schema)
    if strange is not None:
        return strange
    found = str(db.execute("PRAGMA quick_check(1)").get)
    return None if found == "ok" else f"it is damaged ({found.splitlines()[-1]})"
