"""Read changed files and chunk them in child processes, so that no hostile file can harm or block the daemon.

Invariant: every submitted work comes back as exactly one outcome, even if the child that chunked it died.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Literal

from livedex_daemon.write.file_reading import FileReader
from livedex_daemon.write.outcome_queue import OutcomeQueue
from livedex_daemon.write.outcomes import Job, Outcome
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.walk import Policy, Work
from livedex_daemon.write.worker_slot import ChunkHealth, WorkerSlot

BATCH_FILES = 8  # sent to a child at once: several save round trips; many would make searches wait too long
BATCH_BYTES = 512 << 10
FILES_A_PROCESS = 32  # start one more child for each so many bulk files
WARM_S = 600.0  # the child for edits ends after so long without an edit
STUCK_S = 1.0  # on one batch; then the spare thread takes the other edits
NICE = 10

Role = Literal["edits", "spare", "bulk"]


class Pool:
    """One thread with a warm child for edits, a spare thread for when the first is stuck, and more for bulk work."""

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
        self._outcomes = OutcomeQueue(on_outcome)
        self._outstanding = 0
        self._stopping = False
        self._threads: list[threading.Thread] = []
        self._bulk_threads = 0
        self._busy_since: float | None = None  # when the thread for edits took its batch; None: it is idle
        self._start("edits")
        self._start("spare")

    # -- called by the worker

    def submit(self, works: list[Work], *, bulk: bool) -> None:
        with self._lock:
            (self._bulk if bulk else self._edits).extend(works)
            self._outstanding += len(works)
            missing = 0
            if bulk:
                missing = min(self._bulk_processes, 1 + len(self._bulk) // FILES_A_PROCESS) - self._bulk_threads
            self._bulk_threads += max(0, missing)
            self._more.notify_all()
        for _ in range(missing):
            self._start("bulk")

    def collect(self, limit: int) -> list[Outcome]:
        taken = self._outcomes.take(limit)
        with self._lock:
            self._outstanding -= len(taken)
        return taken

    @property
    def outstanding(self) -> int:
        """Return the number of submitted works whose outcome is not collected yet."""
        return self._outstanding

    @property
    def held_back(self) -> bool:
        """Return True while bulk work that nobody asked for waits for mains power."""
        if not self._bulk or self._may_run():
            return False
        with self._lock:
            return not all(work.is_wanted for work in self._bulk)

    def reconsider(self) -> None:
        """Look again at the bulk work that waits: someone may have asked for it."""
        if self._bulk and not self._may_run():
            with self._lock:
                self._more.notify_all()

    @property
    def files_read(self) -> int:
        return self._reader.files_read

    @property
    def worker_fault(self) -> str | None:
        """Return why no child can be started; None: one can."""
        return self._health.fault

    def stop(self, timeout_s: float = 5.0) -> None:
        """Start no further file, and wait for the threads at most ``timeout_s``: a child or a disk may hang."""
        with self._lock:
            self._stopping = True
            self._more.notify_all()
        self._outcomes.close()
        deadline = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    # -- the pool's threads

    def _start(self, role: Role) -> None:
        thread = threading.Thread(target=self._run, args=(role,), name=role, daemon=True)
        self._threads = [known for known in self._threads if known.is_alive()] + [thread]
        thread.start()

    def _run(self, role: Role) -> None:
        slot = WorkerSlot(NICE if role == "bulk" and self.policy.yield_to_load else 0, self._health)
        try:
            while (works := self._next(role, slot)) is not None:
                self._handle(works, role, slot)
        finally:
            slot.close()

    def _queue(self, role: Role) -> deque[Work]:
        return self._bulk if role == "bulk" else self._edits

    def _next(self, role: Role, slot: WorkerSlot) -> list[Work] | None:
        """Return the next batch; None when the thread must end (a bulk thread: when no bulk work is left)."""
        queue = self._queue(role)
        with self._lock:
            idle_since = time.monotonic()
            if role == "edits":
                self._busy_since = None
            while not self._stopping:
                count = self._may_take(role)
                if count:
                    if role == "edits":
                        self._busy_since = time.monotonic()
                    return _batch(queue, count)
                if role == "bulk" and not queue:
                    self._bulk_threads -= 1
                    return None
                if role == "spare" and not queue:
                    slot.close()
                self._more.wait(1.0 if role == "bulk" else STUCK_S / 4 if queue else 30.0 if slot.open else None)
                if role != "bulk" and time.monotonic() - idle_since > WARM_S:
                    slot.close()
            return None

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

    def _handle(self, works: list[Work], role: Role, slot: WorkerSlot) -> None:
        queue = self._queue(role)
        jobs: list[Job] = []
        clear: list[Outcome] = []
        for work in works:
            self._priority.yield_to_searches(len(queue) + len(works))
            found = self._reader.classify(work, self.policy)
            if isinstance(found, Job):
                jobs.append(found)
            else:
                clear.append(found)
        self._outcomes.put(clear)
        while jobs:
            step = slot.chunk(jobs)
            self.files_chunked += step.chunked
            self._outcomes.put(step.outcomes)
            self._requeue(step.others, queue)
            jobs = step.retry

    def _requeue(self, works: list[Work], queue: deque[Work]) -> None:
        if works:
            with self._lock:
                queue.extendleft(reversed(works))
                self._more.notify_all()


def _batch(queue: deque[Work], count: int) -> list[Work]:
    """Take one batch from the first ``count`` works of the queue."""
    batch = [queue.popleft()]
    size = batch[0].size
    while len(batch) < min(count, BATCH_FILES) and size + queue[0].size <= BATCH_BYTES:
        batch.append(queue.popleft())
        size += batch[-1].size
    return batch
