"""The queue of paths that may have changed and are not yet indexed, and of the searches that wait for them.

Invariant: a waiter is released only when every path that was marked before it began to wait, and that lies in its scope
or decides about a path in it, has been committed. Times come from the injected clock; nothing here sleeps.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from math import inf
from typing import NamedTuple

from livedex_daemon.watch.backlog_entry import SETTLE_MAX_S, SETTLE_S, Entry, Key, Waiter
from livedex_daemon.watch.run_progress import RunProgress

__all__ = [
    "CHANGED",
    "SETTLE_MAX_S",
    "SETTLE_S",
    "Backlog",
    "Entry",
    "Key",
    "Mark",
    "Scope",
    "Waiter",
    "intersects",
    "meeting",
]

Scope = Sequence[Key] | None  # None: everything; else every path at, below or above one of the keys


class Mark(NamedTuple):
    """How to inspect a marked path.

    ``tree``: the folder and everything below it; ``force``: re-index unchanged files too; ``now`` skips the settling;
    no search waits for a ``background`` entry; ``from_event``: the operating system reported it; ``rest_s``: seconds
    before the entry is taken, unless a search waits for it or the path is marked again with a shorter rest;
    ``progress`` counts the outcomes.
    """

    tree: bool = False
    force: bool = False
    background: bool = False
    now: bool = False
    from_event: bool = False
    rest_s: float = 0.0
    progress: RunProgress | None = None


CHANGED = Mark()


def intersects(key: Key, scope: Scope) -> bool:
    """Return True if ``key`` lies at, below or above a key of ``scope``."""
    return meeting(scope)(key)


def meeting(scope: Scope) -> Callable[[Key], bool]:
    """Return ``intersects`` for one scope and many keys."""
    if scope is None:
        return lambda _key: True
    places: dict[int, list[bytes]] = {}  # the topmost of each root, in order
    for root, place in sorted((root, path and path + b"/") for root, path in scope):
        of_root = places.setdefault(root, [])
        if not of_root or not place.startswith(of_root[-1]):
            of_root.append(place)

    def meets(key: Key) -> bool:
        root, path = key
        of_root, place = places.get(root, ()), path and path + b"/"
        after = bisect_right(of_root, place)  # in this order, what lies above or below ``place`` is next to it
        is_below = after > 0 and place.startswith(of_root[after - 1])
        return is_below or (after < len(of_root) and of_root[after].startswith(place))

    return meets


class Backlog:
    """Any thread marks paths; one worker takes entries and reports when each is done."""

    def __init__(self, clock: Callable[[], float], wake: Callable[[], None]) -> None:
        """``clock`` returns monotonic seconds. ``wake`` is called, outside the lock, when an entry may be ready."""
        self._clock = clock
        self._wake = wake
        self._lock = threading.Lock()
        self._seq = itertools.count(1)
        self._order = itertools.count()
        self._waiting: dict[Key, Entry] = {}
        self._in_progress: dict[Key, Entry] = {}
        self._heap: list[tuple[float, int, Entry]] = []
        self._urgent: deque[Entry] = deque()

    def mark(self, key: Key, mark: Mark = CHANGED) -> None:
        """Record that ``key`` may have changed."""
        tree, force, background, now, from_event, rest_s, progress = mark
        at = self._clock()
        with self._lock:
            entry = self._waiting.get(key)
            fresh = entry is None
            if entry is None:
                entry = Entry(key, next(self._seq), at)
                entry.background = background
                entry.rest_until = at + rest_s
                self._waiting[key] = entry
                heapq.heappush(self._heap, (at if now else entry.ready_at, next(self._order), entry))
            elif at + rest_s < entry.rest_until:
                entry.rest_until = at + rest_s
                heapq.heappush(self._heap, (entry.ready_at, next(self._order), entry))
            if not now:  # a request to inspect the path now is not a change of it
                entry.last_at = at
            entry.tree = entry.tree or tree
            entry.force = entry.force or force
            entry.from_event = entry.from_event or from_event
            entry.background = entry.background and background
            entry.progress = progress or entry.progress
            is_news = fresh or (now and not entry.is_urgent)
            if now:
                self._hurry(entry)
        if is_news:
            self._wake()

    def mark_twin(self, key: Key, of: Entry | None = None) -> None:
        """Mark another name of a file, as ``mark_for`` does."""
        self.mark_for(key, of, is_twin=True)

    def mark_for(self, key: Key, of: Entry | None, *, tree: bool = False, is_twin: bool = False) -> None:
        """Mark a path. The searches that wait for ``of``, which is in progress, wait for it too."""
        self.mark(key, Mark(tree=tree, now=of is None or of.is_awaited))
        with self._lock:
            entry = self._waiting.get(key)
            if entry is None:  # the worker has taken it already
                return
            entry.is_twin = entry.is_twin or is_twin
            for waiter in of.waiters if of is not None else ():
                if waiter not in entry.waiters:
                    entry.add(waiter)
                    waiter.left += 1

    def is_quiet(self, entry: Entry) -> bool:
        """Return True if the path has not changed for ``SETTLE_S``."""
        return self._clock() >= entry.last_at + SETTLE_S

    def defer(self, entry: Entry, key: Key, *, quiet_since: float | None = None) -> bool:
        """Inspect ``key`` again once it settles: ``entry`` found it empty or gone, so it may be being saved.

        Return False, and do nothing, if a search waits for the entry: then the result counts as it is.
        ``quiet_since``: time of the last change, on the injected clock; None: now.
        """
        at = self._clock()
        with self._lock:
            if entry.is_awaited:
                return False
            if key not in self._waiting:
                again = self._waiting[key] = Entry(key, next(self._seq), at)
                again.last_at = at if quiet_since is None else quiet_since
                again.background = entry.background
                heapq.heappush(self._heap, (again.ready_at, next(self._order), again))
        self._wake()
        return True

    def take(self, limit: int, busy: Callable[[Key], bool]) -> list[Entry]:
        """Take up to ``limit`` due entries, those that a search waits for first. ``busy(key)``: not to be taken yet."""
        at = self._clock()
        taken: list[Entry] = []
        with self._lock:
            passed: list[Entry] = []
            while self._urgent and len(taken) < limit:
                entry = self._urgent.popleft()
                if not self._grab(entry, busy, taken):
                    passed.append(entry)
            self._urgent.extendleft(reversed(passed))
            later: list[tuple[float, int, Entry]] = []
            while self._heap and len(taken) < limit and self._heap[0][0] <= at:
                _, order, entry = heapq.heappop(self._heap)
                if entry.taken:
                    continue
                if entry.ready_at > at and not entry.is_awaited:
                    heapq.heappush(self._heap, (entry.ready_at, order, entry))
                elif not self._grab(entry, busy, taken):
                    later.append((at + SETTLE_S, order, entry))
            for item in later:
                heapq.heappush(self._heap, item)
        return taken

    def _grab(self, entry: Entry, busy: Callable[[Key], bool], taken: list[Entry]) -> bool:
        """Take the entry, or leave it to ``done`` of the one before it. Return False if it is to be tried again."""
        if entry.taken:
            return True
        if entry.key in self._in_progress:
            entry.is_blocked = True
            return True
        if busy(entry.key):
            return False
        entry.taken = True
        del self._waiting[entry.key]
        self._in_progress[entry.key] = entry
        taken.append(entry)
        return True

    def _hurry(self, entry: Entry) -> None:
        """Have the entry taken before others. Each search that waits for thousands of entries calls it for all."""
        if not entry.is_urgent:
            entry.is_urgent = True
            if not entry.is_blocked:
                self._urgent.append(entry)

    def _unblock(self, key: Key) -> None:
        entry = self._waiting.get(key)
        if entry is not None and entry.is_blocked:
            entry.is_blocked = False
            heapq.heappush(self._heap, (entry.ready_at, next(self._order), entry))
            if entry.is_urgent:
                self._urgent.append(entry)

    def done(self, entries: Iterable[Entry]) -> None:
        """Release the searches that waited for these committed entries, and allow later marks to be taken."""
        finished = list(entries)
        with self._lock:
            for entry in finished:
                self._in_progress.pop(entry.key, None)
                self._unblock(entry.key)
            released = self._released(finished)
            again = bool(self._urgent)
        for waiter in released:
            waiter.on_done()
        if again:
            self._wake()

    def requeue_taken(self) -> None:
        """Put every taken entry back, with its waiters: the worker will not finish them."""
        at = self._clock()
        with self._lock:
            for key, entry in self._in_progress.items():
                again = self._waiting.get(key)
                if again is None:
                    again = self._waiting[key] = Entry(key, entry.first_seq, entry.first_at)
                    again.background = entry.background
                again.tree = again.tree or entry.tree
                again.force = again.force or entry.force
                again.background = again.background and entry.background
                again.progress = again.progress or entry.progress
                again.wanted = again.wanted or entry.wanted
                for waiter in entry.waiters:
                    if waiter in again.waiters:
                        waiter.left -= 1  # it waited for both entries, which are now one
                    else:
                        again.add(waiter)
                entry.waiters = []
                heapq.heappush(self._heap, (at, next(self._order), again))
                again.is_blocked = False
                if again.is_awaited or again.is_urgent:
                    again.is_urgent = True
                    self._urgent.append(again)
            self._in_progress.clear()
        self._wake()

    @staticmethod
    def _released(entries: list[Entry]) -> list[Waiter]:
        released: list[Waiter] = []
        for entry in entries:
            for waiter in entry.waiters:
                waiter.left -= 1
                if waiter.left == 0:
                    released.append(waiter)
            entry.waiters = []
        return released

    def wait(
        self,
        scope: Scope,
        on_done: Callable[[], None],
        *,
        skip_roots: frozenset[int] = frozenset(),
        background: bool = False,
    ) -> Waiter:
        """Wait for every path marked so far inside ``scope``; ``on_done`` runs at once if there is none.

        ``background``: wait for first indexing and reconciling too.
        """
        meets = meeting(scope)
        waiter = Waiter(on_done, None if scope is None or background else meets)
        with self._lock:
            for entry in itertools.chain(self._waiting.values(), self._in_progress.values()):
                if (entry.background and not background) or entry.key[0] in skip_roots or not meets(entry.reach):
                    continue
                waiter.left += 1
                entry.add(waiter)
                entry.wanted = True
                if not entry.taken:
                    self._hurry(entry)
                    before = self._in_progress.get(entry.key)  # it must be done first
                    if before is not None:
                        before.wanted = True
            nothing = waiter.left == 0
        if nothing:
            on_done()
        else:
            self._wake()
        return waiter

    def has_scoped_waiter(self, entry: Entry) -> bool:
        with self._lock:
            return any(waiter.is_scoped for waiter in entry.waiters)

    def release_outside(self, entry: Entry, keys: Collection[Key]) -> None:
        """Release the searches from ``entry`` in whose scope none of ``keys`` lies: all else of it is committed."""
        with self._lock:
            free = {waiter for waiter in entry.waiters if waiter.is_scoped and not waiter.waits_for(keys)}
            entry.waiters = [waiter for waiter in entry.waiters if waiter not in free]
            for waiter in free:
                waiter.left -= 1
            released = [waiter for waiter in free if waiter.left == 0]
        for waiter in released:
            waiter.on_done()

    def parted(self, scope: Scope) -> tuple[list[Entry], list[Key]]:
        """Return what is marked and not yet committed: the entries inside ``scope``, and the single paths elsewhere."""
        meets = meeting(scope)
        with self._lock:
            entries = [*self._waiting.values(), *self._in_progress.values()]
        inside = [entry for entry in entries if meets(entry.reach)]
        return inside, [entry.key for entry in entries if not entry.tree and not meets(entry.reach)]

    def left(self, waiter: Waiter) -> list[Entry]:
        """Return the entries that the waiter still waits for."""
        with self._lock:
            entries = itertools.chain(self._waiting.values(), self._in_progress.values())
            return [entry for entry in entries if waiter in entry.waiters]

    def forget(self, waiter: Waiter) -> None:
        """Release a waiter that gave up. Its entries may be many: they drop it later."""
        with self._lock:
            waiter.left = inf

    def next_at(self) -> float | None:
        """Return the time at which the next entry settles, on the injected clock; None if there is no entry."""
        with self._lock:
            if self._urgent:
                return self._clock()
            while self._heap and self._heap[0][2].taken:
                heapq.heappop(self._heap)
            return self._heap[0][0] if self._heap else None

    def pending(self, scope: Scope = None, also: Collection[Key] = ()) -> int:
        """Return the number of marked paths inside ``scope`` that are not yet committed, and of other paths.

        ``also``: those other paths. A path counts once, also while it is marked again during its work.
        """
        with self._lock:
            others = sum(1 for key in also if key not in self._waiting and key not in self._in_progress)
            if scope is None:  # fast path: every search that does not wait calls this
                again = sum(1 for key in self._in_progress if key in self._waiting)
                return len(self._waiting) + len(self._in_progress) - again + others
            first = (entry for key, entry in self._in_progress.items() if key not in self._waiting)
            entries = itertools.chain(self._waiting.values(), first)
            return others + sum(map(meeting(scope), (entry.reach for entry in entries)))

    def pending_keys(self) -> set[Key]:
        """Return all marked paths that are not yet committed."""
        with self._lock:
            return {*self._waiting, *self._in_progress}

    def moved(self, entry: Entry) -> None:
        """Record that the work on ``entry`` makes progress."""
        entry.moved_at = self._clock()

    def older_than(self, seconds: float, *, unmoved: bool = False) -> list[Entry]:
        """Return the entries that are due for longer than ``seconds``; ``unmoved``: without progress for so long."""
        if not (self._waiting or self._in_progress):
            return []  # as for almost every answer
        limit = self._clock() - seconds
        with self._lock:
            found = [
                entry
                for entry in itertools.chain(self._waiting.values(), self._in_progress.values())
                if max(entry.first_at, entry.rest_until) < limit
            ]
            if not unmoved:
                return found
            # An entry waits for the one of the same path that is in progress.
            return [entry for entry in found if self._in_progress.get(entry.key, entry).moved_at < limit]

    def drop_root(self, root_id: int) -> None:
        """Drop the waiting entries of a root that is no longer watched; entries already taken finish on their own."""
        with self._lock:
            gone = [entry for key, entry in self._waiting.items() if key[0] == root_id]
            for entry in gone:
                entry.taken = True
                del self._waiting[entry.key]
            released = self._released(gone)
        for waiter in released:
            waiter.on_done()
