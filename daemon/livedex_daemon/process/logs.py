"""Writes the daemon's log: one event per line, to its file, and to stderr if a supervisor or a terminal reads it.

Invariant: above debug level no file text and no query is logged. The fields of an event have constant keys.
"""

from __future__ import annotations

import logging
import logging.handlers
import os
import stat
import sys
import time
from io import TextIOWrapper

from livedex_service import journal

MAX_BYTES = 10 << 20
BACKUPS = 5


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """A log file rotated at 10 MiB, with five backups, private to the user regardless of the umask.

    On a full disk lines are lost and the daemon goes on.
    """

    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if stat.S_ISREG(os.fstat(handle).st_mode):  # a link may lead to a device, which is not ours to change
            os.fchmod(handle, 0o600)
        return open(handle, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)


def set_up(path: str, level: str) -> None:
    """Log to ``path``, and to stderr if stderr is the journal or a terminal."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    file = _PrivateFile(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, delay=True)
    formatter = journal.EventFormatter("%(asctime)sZ %(levelname)s %(name)s")
    formatter.converter = time.gmtime
    file.setFormatter(formatter)
    root.addHandler(file)
    if journal.stderr_is_journal() or sys.stderr.isatty():
        root.addHandler(journal.log_handler())
    set_level(level)
    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    logging.getLogger("watchdog").setLevel(logging.ERROR)


def adopt_stderr(path: str) -> None:
    """Redirect stderr to the log once the client that started the daemon no longer reads it.

    That client passes an unlinked file as stderr, to read why the start failed.
    """
    if os.fstat(2).st_nlink == 0:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.dup2(handle, 2)
        os.close(handle)


def set_level(level: str) -> None:
    logging.getLogger().setLevel(level.upper())
