"""One marked path of the backlog, and a search that waits for some of them.

Invariant: only the backlog changes an entry's place in its queues, under its lock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import inf

from livedex_daemon.watch.run_progress import RunProgress
from livedex_indexing.ignore import rules

SETTLE_S = 0.05  # a path is inspected after this long without a change,
SETTLE_MAX_S = 1.0  # or this long after its first mark, even if it keeps changing
FEW_WAITERS = 8  # among so many, nobody looks for those that gave up

Key = tuple[int, bytes]  # root id, path relative to the root (b"" is the root itself)


class Entry:
    """One marked path. ``tree``: the folder and everything below it; ``force``: re-index unchanged files too.

    ``reach``: the key from which down its change may matter: an ignore file decides about its whole folder.
    """

    __slots__ = (
        "_drop_at",
        "background",
        "first_at",
        "first_seq",
        "force",
        "from_event",
        "is_blocked",
        "is_twin",
        "is_urgent",
        "key",
        "last_at",
        "moved_at",
        "progress",
        "reach",
        "rest_until",
        "taken",
        "tree",
        "waiters",
        "wanted",
        "works",
    )

    def __init__(self, key: Key, seq: int, now: float) -> None:
        self.key = key
        self.reach = (key[0], rules.reach(key[1]))
        self.first_seq = seq
        self.first_at = now
        self.last_at = now
        self.moved_at = now  # when the work on it last made progress
        self.rest_until = 0.0
        self.tree = False
        self.force = False
        self.background = False
        self.from_event = False  # the operating system reported it
        self.is_twin = False  # marked as another name of a file
        self.is_urgent = False  # a search waits for it, or somebody wants it now
        self.is_blocked = False  # in no queue: the entry of the same path that is in progress must be done first
        self.taken = False
        self.progress: RunProgress | None = None
        self.wanted = False  # someone asked for it, now or before: it does not wait for mains power
        self.works = 0  # units of work that the worker must finish before the entry is done
        self.waiters: list[Waiter] = []  # those that gave up among them, until `add` drops them
        self._drop_at = FEW_WAITERS

    @property
    def is_awaited(self) -> bool:
        return any(waiter.left < inf for waiter in self.waiters)

    def add(self, waiter: Waiter) -> None:
        """Let a search wait for the entry. Those that gave up are dropped when they may be half of all."""
        if len(self.waiters) >= self._drop_at:
            self.waiters = [each for each in self.waiters if each.left < inf]
            self._drop_at = max(FEW_WAITERS, 2 * len(self.waiters))
        self.waiters.append(waiter)

    @property
    def ready_at(self) -> float:
        return max(min(self.last_at + SETTLE_S, self.first_at + SETTLE_MAX_S), self.rest_until)


class Waiter:
    """A search that waits for a scope; ``left`` counts the entries it still waits for: without end if it gave up.

    ``on_done`` is called once, on any thread. ``meets`` says which paths it waits for; None: all that an entry stands
    for.
    """

    __slots__ = ("_blocker", "left", "meets", "on_done")

    def __init__(self, on_done: Callable[[], None], meets: Callable[[Key], bool] | None = None) -> None:
        self.left: float = 0
        self.on_done = on_done
        self.meets = meets
        self._blocker: Key | None = None  # the path that was found last

    @property
    def is_scoped(self) -> bool:
        return self.meets is not None and self.left < inf

    def waits_for(self, keys: Collection[Key]) -> bool:
        """Return True if one of the paths is in its scope. Thousands may be left, and it is asked often."""
        if self.meets is None:
            return True
        if self._blocker not in keys:
            self._blocker = next(filter(self.meets, keys), None)
        return self._blocker is not None
