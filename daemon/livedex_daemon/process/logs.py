"""Writes the daemon's log: one event per line, to its file, and to stderr if a supervisor or a terminal reads it.

Invariant: above debug level no file text and no query is logged. The fields of an event have constant keys. A log that
cannot be written ends nothing.
"""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import stat
import sys
import time
from io import TextIOWrapper

from livedex_daemon.process import tick
from livedex_daemon.process.locations import make_private
from livedex_ipc.errors import Unavailable
from livedex_service import journal

MAX_BYTES = 10 << 20
BACKUPS = 5


class LogFile(logging.handlers.RotatingFileHandler):
    """A log file rotated at 10 MiB, with five backups, private to the user regardless of the umask. It is made again if
    it was removed or renamed by another program.

    Lines that cannot be written are counted, and given to ``elsewhere`` if it is not None. ``fault`` says why the last
    one could not be written; None if it could. What a plugin or a library prints to an adopted stderr is rotated too.
    """

    def __init__(self, path: str, elsewhere: logging.Handler | None) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, delay=True)
        self.fault: str | None = None
        self._elsewhere = elsewhere
        self._lost = 0
        self._is_trial = False
        self._adopted: os.stat_result | None = None  # the file that stderr was led to

    def try_again(self) -> None:
        """If the last line could not be written, try to write how many were lost. Make a missing folder again.

        Rotate a log that only what is printed to stderr has filled.
        """
        if self.fault is None:
            self._rotate_printed()
            return
        with contextlib.suppress(Unavailable):
            make_private(os.path.dirname(self.baseFilename))
        record = logging.makeLogRecord(
            {"name": __name__, "levelno": logging.WARNING, "levelname": "WARNING", "msg": "log_lines_lost"}
        )
        record.lines = self._lost
        with self.lock or contextlib.nullcontext():
            self._is_trial = True
            self.handle(record)
            self._is_trial = False

    def adopt_stderr(self) -> None:
        """Lead stderr to the log from now on. Raises OSError."""
        with self.lock or contextlib.nullcontext():
            if self.stream is None or self._is_gone():
                self._drop_stream()
                self.stream = self._open()
            self._lead_stderr_to(self.stream.fileno())

    def _lead_stderr_to(self, handle: int) -> None:
        os.dup2(handle, 2)
        self._adopted = os.fstat(handle)

    def _rotate_printed(self) -> None:
        with self.lock or contextlib.nullcontext(), contextlib.suppress(OSError):
            if self._adopted is None:
                return
            if self._is_gone():
                self._drop_stream()
            elif os.fstat(2).st_size >= self.maxBytes:
                self.doRollover()
            self.stream = self.stream or self._open()

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        before, self.fault = self.fault, None
        if self._is_gone():
            self._drop_stream()
        super().emit(record)
        if self.fault is None and before is not None:
            self._lost = 0

    def _is_gone(self) -> bool:
        """Whether the open file no longer has the name of the log."""
        if self.stream is None:
            return False
        try:
            return not os.path.samestat(os.stat(self.baseFilename), os.fstat(self.stream.fileno()))
        except OSError as error:
            return isinstance(error, FileNotFoundError | NotADirectoryError)

    def _drop_stream(self) -> None:
        stream, self.stream = self.stream, None
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()

    def _open(self) -> TextIOWrapper:
        # A FIFO would keep the event loop waiting for someone who reads it.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
        handle = os.open(self.baseFilename, flags, 0o600)
        if stat.S_ISREG(os.fstat(handle).st_mode):  # a link may lead to a device, which is not ours to change
            os.fchmod(handle, 0o600)
        with contextlib.suppress(OSError):  # a plugin may have put anything in its place
            if self._adopted is not None and os.path.samestat(self._adopted, os.fstat(2)):
                self._lead_stderr_to(handle)
        return open(handle, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        self.fault = error.strerror or str(error)
        self._drop_stream()  # what it holds back would follow later, a second time
        if self._is_trial:
            return
        self._lost += 1
        if self._elsewhere is not None:
            self._elsewhere.handle(record)


def set_up(path: str, level: str) -> LogFile:
    """Log to ``path``, and to stderr if stderr is the journal or a terminal, or if ``path`` cannot be written."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    stderr = journal.log_handler()
    is_read = journal.stderr_is_journal() or sys.stderr.isatty()
    file = LogFile(path, None if is_read else stderr)
    formatter = journal.EventFormatter("%(asctime)sZ %(levelname)s %(name)s")
    formatter.converter = time.gmtime
    file.setFormatter(formatter)
    root.addHandler(file)
    if is_read:
        root.addHandler(stderr)
    set_level(level)
    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    logging.getLogger("watchdog").setLevel(logging.ERROR)
    return file


def log_file() -> LogFile | None:
    """Return the log file of this process, None before ``set_up``."""
    return next((handler for handler in logging.getLogger().handlers if isinstance(handler, LogFile)), None)


async def keep_trying() -> None:
    """Try to write a log that could not be written, at each tick."""
    while True:
        await tick.tick()
        file = log_file()
        if file is not None:
            file.try_again()


def adopt_stderr() -> None:
    """Redirect stderr to the log once the client that started the daemon no longer reads it.

    That client passes an unlinked file as stderr, to read why the start failed. If there can be no log, nothing more is
    written to it either: it would only fill the disk of temporary files.
    """
    try:
        is_unlinked = os.fstat(2).st_nlink == 0
    except OSError:  # a plugin closed it
        return
    if is_unlinked:
        file = log_file()
        try:
            if file is None:
                raise OSError("there is no log")
            file.adopt_stderr()
        except OSError:
            handle = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(handle, 2)
            os.close(handle)


def set_level(level: str) -> None:
    logging.getLogger().setLevel(level.upper())
