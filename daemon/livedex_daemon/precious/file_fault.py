"""Keeps why a precious file cannot be used, and looks at it now and then: nobody may call while it is lost.

Invariant: a fault stays until the file could be written again, and that of a damaged file until it is restored or moved
away: some calls do not touch the damage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress

from livedex_daemon.precious.precious_database import DatabaseDamaged, DatabaseUnusable
from livedex_daemon.process import tick
from livedex_ipc.errors import Unavailable
from livedex_ipc.file_stamp import Stamp, file_stamp, is_gone


class FileFault:
    """``found``: why the file cannot be used, None if it can or is not there."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._looking: Future[None] | None = None
        self._damaged: Stamp = None  # of the file in which damage was found
        self.found: DatabaseUnusable | None = None

    def clear(self) -> None:
        self.found = self._damaged = None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Keep the error of a block that uses the file, and nothing of its call."""
        try:
            yield
        except DatabaseUnusable as error:
            self.found = type(error)(error.message, error.data)  # the error itself keeps the call, and its message
            if isinstance(error, DatabaseDamaged):
                self._damaged = file_stamp(self._path)
            raise

    def clear_if(self, check_writable: Callable[[], object]) -> None:
        """End a fault after a look that found none: a file that can be read may be locked, or its disk full."""
        if self.found is not None and (self._damaged is None or self._damaged != file_stamp(self._path)):
            check_writable()
            self.clear()

    async def keep_looking(self, look: Callable[[], Future[None]], gone: Callable[[], object] = lambda: None) -> None:
        """Call ``look`` at the tick after the file changed, and at each one while there is a fault, and ``gone`` while
        there is no file. For the event loop."""
        seen: tuple[Stamp, Stamp] | None = None
        while True:
            await tick.tick()
            state = file_stamp(self._path), file_stamp(f"{self._path}-wal")
            if state[0] is None and is_gone(self._path):
                self.clear()
                gone()
            elif (state != seen or self.found is not None) and (self._looking is None or self._looking.done()):
                with suppress(Unavailable):  # without a thread, later
                    self._looking = look()
                    seen = state
