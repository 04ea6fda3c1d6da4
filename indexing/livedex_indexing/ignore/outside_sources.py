"""What the rules of a root depend on and no scan of the root sees, and whether it has changed since it was read.

Invariant: the oldest state of a source counts until it is compared, so that reading the rules again hides no change.
"""

from __future__ import annotations

import itertools
import time
from typing import NamedTuple

from livedex_indexing.disk.settled import is_settled
from livedex_indexing.ignore.external_files import Source
from livedex_indexing.model import FileState
from livedex_indexing.relpath import is_within

_versions = itertools.count()


class _Known(NamedTuple):
    """The state of a source before it was read. ``is_settled``: another change would have left another state behind."""

    state: FileState | None
    is_settled: bool


class OutsideSources:
    """For one thread at a time. ``version``: another one whenever ``sources`` may differ, in any root."""

    def __init__(self) -> None:
        self.version = next(_versions)
        self._known: dict[Source, _Known] = {}

    def sources(self) -> set[Source]:
        return set(self._known)

    def add(self, source: Source) -> None:
        """Note that rules depend on it. Raises ReadFailed."""
        if source not in self._known:
            self._add(source, source.state())

    def add_in_state(self, source: Source, state: FileState) -> None:
        """Note that rules depend on it, and the state that it had when they were read."""
        if source not in self._known:
            self._add(source, state)

    def _add(self, source: Source, state: FileState | None) -> None:
        self._known[source] = _Known(state, state is None or is_settled(state, time.time()))
        self.version = next(_versions)

    def owners_of_changed(self, below: bytes, *, doubtful: bool) -> set[bytes]:
        """Return the folders at or below ``below`` whose rules depend on a source that has changed.

        ``doubtful``: one that had just changed when it was read counts as changed. Costs one stat for each source.
        Raises ReadFailed.
        """
        return {
            source.owner
            for source, known in self._known.items()
            if is_within(source.owner, below) and ((doubtful and not known.is_settled) or source.state() != known.state)
        }

    def forget_below(self, folder: bytes) -> None:
        """Forget what the rules of the folder and of all folders below it depend on."""
        for source in [source for source in self._known if is_within(source.owner, folder)]:
            del self._known[source]
            self.version = next(_versions)

    def clear(self) -> None:
        self._known.clear()
        self.version = next(_versions)
