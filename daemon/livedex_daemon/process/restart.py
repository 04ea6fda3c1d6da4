"""Ends the daemon when other code should run in its place: its own was replaced or removed, or a client asks.

Invariant: it ends only while it is idle, so that no request and no change waits for the next daemon. A new version is
used only after two looks found the same files, so that no daemon starts from half of an installation.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import Final

import livedex_daemon
import livedex_indexing
import livedex_ipc
import livedex_service
from livedex_daemon.process.tick import tick

log = logging.getLogger(__name__)

EXIT_CODE: Final = 75  # for a supervisor that restarts what fails: EX_TEMPFAIL of sysexits.h
REPLACED: Final = "livedex was upgraded, downgraded or installed again"
REMOVED: Final = "livedex was uninstalled"
REQUESTED: Final = "a client of another version asked for it"

State = tuple[tuple[int, int, int] | None, ...]  # per file: inode, size, time of its last change; None: it is gone


class OwnCode:
    """The first file of each package that this process runs, as it was when this was made; installations write it."""

    def __init__(self, files: Sequence[str] | None = None) -> None:
        """Make it before other modules are imported: what is installed later would be taken for what runs."""
        packages = (livedex_daemon, livedex_indexing, livedex_ipc, livedex_service)
        named = [package.__file__ for package in packages if package.__file__ is not None]
        self.files = named if files is None else list(files)
        self.at_start = self.state()

    def state(self) -> State:
        """Examine the files now. Raises OSError if that fails; a file that is gone is no failure."""
        return tuple(_state_of(file) for file in self.files)


class Restart:
    """Use it on the event loop; any thread may read ``reason``: why the daemon should end; None: it need not."""

    def __init__(
        self,
        is_idle: Callable[[], bool],
        stop: Callable[[], None],
        differs: Callable[[], bool],
        code: OwnCode,
    ) -> None:
        """``stop`` ends the daemon; ``differs`` says whether a child process was found to run other code."""
        self.reason: str | None = None
        self.ends = False  # the daemon ends for that reason
        self._is_idle = is_idle
        self._stop = stop
        self._differs = differs
        self._code = code
        self._seen = code.at_start

    def request(self, reason: str = REQUESTED) -> None:
        """End the daemon once it is idle."""
        if self.reason is None:
            log.warning("restart_needed", extra={"reason": reason})
            self.reason = reason

    @property
    def is_due(self) -> bool:
        """Whether the daemon should end, and nothing keeps it."""
        return self.reason is not None and self._is_idle()

    async def run(self) -> None:
        """Look at every tick, until the daemon ends."""
        while not self.ends:
            await tick()
            self.look()
            self.end_if_idle()

    def look(self) -> None:
        """Compare the installed files with those that this process was started from."""
        before = self._seen
        try:
            self._seen = self._code.state()
        except OSError:  # the files cannot be examined now: that is no reason to end
            return
        if self._seen == before and self._seen != self._code.at_start:
            self.request(REMOVED if None in self._seen else REPLACED)
        if self._differs():
            self.request(REPLACED)

    def end_if_idle(self) -> None:
        if self.is_due and not self.ends:
            log.info("daemon_restarts", extra={"reason": self.reason})
            self.ends = True
            self._stop()


def _state_of(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
