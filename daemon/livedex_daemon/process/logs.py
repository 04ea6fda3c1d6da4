"""Writes what the daemon does to its log file, one event a line, and to stderr where a supervisor reads it.

Invariant: no text of a file and no query is logged above debug; an event's fields have constant keys.
"""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys
import time
from io import TextIOWrapper

from livedex_service import supervisor

MAX_BYTES = 10 << 20
BACKUPS = 5


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """Rotated at 10 MiB, five kept, each for the user alone whatever the umask.

    A full disk loses lines, never the daemon.
    """

    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.fchmod(handle, 0o600)
        return open(handle, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)


def set_up(path: str, level: str) -> None:
    """Logs to ``path``; also to stderr when stderr is the journal or a terminal."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    file = _PrivateFile(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, delay=True)
    formatter = supervisor.EventFormatter("%(asctime)sZ %(levelname)s %(name)s")
    formatter.converter = time.gmtime
    file.setFormatter(formatter)
    root.addHandler(file)
    if supervisor.stderr_is_journal() or sys.stderr.isatty():
        stream = logging.StreamHandler()
        stream.setFormatter(supervisor.log_formatter())
        root.addHandler(stream)
    set_level(level)
    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    logging.getLogger("watchdog").setLevel(logging.ERROR)


def adopt_stderr(path: str) -> None:
    """What is printed from now on goes to the log, where whoever started us reads our stderr no longer.

    A client that starts a daemon gives it an unlinked file, to read why it failed.
    """
    if os.fstat(2).st_nlink == 0:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.dup2(handle, 2)
        os.close(handle)


def set_level(level: str) -> None:
    logging.getLogger().setLevel(level.upper())
