"""Which backend ranks: the one that the configuration names, once it has everything; until then the one before.

Invariant: a search never waits for a backend that is being filled. While none can rank, the built-in index does.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from livedex_daemon.backend.backend_calls import BackendLost
from livedex_daemon.backend.mirror import Mirror, Origin, Stored
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.process.own_file import read_own_file
from livedex_daemon.watch.backlog import Key
from livedex_indexing.plugins import BACKEND, Hit, Query, VectorModel
from livedex_indexing.search.foreign_ranking import Ranker, RankingFailed
from livedex_indexing.store.set_aside import keep_folder

BUILT_IN: Final = "sqlite"
WAIT_SHARE: Final = 0.4  # of a search's time, for a backend that is a few files behind
LONGEST_WAIT_S: Final = 5.0
_MOST_MARK_BYTES: Final = 64 << 10
FORM: Final = 2  # of the documents: increase it if a backend must get all of them again


class _Ranker(NamedTuple):
    """A backend for one search, until a time."""

    mirror: Mirror
    until: float

    def search(self, query: Query) -> list[Hit]:
        try:
            return self.mirror.search(query, self.until)
        except BackendLost as lost:
            raise RankingFailed(str(lost)) from lost

    def nearest(self, query: Query, model: VectorModel, vector: Sequence[float]) -> list[Hit] | None:
        try:
            return self.mirror.nearest(query, model, vector, self.until)
        except BackendLost as lost:
            raise RankingFailed(str(lost)) from lost


class BackendSwitch:
    """``use``, ``begin`` and ``give_up`` are for the event loop, ``changed`` for the writer, ``ranker`` and
    ``vectors_changed`` for any thread."""

    def __init__(self, host: PluginHost, origin: Origin, mark: str) -> None:
        """``mark`` is a file that remembers the plan that the chunks in a backend follow."""
        self._host, self._origin, self._mark = host, origin, mark
        self._active: Mirror | None = None
        self._next: Mirror | None = None
        self._lock = threading.Lock()
        self._configured = BUILT_IN
        self._generation = -1  # of the plugins that the mirrors were made with

    @property
    def name(self) -> str:
        """The backend that ranks now."""
        active = self._current()
        return active.name if active is not None else BUILT_IN

    @property
    def filling(self) -> Mirror | None:
        """The backend that is being filled, None if there is none."""
        self._current()
        return self._next

    def use(self, name: str) -> None:
        """Switch to a backend, once it has everything. Plugins that were loaded again are made again."""
        self._configured = name
        other_plugins, self._generation = self._generation != self._host.generation, self._host.generation
        self._host.used(BACKEND, [name])
        self._current()
        if name == BUILT_IN:
            with self._lock:
                mirrors = self._active, self._next
                self._active = self._next = None
            self._stop(*mirrors)
        elif other_plugins or name not in {mirror.name for mirror in self._mirrors()}:
            self.begin(name)

    def begin(self, name: str) -> Mirror:
        """Fill a backend while the former one answers. Return what tells how far it is."""
        stored = Stored(lambda: self._load(name), lambda plan: self._save(name, plan))
        mirror = Mirror(name, self._host, self._origin, stored, lambda: self._current() is mirror)
        with self._lock:
            former, self._next = self._next, mirror
        self._stop(former)
        mirror.start()
        return mirror

    def give_up(self, mirror: Mirror) -> None:
        """Stop filling this backend: it cannot be used, or is not wanted any more.

        It may be complete, and a search may have put it in the place of the former one: that is made again.
        """
        with self._lock:
            has_replaced = self._active is mirror
            if has_replaced:
                self._active = None
            if self._next is mirror:
                self._next = None
        mirror.stop()
        self._host.report(BACKEND, mirror.name, None)
        if has_replaced:
            self.use(self._configured)

    def changed(self, files: Iterable[Key], roots: Iterable[int]) -> None:
        """Note what a commit changed."""
        for mirror in self._mirrors():
            mirror.changed(files, roots)

    def mark_all_changed(self) -> None:
        """Compare everything: the index is a new one."""
        for mirror in self._mirrors():
            mirror.compare()

    def vectors_changed(self) -> None:
        """Note that there are new vectors, or others."""
        for mirror in self._mirrors():
            mirror.vectors_changed()

    @property
    def vector_fault(self) -> tuple[str, str] | None:
        """The backend that does not keep the vectors that there are, and why; None if it does, or is not to."""
        active = self._active
        fault = active.feed.fault if active is not None else None
        return None if active is None or fault is None else (active.name, fault)

    def ranker(self, until: float) -> Ranker | None:
        """Return what ranks a query, None: the index itself. ``until``: monotonic, when the search must be answered."""
        mirror = self._current()
        if mirror is None:
            return None
        now = time.monotonic()
        return _Ranker(mirror, now + min(LONGEST_WAIT_S, WAIT_SHARE * max(0.0, until - now)))

    def stop(self) -> None:
        self._stop(*self._mirrors())

    def _mirrors(self) -> list[Mirror]:
        """Return those that are kept equal to the index, of one moment: the next one may just take its place."""
        with self._lock:
            return [mirror for mirror in (self._active, self._next) if mirror is not None]

    def _current(self) -> Mirror | None:
        """Return the backend that ranks; the next one takes its place once it is complete, and ends it if it is the
        same one that was loaded again and fails."""
        with self._lock:
            following, former = self._next, self._active
            if following is None:
                return former
            if following.ready:
                active, self._next = following, None
            elif former is not None and former.name == following.name and following.fault is not None:
                active = None  # it cannot be made any more: its plugin is gone, or is another one
            else:
                return former
            self._active = active
        self._stop(former)
        return active

    def _stop(self, *mirrors: Mirror | None) -> None:
        for mirror in mirrors:
            if mirror is not None:
                mirror.stop()

    # -- the plan that the chunks in a backend follow

    def _load(self, name: str) -> str | None:
        try:
            kept, _, plan = read_own_file(self._mark, _MOST_MARK_BYTES).decode().partition("\n")
        except (OSError, UnicodeDecodeError):
            return None
        return plan if kept == f"{name} {FORM}" else None

    def _save(self, name: str, plan: str | None) -> None:
        keep_folder(self._mark, self._mark)
        if plan is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._mark)
        elif self._load(name) != plan:
            with open(f"{self._mark}.new", "w", encoding="utf-8") as file:
                file.write(f"{name} {FORM}\n{plan}")
            os.replace(f"{self._mark}.new", self._mark)
