"""Keeps standing queries up to date: looks at the files that changed, and tells each client what came and what went.

Invariant: what a client was told adds up to what its query holds, as of the last state of the index that it was told
of; only what is committed is told, a client is told at most ten times a second, and no commit waits for it.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import apsw

from livedex_daemon.index_file.index_readers import Serving, Side
from livedex_daemon.subscriptions.answer_diff import Look, Looks, Telling
from livedex_daemon.subscriptions.delivered import Entry, Told
from livedex_daemon.subscriptions.subscription import Dirty, Subscription
from livedex_daemon.watch.root_table import RootTable
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.hits.live_files import LiveFiles
from livedex_indexing.search.standing_hits import StandingHits
from livedex_indexing.search.standing_query import FileKey, Found, StandingQuery, parts_of_all
from livedex_indexing.store.read_pool import Reader
from livedex_ipc.errors import Cancelled, LivedexError, NotFound, Unavailable
from livedex_ipc.server.rpc_server import Call

log = logging.getLogger(__name__)

EVERY_S: Final = 0.1  # between two rounds; while files go on changing this grows …
STORM: Final = 1.5  # … by that factor …
STORM_S: Final = 0.5  # … up to that: rounds cost by their number, and what is indexed is told within a second
ROUND_S: Final = 0.3  # queries that are not told by then come first in the next round
FAILED_S: Final = 1.0
FIRST_S: Final = 30.0  # what the first answer may take, freshness aside
OF_ONE_CONNECTION: Final = 100
IN_ALL: Final = 1_000

_GENERATION = "SELECT value FROM state WHERE name = 'generation'"


class First(NamedTuple):
    """The first answer: the newest hits, and the state of the index that all later changes are told against."""

    hits: list[Hit]
    generation: int


class Standing:
    """``mark`` has a file looked at again, ``mend`` is told that the index could not be read.

    `admit`, `open`, `drop` and `named` belong to the event loop, `changed` and `everything` to any thread.
    """

    def __init__(
        self,
        serving: Serving,
        roots: Callable[[], RootTable],
        rebuilding: Callable[[], bool],
        mark: Callable[[FileKey], None],
        mend: Callable[[Side, Exception], None],
    ) -> None:
        self._serving = serving
        self._roots = roots
        self._rebuilding = rebuilding
        self._mark = mark
        self._mend = mend
        self._numbers = itertools.count(1)
        self._wake = threading.Condition()
        self._subscriptions: dict[int, Subscription] = {}
        self._dirty = Dirty()
        self._ended: list[int] = []
        self._next_at = 0.0
        self._pace_s = EVERY_S
        self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._told: Told | None = None
        self._paths: dict[int, bytes] = {}  # of all roots that anything was told of
        self._thread = threading.Thread(target=self._run, name="standing", daemon=True)

    # -- clients

    def admit(self, call: Call, query: StandingQuery, style: Style) -> Subscription:
        """Takes a query in: from now on no change is missed. Raises Unavailable where there are too many."""
        connection = call.connection_closed
        own = sum(other.connection is connection for other in self._subscriptions.values())
        for count, limit, where in ((own, OF_ONE_CONNECTION, "on this connection"),
                                    (len(self._subscriptions), IN_ALL, "in this daemon")):  # fmt: skip
            if count >= limit:
                remedy = "end one with search/unsubscribe"
                raise Unavailable(f"{limit} standing queries {where}: {remedy}", {"limit": limit, "remedy": remedy})
        subscription = Subscription(next(self._numbers), call, query, style)
        if self._told is None:
            self._told = Told()
            self._thread.start()
        with self._wake:
            self._subscriptions[subscription.id] = subscription
        if not own:
            task = asyncio.get_running_loop().create_task(self._drop_when_closed(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return subscription

    def open(self, subscription: Subscription) -> None:
        """Its first answer is out."""
        with self._wake:
            subscription.open = True
            self._wake.notify()

    def drop(self, subscription: Subscription) -> None:
        """It is told nothing from now on. A second time does nothing."""
        with self._wake:
            subscription.closed = True
            if self._subscriptions.pop(subscription.id, None) is not None:
                self._ended.append(subscription.id)
                self._wake.notify()

    async def _drop_when_closed(self, connection: asyncio.Event) -> None:
        await connection.wait()
        for subscription in list(self._subscriptions.values()):
            if subscription.connection is connection:
                self.drop(subscription)

    def named(self, call: Call, number: int) -> Subscription:
        """The subscription of that number on the caller's connection. Raises NotFound."""
        found = self._subscriptions.get(number)
        if found is None or found.connection is not call.connection_closed:
            raise NotFound(f"no subscription {number} on this connection", {"field": "subscription"})
        return found

    # -- the index

    def changed(self, files: Iterable[FileKey], roots: Iterable[int]) -> None:
        """A commit changed these files, and what is served of these roots."""
        if self._subscriptions:
            with self._wake:
                self._dirty.add(files, roots)
                self._wake.notify()

    def everything(self) -> None:
        """The index was built anew: all that was told is compared with it."""
        if self._told is not None and self._subscriptions:
            self.changed((), {*self._told.roots(), *(root.id for root in self._roots())})

    def stop(self) -> None:
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._told is not None:
            self._thread.join(timeout=5)
            self._told.close()

    # -- the first answer

    def first(self, subscription: Subscription, side: Side, limit: int, cancelled: Callable[[], bool]) -> First:
        """What is in the query now, the newest files first, at most ``limit`` hits of it. Runs in a thread.

        Raises DeadlinePassed, Cancelled, and what reading the index raises.
        """
        assert self._told is not None
        self._told.forget([subscription.id])  # of a first try that failed
        deadline = side.readers.clock() + FIRST_S
        roots = self._served()
        try:
            with side.readers.connection(deadline=deadline, cancelled=cancelled) as reader, reader.snapshot():
                newest, unsure = self._all_of(reader, subscription, roots, limit)
                generation = int(reader.one(_GENERATION))
                maker = StandingHits(reader, subscription.query, roots, subscription.style)
                hits: list[Hit] = []
                for found in newest:
                    made = maker.of(found) if len(hits) < limit else []
                    if made is None:
                        self._told.put(subscription.id, {found.key: None})
                    else:
                        hits += made[: limit - len(hits)]
        finally:
            if subscription.closed:
                self._told.forget([subscription.id])
        self._look_again(subscription, unsure | maker.stale)
        return First(hits, generation)

    def _all_of(
        self, reader: Reader, subscription: Subscription, roots: dict[int, bytes], limit: int
    ) -> tuple[list[Found], set[FileKey]]:
        """Notes all that is in a query as told. The newest ``limit`` files of it, and those that cannot be told."""
        assert self._told is not None
        newest: list[Found] = []
        unsure: set[FileKey] = set()
        for part in parts_of_all(reader):
            live = LiveFiles(roots)
            entries: dict[FileKey, Entry | None] = {}
            for found in subscription.query.found(reader, part, roots, live, unsure):
                entries[found.key] = Entry.of(found)
                newest.append(found)
            self._told.put(subscription.id, entries)
            newest = sorted(newest, key=_newest_first)[:limit]
        return newest, unsure

    def _served(self) -> dict[int, bytes]:
        roots = {root.id: root.path for root in self._roots()}
        self._paths |= roots
        return roots

    def _look_again(self, subscription: Subscription, files: set[FileKey]) -> None:
        for key in files:
            self._mark(key)
        with self._wake:
            subscription.doubt(files, time.monotonic())
            self._wake.notify()

    # -- the thread

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._stopping and (pause := self._pause()) != 0:
                    self._wake.wait(pause)
                if self._stopping:
                    return
                ended, self._ended = self._ended, []
            began = time.monotonic()
            calm = began > self._next_at + STORM_S
            self._pace_s = EVERY_S if calm else min(STORM * self._pace_s, STORM_S)
            self._next_at = began + max(self._pace_s, self._round(ended))

    def _pause(self) -> float | None:
        """Seconds until there is something to do, None while there is nothing."""
        now = time.monotonic()
        if self._ended:
            return 0
        whole = not self._rebuilding()
        ready = [subscription for subscription in self._subscriptions.values() if subscription.open]
        if self._dirty.files or (self._dirty.roots and whole) or any(_is_owed(each, whole) for each in ready):
            return max(0.0, self._next_at - now)
        retries = [subscription.retry_at for subscription in ready if subscription.retry_at < float("inf")]
        return max(0.0, min(retries) - now, self._next_at - now) if retries else None

    def _round(self, ended: list[int]) -> float:
        """Tells clients what changed; returns how long to rest at least, in seconds."""
        assert self._told is not None
        with self._wake:
            dirty = self._dirty.take()
            subscriptions = list(self._subscriptions.values())
            if self._rebuilding():  # of a half-built index nothing can be said to be missing
                self._dirty.roots, dirty.roots = dirty.roots, set()
        side = self._serving.side
        try:
            if ended:
                self._told.forget(ended)
            self._tell_all(side, dirty, subscriptions)
        except Cancelled:
            return 0.0
        except (LivedexError, apsw.Error) as error:
            log.warning("standing_waits", extra={"error": type(error).__name__})
            self._mend(side, error)
        except Exception:
            log.exception("standing_failed")
        else:
            return 0.0
        with self._wake:
            self._dirty.merge(dirty)
        return FAILED_S

    def _tell_all(self, side: Side, dirty: Dirty, subscriptions: list[Subscription]) -> None:
        assert self._told is not None
        now = time.monotonic()
        for subscription in subscriptions:
            subscription.retry(now)
            if subscription.owed or not subscription.open or subscription.call.behind:
                subscription.owe(dirty.files, dirty.roots, now)
        roots = self._served()
        with side.readers.connection(cancelled=lambda: self._stopping) as reader, reader.snapshot():
            generation = int(reader.one(_GENERATION))
            telling = Telling(reader, self._told, roots, self._paths, generation)
            looks = Looks(reader, self._told)
            for subscription in sorted(subscriptions, key=lambda each: each.turn(now)):
                if not subscription.open or subscription.closed:
                    continue
                if subscription.call.behind or time.monotonic() > now + ROUND_S:
                    if not subscription.owed:
                        subscription.owe(dirty.files, dirty.roots, now)
                    continue
                due = self._owed_now(subscription) if subscription.owed else dirty
                if due:
                    self._tell(telling, subscription, looks.at(due))

    def _owed_now(self, subscription: Subscription) -> Dirty:
        taken = subscription.owed.take()
        if self._rebuilding():
            subscription.owed.roots, taken.roots = taken.roots, set()
        return taken

    def _tell(self, telling: Telling, subscription: Subscription, look: Look) -> None:
        began = time.monotonic()
        try:
            left, stale = telling.tell(subscription, look)
        except BaseException:
            subscription.owe(look.dirty.files, look.dirty.roots, began)
            raise
        subscription.took_s = time.monotonic() - began
        subscription.owe(left, (), began)
        if stale:
            self._look_again(subscription, stale)
        else:
            subscription.settled()


def _is_owed(subscription: Subscription, whole: bool) -> bool:
    return bool(subscription.owed.files or (subscription.owed.roots and whole))


def _newest_first(found: Found) -> tuple[int, int, bytes]:
    return -found.copy.state.mtime_ns, *found.key
