"""Publishes a message of the exchange for each new content that matches a standing query of the configuration.

Invariant: a content that the index still has in the next round is published once for a query, also across restarts, and
no content is that was in a root when its first index was complete, or when the query was first configured. No commit
waits for this thread.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Final, NamedTuple

import apsw

from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.config.settings import StandingConfig
from livedex_daemon.exchange.standing_reports import Left, StandingReports
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.precious.precious_database import DatabaseUnusable
from livedex_daemon.process.supervision import SupervisedThread
from livedex_daemon.subscriptions.configured_query import ConfiguredQuery
from livedex_daemon.subscriptions.new_contents import IndexState, NewContents
from livedex_daemon.subscriptions.round_pace import RoundPace
from livedex_daemon.subscriptions.subscription import Dirty
from livedex_daemon.watch.backlog import Backlog, Mark
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_indexing.hits.document_texts import DocumentTexts
from livedex_indexing.hits.live_files import LiveFiles
from livedex_indexing.search.standing_query import FileKey, content_hashes, parts_of_all, waiting_files
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import GENERATION
from livedex_ipc.errors import Cancelled, LivedexError

log = logging.getLogger(__name__)

STORM_MAX_S: Final = 1.0  # between two rounds, while files keep changing
RETRY_AFTER_FAULT_S: Final = 2.0
TURN_S: Final = 10.0  # for the turn of the writing thread that is under way
LOOK_S: Final = 1.0  # while the first index of a root is under way
LOOK_AT_ABSENT_S: Final = 30.0
IDLE_S: Final = 2.0  # before the file is closed: its log begins anew, if it was cut short, once nobody has it open


class Sources(NamedTuple):
    """What the queries are compared with. ``between_turns`` runs an action on the thread that writes the index.

    ``could_not_read`` takes note of files that exist but could not be read; ``published`` is called after a message.
    """

    readers: IndexReaders
    roots: Roots
    store_health: StoreHealth
    backlog: Backlog
    between_turns: Callable[[Callable[[], None]], Future[None]]
    could_not_read: Callable[[dict[FileKey, int]], None]
    published: Callable[[], None]


class StandingMessages:
    """Call ``use``, ``changed`` and ``all_changed`` on any thread, ``stop`` at the end."""

    def __init__(self, sources: Sources, exchange_path: str, current: CurrentConfig) -> None:
        self._sources = sources
        self._roots = sources.roots
        self._path = exchange_path
        self._current = current
        self._wake = threading.Condition()
        self._queries: list[ConfiguredQuery] = []
        self._root_paths: frozenset[bytes] | None = frozenset()  # of the configuration; None: not known now
        self._left = Left()  # it, until that is noted
        self._must_keep = False  # the exchange does not know yet which queries and roots there are
        self._fault: str | None = None
        self._pace = RoundPace(STORM_MAX_S)
        self._stopping = False
        self._is_started = False
        self._reports: StandingReports | None = None  # of the thread alone
        self.thread = SupervisedThread("standing_messages", self._run, recover=self._check_all)

    def use(self, queries: Sequence[StandingConfig], root_paths: frozenset[bytes] | None) -> None:
        """Publish for these queries from now on. ``root_paths``: of the configured roots, None if not known now."""
        with self._wake:
            former = {each.config: each for each in self._queries}
            self._queries = [former.get(each) or ConfiguredQuery(each) for each in queries]
            left = (self._root_paths or frozenset()) - root_paths if root_paths is not None else frozenset()
            for each in self._queries:
                each.known -= left
            self._left = Left(self._left.queries | (former.keys() - set(queries)), self._left.roots | left)
            self._root_paths = root_paths
            self._must_keep = True
            self._begin_complete()
            self._wake.notify()
        if not self._is_started and (queries or os.path.exists(self._path)):
            self._is_started = True
            self.thread.start()

    def changed(self, files: Mapping[FileKey, bytes | None], roots: Iterable[int]) -> None:
        """Note that a commit changed these files, and possibly every file of these roots. ``files``: each with the hash
        of the bytes that it had before; None: none was known."""
        if self._queries:
            whole = list(roots)
            with self._wake:
                self._begin_complete()
                for each in self._queries:
                    each.changed(self._roots, files, whole, time.monotonic())
                self._wake.notify()

    def all_changed(self) -> None:
        """Compare everything: the index was rebuilt."""
        with self._wake:
            for each in self._queries:
                each.start_over(self._roots, time.monotonic())
            self._wake.notify()

    def faults(self) -> list[tuple[str, str]]:
        """Return the queries that cannot publish now, and why."""
        queries = list(self._queries)
        if self._fault is not None:
            return [(each.config.query, self._fault) for each in queries]
        return [(each.config.query, each.fault) for each in queries if each.fault is not None]

    def stop(self, timeout_s: float) -> None:
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._is_started:
            self.thread.end(timeout_s)

    # -- the thread

    def _run(self) -> None:
        try:
            while self._waits_for_work():
                self._pace.run(self._round)
        finally:
            self._release()

    def _waits_for_work(self) -> bool:
        """Return True once there is something to do; False at the end."""
        while True:
            with self._wake:
                if self._stopping:
                    return False
                pause = self._pause()
                if pause == 0:
                    return True
                is_idle = self._reports is not None and (pause is None or pause > IDLE_S)
                if self._wake.wait(IDLE_S if is_idle else pause) or not is_idle:
                    continue
            self._release()  # no commit waits for this

    def _release(self) -> None:
        if self._reports is not None:
            self._reports.close()
            self._reports = None

    def _begin_complete(self) -> None:
        """Note which roots are complete: what is committed from now on is news. Call with the lock held."""
        if not self._sources.store_health.rebuilding:
            for root in self._roots:
                for each in self._queries:
                    each.begin(root)

    def _pause(self) -> float | None:
        """Return the seconds until there is something to do; None if there is nothing. Call with the lock held."""
        now = time.monotonic()
        self._begin_complete()
        for each in self._queries:
            each.retry(now)
        if self._must_keep or any(
            each.to_note(self._roots) or each.is_ready(self._roots, now) for each in self._queries
        ):
            return max(0.0, self._pace.next_at - now)
        due = [each.next_at() for each in self._queries]
        unknown = [root for root in self._roots if any(root.path not in each.known for each in self._queries)]
        if unknown:
            due.append(now + (LOOK_S if any(root.present for root in unknown) else LOOK_AT_ABSENT_S))
        soonest = min((at for at in due if at > now), default=float("inf"))
        return None if soonest == float("inf") else max(soonest - now, self._pace.next_at - now, 0.001)

    def _check_all(self) -> None:
        with self._wake:
            for each in self._queries:
                each.add_pending((), each.known_ids(self._roots), time.monotonic())

    def _round(self) -> float:
        """Publish what is new; return the least pause before the next round, in seconds."""
        handle = self._sources.readers.current
        try:
            if self._reports is None:
                self._reports = StandingReports(self._path)
            self._reports.use_limits(self._current.config.exchange)
            if self._must_keep:
                self._keep(self._reports)
            self._note_first_contents(self._reports)
            self._publish_news(self._reports)
        except Cancelled:
            return 0.0  # the daemon ends
        except DatabaseUnusable as error:
            if self._fault is None:
                log.warning("standing_messages_wait", extra={"error": type(error).__name__})
            self._fault = error.message
            with self._wake:
                if not self._queries:  # what is left of former ones can be forgotten another time
                    self._must_keep = False
        except (LivedexError, apsw.Error, TimeoutError) as error:
            log.warning("standing_messages_wait", extra={"error": type(error).__name__})
            if not isinstance(error, TimeoutError):
                self._sources.readers.report(handle, error)
        else:
            self._fault = None
            return 0.0
        return RETRY_AFTER_FAULT_S

    def _keep(self, reports: StandingReports) -> None:
        with self._wake:
            queries, roots, left = self._queries, self._root_paths, self._left
        before = reports.numbers()
        numbers = reports.keep([each.config for each in queries], roots, left)
        known = {each: reports.known_roots(numbers[each.config]) for each in queries}
        with self._wake:
            for each in queries:
                is_new = each.number is None
                is_old = each.config in before and each.config not in left.queries
                each.numbered(numbers[each.config], is_old=is_old)
                each.known = known[each] - (self._left.roots - left.roots)
                each.forget_begun(each.known_ids(self._roots))
                if is_new:
                    each.add_pending((), each.known_ids(self._roots), time.monotonic())
            self._must_keep = queries is not self._queries or roots != self._root_paths or left is not self._left
            self._left = self._left.without(left)

    @contextmanager
    def _snapshot(self) -> Iterator[Reader]:
        readers = self._sources.readers.current.readers
        with readers.connection(cancelled=lambda: self._stopping) as reader, reader.snapshot():
            yield reader

    # -- where news begin

    def _note_first_contents(self, reports: StandingReports) -> None:
        with self._wake:
            due = {each: roots for each in self._queries if (roots := self._to_note(each))}
        if not due:
            return
        with self._snapshot() as reader:
            reader.one(GENERATION)  # the snapshot begins: what is due was complete before
            # What the snapshot has was passed on to ``changed`` by the end of the turn that committed it.
            self._sources.between_turns(lambda: None).result(TURN_S)
            for each, before in due.items():
                with self._wake:
                    roots = dict(self._to_note(each).items() & before.items())
                    changed = each.changed_in(roots)
                if roots and each.number is not None:
                    found = self._first_contents(reader, each, roots, changed)
                    found.update(digest for digest in changed.values() if digest is not None)
                    reports.begin(each.number, roots.values(), found)
                    with self._wake:
                        each.noted(roots, time.monotonic())

    def _to_note(self, query: ConfiguredQuery) -> dict[int, bytes]:
        """Call with the lock held."""
        return {} if self._sources.store_health.rebuilding else query.to_note(self._roots)

    def _first_contents(
        self, reader: Reader, query: ConfiguredQuery, roots: dict[int, bytes], changed: Container[FileKey]
    ) -> set[bytes]:
        """Return the hashes of what the files of these roots have, but for those that changed since."""
        served, unsure = self._roots.paths(), set[FileKey]()
        contents: set[bytes] = set()
        for part in parts_of_all(reader, roots):
            live = LiveFiles(served, DocumentTexts(reader))
            found = query.query.found(reader, part, served, live, unsure)
            contents.update(each.content.hash for each in found if each.key not in changed)
        waiting = waiting_files(reader, roots)
        return (
            contents
            | content_hashes(reader, [key for key in unsure if key not in changed])
            | {digest for key, digest in waiting if key not in changed}
        )

    # -- news

    def _publish_news(self, reports: StandingReports) -> None:
        with self._wake:
            now = time.monotonic()
            taken = [(each, each.take(self._roots, now)) for each in self._queries]
        due = [(each, dirty) for each, dirty in taken if dirty]
        try:
            if due:
                with self._snapshot() as reader:
                    generation = int(reader.one(GENERATION))
                    while due:
                        state = IndexState(reader, self._roots.paths(), generation)
                        self._publish(NewContents(reports, state, self._sources.published), *due[0])
                        due.pop(0)
        finally:
            with self._wake:
                for each, dirty in due:
                    each.add_pending(dirty.files, dirty.roots, time.monotonic())

    def _publish(self, contents: NewContents, query: ConfiguredQuery, dirty: Dirty) -> None:
        """Publish the new contents of ``dirty``. Raises what reading and writing raise; call it again then."""
        stale, fault = contents.publish(query, dirty)
        if stale.unreadable:
            self._sources.could_not_read(stale.unreadable)
        for key in stale:
            self._sources.backlog.mark(key, Mark(now=True))
        at = time.monotonic()
        with self._wake:
            query.fault = None
            query.retry_later(stale, at)
            query.settled()
            if fault is not None:
                query.rest(fault, at)
                query.add_pending(dirty.files, dirty.roots, at)
