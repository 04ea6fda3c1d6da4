"""Which backend ranks: the one that the configuration names, once it has everything; until then the one before.

Invariant: a search never waits for a backend that is being filled. While none can rank, the built-in index does.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from typing import Final

from livedex_daemon.backend.backend_calls import BackendLost
from livedex_daemon.backend.mirror import Mirror, Stored
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Roots
from livedex_indexing.plugins import BACKEND, Hit, Query
from livedex_indexing.search.foreign_ranking import Rank, RankingFailed

BUILT_IN: Final = "sqlite"
WAIT_SHARE: Final = 0.4  # of a search's time, for a backend that is a few files behind
LONGEST_WAIT_S: Final = 5.0


class BackendSwitch:
    """``use`` and ``begin`` are for the event loop, ``changed`` for the writer, ``ranker`` for any thread."""

    def __init__(self, host: PluginHost, readers: IndexReaders, roots: Roots, plan: Callable[[], str], mark: str):
        """``plan`` names what decides how contents are cut; ``mark`` is a file that remembers it for each backend."""
        self._host, self._readers, self._roots, self._plan, self._mark = host, readers, roots, plan, mark
        self._active: Mirror | None = None
        self._next: Mirror | None = None
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
        other_plugins, self._generation = self._generation != self._host.generation, self._host.generation
        self._host.used(BACKEND, [name])
        active = self._current()
        if name == BUILT_IN:
            self._stop(self._next, active)
            self._active = self._next = None
        elif other_plugins or name not in {mirror.name for mirror in (active, self._next) if mirror is not None}:
            self.begin(name)

    def begin(self, name: str) -> Mirror:
        """Fill a backend while the former one answers. Return what tells how far it is."""
        stored = Stored(lambda: self._load(name), lambda plan: self._save(name, plan))
        mirror = Mirror(name, self._host, self._readers, self._roots, self._plan, stored)
        self._stop(self._next)
        self._next = mirror
        mirror.start()
        return mirror

    def give_up(self, mirror: Mirror) -> None:
        """Stop filling this backend: it cannot be used."""
        if self._next is mirror:
            self._next = None
        mirror.stop()
        self._host.report(BACKEND, mirror.name, None)

    def changed(self, files: Iterable[Key], roots: Iterable[int]) -> None:
        """Note what a commit changed."""
        for mirror in (self._active, self._next):
            if mirror is not None:
                mirror.changed(files, roots)

    def mark_all_changed(self) -> None:
        """Compare everything: the index is a new one."""
        for mirror in (self._active, self._next):
            if mirror is not None:
                mirror.compare()

    def ranker(self, until: float) -> Rank | None:
        """Return what ranks a query, None: the index itself. ``until``: monotonic, when the search must be answered."""
        mirror = self._current()
        if mirror is None:
            return None
        now = time.monotonic()
        latest = now + min(LONGEST_WAIT_S, WAIT_SHARE * max(0.0, until - now))

        def rank(query: Query) -> list[Hit]:
            try:
                return mirror.search(query, latest)
            except BackendLost as lost:
                raise RankingFailed(str(lost)) from lost

        return rank

    def stop(self) -> None:
        self._stop(self._active, self._next)

    def _current(self) -> Mirror | None:
        """Return the backend that ranks; the next one takes its place once it is complete."""
        following = self._next
        if following is not None and following.ready:
            former, self._active, self._next = self._active, following, None
            self._stop(former)
        return self._active

    def _stop(self, *mirrors: Mirror | None) -> None:
        for mirror in mirrors:
            if mirror is not None:
                mirror.stop()

    # -- the plan that the chunks in a backend follow

    def _load(self, name: str) -> str | None:
        try:
            with open(self._mark, encoding="utf-8") as file:
                kept, _, plan = file.read().partition("\n")
        except OSError:
            return None
        return plan if kept == name else None

    def _save(self, name: str, plan: str | None) -> None:
        if plan is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._mark)
        elif self._load(name) != plan:
            with open(f"{self._mark}.new", "w", encoding="utf-8") as file:
                file.write(f"{name}\n{plan}")
            os.replace(f"{self._mark}.new", self._mark)
