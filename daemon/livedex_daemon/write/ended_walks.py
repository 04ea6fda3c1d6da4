"""Let the searches of a part of a walked folder go on while files elsewhere in the folder are still being read.

Invariant: a search goes on only after all walks of the entry have ended, what they decided is committed, and no file in
the scope of the search is still to be read or stored. Runs on the worker's thread only.
"""

from __future__ import annotations

from livedex_daemon.watch.backlog import Backlog, Entry
from livedex_daemon.write.readings import Readings


class EndedWalks:
    """The entries whose walks have ended and whose files are not all stored yet."""

    def __init__(self, backlog: Backlog, readings: Readings) -> None:
        self._backlog = backlog
        self._readings = readings
        self._undecided: set[Entry] = set()  # what their walks decided is not committed yet
        self._decided: set[Entry] = set()

    def add(self, entry: Entry) -> None:
        """Record that the last walk of the entry has ended."""
        self._undecided.add(entry)

    def discard(self, entry: Entry) -> None:
        """Forget an entry that is finished."""
        self._undecided.discard(entry)
        self._decided.discard(entry)

    def committed(self) -> None:
        """Record that all decisions so far are committed."""
        self._decided |= self._undecided
        self._undecided.clear()

    def abandon(self) -> None:
        self._undecided.clear()
        self._decided.clear()

    @property
    def are_waited_for(self) -> bool:
        """Return True if a search of a part of a folder waits for the commit of what the walks decided."""
        return any(self._backlog.has_scoped_waiter(entry) for entry in self._undecided)

    def release(self) -> None:
        """Let the searches go on in whose scope no file is left to read or to store."""
        for entry in self._decided:
            if self._backlog.has_scoped_waiter(entry):
                self._backlog.release_outside(entry, self._readings.keys_of(entry))
