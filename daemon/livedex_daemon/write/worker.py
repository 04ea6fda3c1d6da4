"""The thread that keeps the index equal to the disk: it takes marked paths and has them examined, read and stored.

Invariant: this is the only thread that writes to the index, and an entry of the backlog is done only after the commit
of its outcome.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from math import inf
from typing import TypeVar

from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.process.supervision import SupervisedThread
from livedex_daemon.watch import store_health
from livedex_daemon.watch.backlog import Key, Mark
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.write.commit import Applied
from livedex_daemon.write.commit_latency import CommitLatency
from livedex_daemon.write.commit_policy import CommitPolicy, Undecided
from livedex_daemon.write.document_notes import note_document
from livedex_daemon.write.outcome_counts import count_outcome
from livedex_daemon.write.outcomes import NoWorker, Outcome, Unsettled
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.submitted_calls import STOPPING, SubmittedCalls
from livedex_daemon.write.unsettled import UnsettledFiles, gone_keys
from livedex_daemon.write.walk import Work
from livedex_daemon.write.write_steps import WriteSteps
from livedex_indexing.store.database import translated
from livedex_indexing.store.index_store import IndexDamaged, IndexUnwritable

log = logging.getLogger(__name__)

TAKE = 256  # entries examined in one turn
UNSETTLED_TRIES = 3
UNSETTLED_PAUSE_S = 0.02
UNCHUNKED_PROBES = 8  # files tried while no child can be started; the others follow once one could be chunked

T = TypeVar("T")


class Worker:
    """The thread that owns the store. All public methods may be called from any thread."""

    def __init__(
        self,
        index: IndexFile,
        steps: WriteSteps,
        roots: Roots,
        priority: SearchPriority,
        latency: CommitLatency,
        wake: threading.Event,
    ) -> None:
        """``wake``: an event that other threads set when they have work for this thread."""
        self.turn_fault: str | None = None  # the unexpected error of a turn; None once a turn commits
        self.files = UnsettledFiles()
        self.unreadable = steps.presence.unreadable
        self._store = index.store
        self._readers = index.readers
        self._health = index.health
        self._rebuilder = steps.rebuilder
        self._backlog = steps.backlog
        self._inspector = steps.inspector
        self.former_names = steps.inspector.former_names
        self._pool = steps.pool
        self._committer = steps.commit
        self.conversions = steps.conversions
        self._presence = steps.presence
        self._roots = roots
        self._priority = priority
        self._latency = latency
        self._wake = wake
        self._stopping = False
        self._calls = SubmittedCalls(wake)
        self._outcomes: list[Outcome] = []
        self._policy = CommitPolicy()
        self._thread = SupervisedThread("worker", self._run, recover=self._recover)

    # -- for other threads

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> bool:
        """Refuse all calls from now on. Return False if the thread is still in a turn after ``timeout_s``."""
        self._stopping = True
        self._calls.end()
        ended = self._thread.end(timeout_s)
        self._calls.refuse(STOPPING)
        return ended

    def alive(self) -> bool:
        """Return False while the thread does not run, or has just failed as a whole."""
        return self._thread.is_alive() and self._thread.fault is None

    def submit(self, action: Callable[[], T]) -> Future[T]:
        """Run ``action`` on the worker's thread, between two turns. When the daemon stops, it fails: Unavailable."""
        return self._calls.submit(action)

    def _recover(self) -> None:
        """After a failure outside a turn, refuse all calls and start the unfinished work over."""
        self._calls.refuse("indexing has failed: ask again; the daemon's log says more")
        self._start_over()

    def forget(self, root: Root, path: bytes) -> int:
        """Carry out ``files/delete``. Raise Unavailable and change nothing if it fails. Call through ``submit``."""
        self.refuse_without_store()
        return self._committer.forget(root, path)

    def could_not_read(self, paths: dict[Key, int]) -> None:
        """Take note that a search could not read files: path to errno. From any thread."""

        def note() -> None:
            for key, code in paths.items():
                root = self._roots.get(key[0])
                if root is not None and root.present:  # else its state says so, and nothing in it is tried
                    self.unreadable.failed(key, code)

        self.submit(note)

    def mount_returned(self) -> None:
        """Try at once what could not be read: a mount answers again. From any thread."""
        self.submit(self.unreadable.try_now)

    def keep_forgotten(self, root: Root) -> None:
        """Remove forgotten files before anything of the root is served. Call through ``submit``."""
        self._committer.keep_forgotten(root)

    def settle_forgotten(self) -> None:
        """Note that ``keep_forgotten`` was called for every root. Call through ``submit``."""
        self._committer.settle_forgotten()
        self._rebuilder.finish_if_whole(self._roots)

    def refuse_without_store(self) -> None:
        """Raise the store's fault if it cannot be written, so that nothing is promised that could be lost.

        Call through ``submit``.
        """
        if self._health.fault is not None:
            raise self._health.fault
        try:
            self._store.prove_writable()
        except IndexUnwritable as error:
            self._health.failed(error)
            raise

    # -- the thread

    def _run(self) -> None:
        while not self._stopping:
            try:
                with self._translated():
                    idle = self._turn()
            except IndexDamaged:
                self._replace_index("damaged")
                idle = False
            except IndexUnwritable as error:
                self._start_over()
                self._health.failed(error)
                idle = True
            except Exception as error:
                log.exception("worker_turn_failed")
                self.turn_fault = type(error).__name__
                self._start_over()
                self._wake.wait(store_health.STORE_PAUSE_S)
                idle = False
            if idle:
                self._wake.wait(self._pause())
            self._wake.clear()

    def _pause(self) -> float | None:
        """Return the seconds until something is due; None when nothing is."""
        now = time.monotonic()
        if self._health.fault is not None:
            return max(0.0005, self._health.retry_at - now)
        due = [work.retry_at for work in self._inspector.readings.waiting]
        if self.unreadable.next_at() < inf:
            due.append(self.unreadable.next_at())
        if self.files.unchunked:
            due.append(self._pool.retry_at)
        settles = self._backlog.next_at()
        if settles is not None:
            due.append(settles)
        commit = self._commit_due()
        if commit < inf:
            due.append(commit)
        return max(0.0005, min(due) - now) if due else None

    def _turn(self) -> bool:
        """Run one round; return True when nothing is left to do at once."""
        worked = self._calls.make(self._translated, self._call_failed) or self._check_reported()
        if self._health.fault is not None:
            if time.monotonic() >= self._health.retry_at:
                self._try_store()
            return not worked
        self._inspector.read_errors.mark_due()
        self._retry_unchunked()
        taken = self._backlog.take(TAKE, self._inspector.is_busy)
        for entry in taken:
            self._priority.yield_to_searches(len(taken))
            self._inspector.inspect(entry, self._roots.get(entry.key[0]))
            worked = True
        self._pool.reconsider()
        worked = self._inspector.walk_on() or worked
        self._inspector.depart()
        self._inspector.readings.retry()
        self._gather()
        self._inspector.ended_walks.release()
        if self._commit_due() <= time.monotonic():
            self._commit()
            worked = True
        return not worked

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self._store.path)

    def _call_failed(self, error: BaseException) -> None:
        if isinstance(error, IndexDamaged):
            self._replace_index("damaged")
        elif isinstance(error, IndexUnwritable) and self._health.fault is None:
            self._health.failed(error)

    def _check_reported(self) -> bool:
        """Check the index file when a reader reported a failed read; return True when there was a report."""
        error = self._readers.take_report()
        if error is not None:
            self.check_and_rebuild(damaged=isinstance(error, IndexDamaged))
        return error is not None

    # -- outcomes

    def _gather(self) -> None:
        """Collect outcomes. Read a file that changed in the meantime again before it counts as unsettled."""
        wanted_outcomes = self._policy.wanted_outcomes(time.monotonic(), searched=self._priority.is_queried())
        for outcome in self._pool.collect(wanted_outcomes):
            work = outcome.work
            if not self._inspector.readings.expects(work):
                continue
            if isinstance(outcome.result, Unsettled) and work.tries < UNSETTLED_TRIES - 1:
                work.tries += 1
                self.files.unstable.add(work.key)
                self._read_again(work)
            elif not self._inspector.read_errors.is_news(outcome):
                self._inspector.readings.end(work)
                self._inspector.release(work.entry)
                count_outcome(outcome)
            elif outcome.is_being_saved() and self._backlog.defer(work.entry, work.key):
                self._inspector.readings.end(work)
                self._inspector.release(work.entry)
            else:
                self._outcomes.append(self._inspector.read_errors.judged(outcome))
                self._policy.gather(work.entry)

    def _retry_unchunked(self) -> None:
        """Try the files again that no child could chunk: a few while the fault lasts, then all."""
        if self.files.unchunked and time.monotonic() >= self._pool.retry_at:
            for key in self.files.take_unchunked(UNCHUNKED_PROBES if self._pool.worker_fault else None):
                self._backlog.mark(key)

    def _drop_outcomes(self) -> None:
        self._outcomes = []
        self._policy.drop()

    def _commit_due(self) -> float:
        """Return when to commit (monotonic); see ``CommitPolicy.due``."""
        inspector = self._inspector
        return self._policy.due(
            Undecided(
                bool(inspector.changes),
                inspector.needs_commit or inspector.ended_walks.are_waited_for,
                inspector.finished,
                bool(self._pool.outstanding),
            )
        )

    def _commit(self) -> None:
        inspector, outcomes = self._inspector, self._outcomes
        applied = Applied([], [], [])
        if inspector.changes or outcomes:
            try:
                applied = self._committer.apply(inspector.changes, outcomes, self.former_names)
            except IndexUnwritable as error:
                self._health.failed(error)
                return
            self._policy.committed(time.monotonic())
        self._health.recovered()
        self.turn_fault = None
        self._drop_outcomes()
        gone = inspector.take_changes()
        is_gone = gone_keys(gone, self._roots)
        self.files.forget_gone(gone, self._roots)
        self.unreadable.forget(is_gone)
        self.conversions.forget_gone(is_gone)
        unread = set(applied.unread)
        for outcome in outcomes:
            if outcome.work in unread:
                self._read_again(outcome.work)
            else:
                self._settle(outcome)
        for key in applied.again:
            self._backlog.mark(key)
        for work in applied.hidden:
            self._backlog.mark_for(work.key, work.entry)
        finished, inspector.finished = inspector.finished, []
        inspector.read_errors.committed(finished)
        self._latency.add(time.monotonic(), [entry.first_at for entry in finished if entry.from_event])
        for entry in finished:
            root = self._roots.get(entry.key[0])
            if not entry.key[1] and root is not None and entry.key not in self.unreadable.open:
                self._presence.walked(root)
                self._rebuilder.finish_if_whole(self._roots)
        self._backlog.done(finished)

    # -- a store that fails

    def check_and_rebuild(self, *, damaged: bool = False) -> bool:
        """Check that the index file is still ours and sound; if not, start a new one and return True.

        ``damaged``: a reader found damage. Call through ``submit``.
        """
        try:
            cause = "damaged" if damaged else self._rebuilder.cause_to_rebuild()
        except IndexUnwritable as error:
            self._health.failed(error)
            return False
        if cause is not None:
            self._replace_index(cause)
        elif self._health.fault is None:
            self._rebuilder.finish_if_whole(self._roots)
        return cause is not None

    def _replace_index(self, cause: str) -> None:
        self._start_over()
        try:
            self._rebuilder.replace(cause, self._roots)
        except IndexUnwritable as error:
            self._health.failed(error)
        else:
            self._health.recovered()

    def _start_over(self) -> None:
        """Abandon all work in progress, because it may not reach the store, and examine it again."""
        self._inspector.abandon()
        self._drop_outcomes()
        self._backlog.requeue_taken()

    def _try_store(self) -> None:
        """Check the store, then try the failed commit again."""
        self._health.postpone()
        if self.check_and_rebuild() or self._health.fault is None:
            return
        try:
            self._store.prove_writable()
        except IndexUnwritable as error:
            self._health.failed(error)
            return
        self._commit()

    def _read_again(self, work: Work) -> None:
        """Submit a work again after a moment. Its entry stays open, so that no search that waits for it is released."""
        work.retry_at = time.monotonic() + UNSETTLED_PAUSE_S
        self._inspector.readings.end(work)
        self._inspector.readings.waiting.append(work)

    def _settle(self, outcome: Outcome) -> None:
        work = outcome.work
        self._inspector.readings.end(work)
        open_ended = isinstance(outcome.result, Unsettled | NoWorker)
        if open_ended and not work.cancelled and self._committer.admits(*work.key):
            self.files.add(work.key, unchunked=isinstance(outcome.result, NoWorker))
        else:
            self.files.discard(work.key)
        if note_document(self.conversions, outcome, self._committer.admits):
            self._backlog.mark(work.key, Mark(now=True, force=work.force))
        self._inspector.read_errors.stored(outcome)
        count_outcome(outcome)
        self._inspector.release(work.entry)
