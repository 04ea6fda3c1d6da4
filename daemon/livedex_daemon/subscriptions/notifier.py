"""Keeps standing queries up to date: checks changed files and sends each client the hits added and removed.

Invariant: the messages to a client add up to the answer of its query, as of the last generation sent. Only committed
changes are sent, at most ten times a second, and no commit waits for them.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import takewhile
from typing import Final, NamedTuple

import apsw

from livedex_daemon.index_file.index_readers import IndexReaders, ReadHandle
from livedex_daemon.process.supervision import SupervisedThread
from livedex_daemon.subscriptions.answer_diff import AnswerDiff, ChangeSet, ChangeSets
from livedex_daemon.subscriptions.delivered import DeliveredFile, DeliveredState
from livedex_daemon.subscriptions.round_pace import RoundPace
from livedex_daemon.subscriptions.subscription import Dirty, Subscription
from livedex_daemon.watch.backlog import Backlog, Mark
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_indexing.hits.document_texts import DocumentTexts
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.hits.live_files import LiveFiles, Stale
from livedex_indexing.hits.text_budget import TextBudget
from livedex_indexing.search.standing_hits import StandingHits
from livedex_indexing.search.standing_query import FileKey, Found, StandingQuery, parts_of_all
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import GENERATION
from livedex_ipc.errors import Cancelled, LivedexError, NotFound, Unavailable
from livedex_ipc.server.rpc_server import Call

log = logging.getLogger(__name__)

STORM_MAX_S: Final = 0.2  # between two cheap rounds: a save right after another is still sent within 300 ms
COSTLY_MAX_S: Final = 0.5  # between two costly ones: fewer cost less, and changes are still sent within a second
COST_FACTOR: Final = 10  # a round's time, to the least pause after it
ROUND_MAX_S: Final = 0.3  # queries not reached by then come first in the next round
RETRY_AFTER_FAULT_S: Final = 1.0
MAX_PER_CONNECTION: Final = 100
MAX_TOTAL: Final = 1_000


class FirstAnswer(NamedTuple):
    """The first answer: the newest hits, and the generation that all later changes start from.

    ``stale`` names the files that had changed or could not be read: they are sent once they are indexed again.
    """

    hits: list[Hit]
    generation: int
    stale: Stale


class ChangeNotifier:
    """Tells the subscriptions of each commit. A file that changed again is marked in the backlog; an index that cannot
    be read is reported to its readers.

    Call ``subscribe``, ``open``, ``drop`` and ``find`` on the event loop, ``changed`` and ``mark_all_changed`` on any
    thread.
    """

    def __init__(
        self,
        readers: IndexReaders,
        roots: Roots,
        store_health: StoreHealth,
        backlog: Backlog,
        could_not_read: Callable[[dict[FileKey, int]], None],
    ) -> None:
        """``could_not_read`` takes note of files that exist but could not be read: file to errno. Any thread may call
        it."""
        self._readers = readers
        self._roots = roots
        self._store_health = store_health
        self._backlog = backlog
        self._could_not_read = could_not_read
        self._numbers = itertools.count(1)
        self._wake = threading.Condition()
        self._subscriptions: dict[int, Subscription] = {}
        self._dirty = Dirty()
        self._closed: list[int] = []
        self._pace = RoundPace(STORM_MAX_S)
        self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._delivered: DeliveredState | None = None
        self._known_paths: dict[int, bytes] = {}  # every root that was ever served
        self.thread = SupervisedThread("standing", self._run, recover=self.mark_all_changed)

    # -- clients

    def subscribe(self, call: Call, query: StandingQuery, style: Style) -> Subscription:
        """Add a query: from now on no change is missed. Raises Unavailable if there are too many."""
        connection = call.connection_closed
        own = sum(other.connection is connection for other in self._subscriptions.values())
        for count, limit, where in ((own, MAX_PER_CONNECTION, "on this connection"),
                                    (len(self._subscriptions), MAX_TOTAL, "in this daemon")):  # fmt: skip
            if count >= limit:
                remedy = "end one with search/unsubscribe"
                raise Unavailable(f"{limit} standing queries {where}: {remedy}", {"limit": limit, "remedy": remedy})
        subscription = Subscription(next(self._numbers), call, query, style)
        if self._delivered is None:
            self._delivered = DeliveredState()
            self.thread.start()
        with self._wake:
            self._subscriptions[subscription.id] = subscription
        if not own:
            task = asyncio.get_running_loop().create_task(self._drop_when_closed(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return subscription

    def open(self, subscription: Subscription) -> None:
        """Send changes from now on: the first answer was sent."""
        with self._wake:
            subscription.open = True
            self._wake.notify()

    def mark_fresh(self, subscription: Subscription) -> None:
        """Tell the client that its answer is fresh, after the changes that ``changed`` knows of."""
        with self._wake:
            subscription.became_fresh = True
            self._wake.notify()

    def drop(self, subscription: Subscription) -> None:
        """Send nothing from now on. A second call does nothing."""
        with self._wake:
            subscription.closed = True
            if self._subscriptions.pop(subscription.id, None) is not None:
                self._closed.append(subscription.id)
                self._wake.notify()

    async def _drop_when_closed(self, connection: asyncio.Event) -> None:
        await connection.wait()
        for subscription in list(self._subscriptions.values()):
            if subscription.connection is connection:
                self.drop(subscription)

    def find(self, call: Call, number: int) -> Subscription:
        """Return the subscription with that number on the caller's connection. Raises NotFound."""
        found = self._subscriptions.get(number)
        if found is None or found.connection is not call.connection_closed:
            raise NotFound(f"no subscription {number} on this connection", {"field": "subscription"})
        return found

    @property
    def subscribed(self) -> bool:
        """Whether a client waits for changes."""
        return bool(self._subscriptions)

    # -- the index

    def changed(self, files: Iterable[FileKey], roots: Iterable[int]) -> None:
        """Note that a commit changed these files, and possibly every file of these roots."""
        if self._subscriptions:
            with self._wake:
                self._dirty.add(files, roots)
                self._wake.notify()

    def mark_all_changed(self) -> None:
        """Compare everything that was delivered with the index: it was rebuilt."""
        if self._delivered is not None and self._subscriptions:
            self.changed((), {*self._delivered.roots(), *(root.id for root in self._roots)})

    def stop(self, timeout_s: float = 5.0) -> None:
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._delivered is not None and self.thread.end(timeout_s):
            self._delivered.close()

    # -- the first answer

    def first(
        self,
        subscription: Subscription,
        handle: ReadHandle,
        limit: int,
        *,
        deadline: float,
        cancelled: Callable[[], bool],
    ) -> FirstAnswer:
        """Return the hits of the query now, the newest files first, at most ``limit``. Runs in a thread.

        ``deadline``: on the readers' clock. Raises DeadlinePassed, Cancelled, and the errors of reading the index.
        """
        assert self._delivered is not None
        self._delivered.forget([subscription.id])  # remains of a first try that failed
        roots = self._root_paths()
        try:
            with handle.readers.connection(deadline=deadline, cancelled=cancelled) as reader, reader.snapshot():
                newest, stale = self._record_all(reader, subscription, roots, limit)
                generation = int(reader.one(GENERATION))
                maker = StandingHits(reader, subscription.query, roots, subscription.style)
                hits: list[Hit] = []
                budget = TextBudget(None)
                for found in newest:
                    made = maker.of(found) if len(hits) < limit else []
                    if made is None:
                        self._delivered.put(subscription.id, {found.key: None})
                    else:
                        fitting = list(takewhile(lambda hit: budget.take(hit) is not None, made[: limit - len(hits)]))
                        hits += fitting
                        limit = limit if len(fitting) == len(made) else len(hits)
        finally:
            if subscription.closed:
                self._delivered.forget([subscription.id])
        stale.merge(maker.stale)
        self._check_again(subscription, set(stale))
        return FirstAnswer(hits, generation, stale)

    def _record_all(
        self, reader: Reader, subscription: Subscription, roots: dict[int, bytes], limit: int
    ) -> tuple[list[Found], Stale]:
        """Record all matches as delivered. Return the newest ``limit`` files, and those whose state is unknown now."""
        assert self._delivered is not None
        newest: list[Found] = []
        unstable: set[FileKey] = set()
        stale = Stale()
        for part in parts_of_all(reader):
            live = LiveFiles(roots, DocumentTexts(reader))
            entries: dict[FileKey, DeliveredFile | None] = {}
            for found in subscription.query.found(reader, part, roots, live, unstable):
                entries[found.key] = DeliveredFile.of(found)
                newest.append(found)
            self._delivered.put(subscription.id, entries)
            newest = sorted(newest, key=_newest_first)[:limit]
            stale.merge(live.stale)
        for key in unstable:
            stale.setdefault(key, False)
        return newest, stale

    def _root_paths(self) -> dict[int, bytes]:
        roots = self._roots.paths()
        self._known_paths |= roots
        return roots

    def _check_again(self, subscription: Subscription, files: set[FileKey]) -> None:
        for key in files:
            self._backlog.mark(key, Mark(now=True))
        with self._wake:
            subscription.retry_later(files, time.monotonic())
            self._wake.notify()

    # -- the thread

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._stopping and (pause := self._pause()) != 0:
                    self._wake.wait(pause)
                if self._stopping:
                    return
                ended, self._closed = self._closed, []
            self._pace.run(partial(self._round, ended))

    def _pause(self) -> float | None:
        """Return the seconds until there is something to do; None if there is nothing."""
        now = time.monotonic()
        if self._closed:
            return 0
        whole = not self._store_health.rebuilding
        ready = [subscription for subscription in self._subscriptions.values() if subscription.open]
        if self._dirty.files or (self._dirty.roots and whole) or any(_has_work(each, whole) for each in ready):
            return max(0.0, self._pace.next_at - now)
        retries = [subscription.retry_at for subscription in ready if subscription.retry_at < float("inf")]
        return max(0.0, min(retries) - now, self._pace.next_at - now) if retries else None

    def _round(self, ended: list[int]) -> float:
        """Send the changes; return the least pause before the next round, in seconds."""
        assert self._delivered is not None
        began = time.monotonic()
        with self._wake:
            dirty = self._dirty.take()
            subscriptions = list(self._subscriptions.values())
            fresh = {each.id for each in subscriptions if each.became_fresh}  # by the changes taken here
            if self._store_health.rebuilding:  # in a half-built index no file is known to be missing
                self._dirty.roots, dirty.roots = dirty.roots, set()
        handle = self._readers.current
        try:
            if ended:
                self._delivered.forget(ended)
            self._notify_all(handle, dirty, subscriptions, fresh)
        except Cancelled:
            return 0.0
        except (LivedexError, apsw.Error) as error:
            log.warning("standing_waits", extra={"error": type(error).__name__})
            self._readers.report(handle, error)
        except Exception:
            log.exception("standing_failed")
        else:
            return min(COSTLY_MAX_S, COST_FACTOR * (time.monotonic() - began))
        with self._wake:
            self._dirty.merge(dirty)
        return RETRY_AFTER_FAULT_S

    def _notify_all(self, handle: ReadHandle, dirty: Dirty, subscriptions: list[Subscription], fresh: set[int]) -> None:
        assert self._delivered is not None
        now = time.monotonic()
        for subscription in subscriptions:
            subscription.retry(now)
            if subscription.pending or not subscription.open or subscription.call.behind:
                subscription.add_pending(dirty.files, dirty.roots, now)
        roots = self._root_paths()
        with handle.readers.connection(cancelled=lambda: self._stopping) as reader, reader.snapshot():
            generation = int(reader.one(GENERATION))
            diff = AnswerDiff(reader, self._delivered, roots, self._known_paths, generation)
            change_sets = ChangeSets(reader, self._delivered)
            for subscription in sorted(subscriptions, key=lambda each: each.due_order(now)):
                if not subscription.open or subscription.closed:
                    continue
                if subscription.call.behind or time.monotonic() > now + ROUND_MAX_S:
                    if not subscription.pending:
                        subscription.add_pending(dirty.files, dirty.roots, now)
                    continue
                due = self._take_pending(subscription) if subscription.pending else dirty
                if due:
                    self._notify(diff, subscription, change_sets.at(due))
                if subscription.id in fresh and subscription.compared:
                    diff.notify_fresh(subscription)
                    subscription.became_fresh = False

    def _take_pending(self, subscription: Subscription) -> Dirty:
        taken = subscription.pending.take()
        if self._store_health.rebuilding:
            subscription.pending.roots, taken.roots = taken.roots, set()
        return taken

    def _notify(self, diff: AnswerDiff, subscription: Subscription, changes: ChangeSet) -> None:
        began = time.monotonic()
        try:
            left, stale = diff.notify(subscription, changes)
        except BaseException:
            subscription.add_pending(changes.dirty.files, changes.dirty.roots, began)
            raise
        subscription.notify_s = time.monotonic() - began
        subscription.add_pending(left, (), began)
        if stale.unreadable:
            self._could_not_read(stale.unreadable)
        if stale:
            self._check_again(subscription, set(stale))
        else:
            subscription.settled()


def _has_work(subscription: Subscription, whole: bool) -> bool:
    pending = subscription.pending.files or (subscription.pending.roots and whole)
    return bool(pending) or (subscription.became_fresh and subscription.compared)


def _newest_first(found: Found) -> tuple[int, int, bytes]:
    return -found.copy.state.mtime_ns, *found.key
