"""Read changed files and chunk them in child processes, so that no hostile file can harm or block the daemon.

Invariant: every submitted work comes back as exactly one outcome, even if the child that chunked it died or the step
that handled it failed. No error ends a thread; one that ended all the same is replaced.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import accumulate

from livedex_daemon.write.chunk_health import ChunkHealth, WorkerFault
from livedex_daemon.write.file_reading import FileReader
from livedex_daemon.write.outcome_queue import OutcomeQueue
from livedex_daemon.write.outcomes import Job, Outcome, result_of
from livedex_daemon.write.pipeline_faults import PipelineFaults
from livedex_daemon.write.policy import Policy
from livedex_daemon.write.pool_threads import PoolThreads, Role
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.walk import Work
from livedex_daemon.write.worker_slot import WorkerSlot

log = logging.getLogger(__name__)

BATCH_FILES = 8  # sent to a child at once: several save round trips; many would make searches wait too long
BATCH_BYTES = 512 << 10
FILES_A_PROCESS = 32  # start one more child for each so many bulk files
WARM_S = 600.0  # the child for edits ends after so long without an edit
STUCK_S = 1.0  # on one batch; then the spare thread takes the other edits, and a file that is in their way gives way
NICE = 10


class Pool:
    """One thread with a warm child for edits, a spare thread for when the first is stuck, and more for bulk work.

    An edited file that takes long gives way to others that would wait for it, and is cut by a thread for bulk work. Of
    those, one at a time cuts such slow files, so that they hold up no bulk work either.
    """

    def __init__(
        self,
        policy: Policy,
        reader: FileReader,
        on_outcome: Callable[[], None],
        priority: SearchPriority,
        *,
        may_run: Callable[[], bool] = lambda: True,
        bulk_processes: int = 2,
    ) -> None:
        """Start the threads for edits. ``may_run`` returns False to delay bulk work that nobody asked for."""
        self.policy = policy
        self.files_chunked = 0
        self._reader = reader
        self._health = ChunkHealth()
        self._priority = priority
        self._may_run = may_run
        self._bulk_processes = bulk_processes
        self._lock = threading.Lock()
        self._more = threading.Condition(self._lock)
        self._edits: deque[Work] = deque()
        self._bulk: deque[Work] = deque()
        self._slow: deque[Work] = deque()  # edits that gave way to others
        self._slow_in: tuple[WorkerSlot, Work] | None = None  # where one of them is being cut, and which
        self._outcomes = OutcomeQueue(on_outcome)
        self._outstanding = self._outstanding_bytes = self._done_bytes = 0
        self._stopping = False
        self._threads = PoolThreads(self._run)
        self._busy_since: float | None = None  # when the thread for edits took its batch; None: it is idle
        self.revive()

    # -- called by the worker

    def submit(self, works: list[Work], *, bulk: bool) -> None:
        with self._lock:
            (self._bulk if bulk else self._edits).extend(works)
            self._outstanding += len(works)
            self._outstanding_bytes += sum(work.size for work in works)
        self.revive()

    def revive(self) -> None:
        """Start the threads that are missing: those that the queues need and those that ended. Call it now and then."""
        with self._lock:
            if self._stopping:
                return
            bulk = 1 + len(self._bulk) // FILES_A_PROCESS if self._bulk else 0
            bulk += bool(self._slow or self._slow_in)
            self._threads.start_missing({"edits": 1, "spare": 1, "bulk": min(self._bulk_processes, bulk)})
            self._more.notify_all()

    def collect(self, limit: int) -> list[Outcome]:
        taken = self._outcomes.take(limit)
        with self._lock:
            self._outstanding -= len(taken)
            size = sum(outcome.work.size for outcome in taken)
            self._outstanding_bytes -= size
            self._done_bytes += size
        return taken

    @property
    def outstanding(self) -> int:
        """Return the number of submitted works whose outcome is not collected yet."""
        return self._outstanding

    def sizes(self) -> tuple[int, int]:
        """Return the bytes of all files whose outcome was collected, and of the outstanding ones, at one moment."""
        with self._lock:
            return self._done_bytes, self._outstanding_bytes

    @property
    def is_paused(self) -> bool:
        """Return True while bulk work that no client waits for waits for mains power."""
        if not self._bulk or self._may_run():
            return False
        with self._lock:
            return not all(work.is_wanted for work in self._bulk)

    def reconsider(self) -> None:
        """Check the waiting bulk work again: a client may wait for it now."""
        if self._bulk and not self._may_run():
            with self._lock:
                self._more.notify_all()

    @property
    def files_read(self) -> int:
        return self._reader.files_read

    @property
    def worker_fault(self) -> WorkerFault | None:
        """Return why nothing can be chunked; None: it can."""
        fault = self._threads.fault
        return WorkerFault(fault) if fault is not None else self._health.fault

    @property
    def pipelines(self) -> PipelineFaults:
        return self._health.pipelines

    @property
    def retry_at(self) -> float:
        """Return the earliest time to submit again what came back without a worker (monotonic; it may have passed)."""
        return self._health.retry_at

    @property
    def other_version(self) -> bool:
        """Return True once the installed code is not the code that this process runs: only a restart helps."""
        fault = self._health.fault
        return fault is not None and fault.other_version

    @property
    def threads_alive(self) -> bool:
        """Return False while a thread that work waits for is missing, until ``revive`` has replaced it."""
        with self._lock:
            return (
                self._threads.alive("edits")
                and self._threads.alive("spare")
                and (not (self._bulk or self._slow) or self._threads.alive("bulk"))
            )

    def stop(self, timeout_s: float = 5.0) -> None:
        """Start no further file, and wait for the threads at most ``timeout_s``: a child or a disk may hang."""
        with self._lock:
            self._stopping = True
            self._more.notify_all()
        self._outcomes.close()
        self._threads.join(timeout_s)

    # -- the pool's threads

    def _run(self, role: Role) -> None:
        nice = NICE if role == "bulk" and self.policy.yield_to_load else 0
        slot = WorkerSlot(nice, self._health, lambda took_s, files: self._gives_way(role, slot, took_s, files))
        try:
            while (works := self._next(role, slot)) is not None:
                self._serve(works, role, slot)
        except BaseException:
            log.exception("pool_thread_ended")  # ``revive`` replaces it
            raise
        finally:
            self._has_cut_slow(slot)
            slot.close()

    def _serve(self, works: list[Work], role: Role, slot: WorkerSlot) -> None:
        """Handle a batch. Whatever goes wrong, none of its works is lost, and the thread goes on."""
        unanswered = dict.fromkeys(works)
        try:
            self._handle(unanswered, role, slot)
        except BaseException as error:
            log.exception("pool_step_failed")
            self._retry_unanswered(list(unanswered), error, self._queue(role))
            slot.close()  # its child may be in the middle of an answer
            if not isinstance(error, Exception):
                raise

    def _retry_unanswered(self, works: list[Work], error: BaseException, queue: deque[Work]) -> None:
        """Try each work of a failed step once more, alone; a step that fails again is that file's failure."""
        again = [work for work in works if not work.alone]
        for work in again:
            work.alone = True
        self._requeue(again, queue)
        self._outcomes.put([Outcome(work, result_of(error)) for work in works if work not in again])

    def _queue(self, role: Role) -> deque[Work]:
        return self._bulk if role == "bulk" else self._edits

    def _next(self, role: Role, slot: WorkerSlot) -> list[Work] | None:
        """Return the next batch; None when the thread must end (a bulk thread: when no bulk work is left)."""
        queue = self._queue(role)
        self._has_cut_slow(slot)
        idle_since = time.monotonic()
        while True:
            with self._lock:
                if self._stopping:
                    return None
                if role == "edits":
                    if self._is_stuck():
                        self._more.notify_all()  # the spare thread needs its child no more
                    self._busy_since = None
                if role == "bulk" and self._slow and self._slow_in is None:
                    work = min(self._slow, key=lambda each: each.times_gave_way)
                    self._slow.remove(work)
                    self._slow_in = slot, work
                    return [work]
                if role == "edits" and not queue and self._threads.lacks("bulk"):
                    self._take_over()
                count = self._may_take(role)
                if count:
                    if role == "edits":
                        self._busy_since = time.monotonic()
                    return _batch(queue, count)
                if role == "bulk" and not queue:
                    self._threads.ending()  # under the lock: work that comes now starts another thread
                    return None
                is_cold = role == "edits" and time.monotonic() - idle_since > WARM_S
                is_over = role == "spare" and not queue and not self._is_stuck()  # else the next edit needs the child
                if not (slot.open and (is_cold or is_over)):
                    self._more.wait(1.0 if role == "bulk" else STUCK_S / 4 if queue else 30.0 if slot.open else None)
                    continue
            slot.close()  # without the lock: a child that does not end by itself takes seconds

    def _take_over(self) -> None:
        """Let the thread for edits do a batch of the work that no thread of its own can be started for."""
        count = self._may_take("bulk")
        if count:
            self._edits.extend(_batch(self._bulk, count))
        elif self._slow:
            self._edits.append(self._slow.popleft())

    def _has_cut_slow(self, slot: WorkerSlot) -> None:
        with self._lock:
            if self._slow_in is not None and self._slow_in[0] is slot:
                self._slow_in = None

    def _may_take(self, role: Role) -> int:
        """Return how many works at the head of the role's queue may be taken now."""
        if role == "bulk":
            return len(self._bulk) if self._may_run() else self._move_wanted_to_head()
        return len(self._edits) if role == "edits" or self._is_stuck() else 0

    def _move_wanted_to_head(self) -> int:
        """Put the works that someone asked for first; return how many there are."""
        wanted = [work for work in self._bulk if work.is_wanted]
        if wanted:
            others = [work for work in self._bulk if not work.is_wanted]
            self._bulk.clear()
            self._bulk.extend(wanted + others)
        return len(wanted)

    def _is_stuck(self) -> bool:
        return self._busy_since is not None and time.monotonic() - self._busy_since > STUCK_S

    def _gives_way(self, role: Role, slot: WorkerSlot, took_s: float, files: int) -> bool:
        """Return True if an edited file holds up others: those of its batch, or all while both threads are stuck.

        Of those that gave way, one gives way to the next, for an ordinary file may be among them if the machine is
        busy. It gets twice as long each time.
        """
        slow = self._slow_in
        if slow is not None and slow[0] is slot:
            return bool(self._slow) and took_s > STUCK_S * 2 ** slow[1].times_gave_way
        if role == "bulk" or took_s <= STUCK_S:
            return False
        return files > 1 or (role == "spare" and bool(self._edits) and self._is_stuck())

    def _handle(self, unanswered: dict[Work, None], role: Role, slot: WorkerSlot) -> None:
        """Read the works and chunk what needs it; take each from ``unanswered`` when it leaves this thread."""
        queue = self._queue(role)
        jobs: list[Job] = []
        clear: list[Outcome] = []
        for work in unanswered:
            self._priority.yield_to_searches(len(queue) + len(unanswered))
            found = self._reader.classify(work, self.policy)
            if isinstance(found, Job):
                jobs.append(found)
            else:
                clear.append(found)
        self._answer(clear, unanswered)
        jobs.sort(key=lambda job: len(job.data))
        fitting = _fitting(jobs)
        self._give_back([job.work for job in jobs[fitting:]], unanswered, queue)
        jobs = jobs[:fitting]
        while jobs:
            step = slot.chunk(jobs)
            self.files_chunked += step.chunked
            self._answer(step.outcomes, unanswered)
            self._give_back(step.others, unanswered, queue)
            for work in step.slow:
                work.times_gave_way += 1
            self._give_back(step.slow, unanswered, self._slow)
            jobs = step.retry

    def _give_back(self, works: list[Work], unanswered: dict[Work, None], queue: deque[Work]) -> None:
        self._requeue(works, queue)
        for work in works:
            del unanswered[work]
        if works:
            self.revive()  # a slow file may need another thread

    def _answer(self, outcomes: list[Outcome], unanswered: dict[Work, None]) -> None:
        self._outcomes.put(outcomes)
        for outcome in outcomes:
            del unanswered[outcome.work]

    def _requeue(self, works: list[Work], queue: deque[Work]) -> None:
        if works:
            with self._lock:
                queue.extendleft(reversed(works))
                self._more.notify_all()


def _fitting(jobs: list[Job]) -> int:
    """Return how many jobs make one batch by the bytes that were read: a file may have grown since it was queued."""
    sizes = accumulate(len(job.data) for job in jobs)
    return max(1, sum(size <= BATCH_BYTES for size in sizes))


def _batch(queue: deque[Work], count: int) -> list[Work]:
    """Take one batch from the first ``count`` works of the queue."""
    batch = [queue.popleft()]
    if batch[0].alone:
        return batch
    size = batch[0].size
    most = min(count, BATCH_FILES)
    while len(batch) < most and not queue[0].alone and size + queue[0].size <= BATCH_BYTES:
        batch.append(queue.popleft())
        size += batch[-1].size
    return batch
