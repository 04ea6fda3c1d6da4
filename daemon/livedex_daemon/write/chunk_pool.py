"""Read changed files and chunk them in child processes, so that no hostile file can harm or block the daemon.

Invariant: every submitted work comes back as exactly one outcome, even if the child that chunked it died.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from livedex_daemon.write.crashes import Crashes
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.walk import Policy, Work
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings, Plan
from livedex_indexing.chunk.chunk_process import ChunkFailure, ChunkJob, ChunkProcess, WorkerDied
from livedex_indexing.disk import tree
from livedex_indexing.model import ChunkedContent, Stat
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.text import decoder

log = logging.getLogger(__name__)

BATCH_FILES = 8  # sent to a child at once: several save round trips; many would make searches wait too long
BATCH_BYTES = 512 << 10
FILES_A_PROCESS = 32  # start one more child for each so many bulk files
HEAD_BYTES = 8192  # examined to tell text from binary and to find a shebang
TIMEOUT_S = 20.0  # for one file; add the next figure for each MiB
TIMEOUT_S_PER_MIB = 5.0
UNCOLLECTED = 64  # reading pauses while so many outcomes, with all their text, wait for the writer
WARM_S = 600.0  # the child for edits ends after so long without an edit
STUCK_S = 1.0  # on one batch; then the spare thread takes the other edits
NICE = 10
REST_S = 20.0  # after no child could be started
LEFT_ALONE = "the daemon crashed several times while it read the file"


class Gone(NamedTuple):
    """The path no longer exists."""


class Unsettled(NamedTuple):
    """The file changed while it was read."""


class Skipped(NamedTuple):
    reason: str


class NoWorker(NamedTuple):
    """No child can chunk anything here: the installation is broken, not the file."""

    reason: str


class Failed(NamedTuple):
    """``stage``: ``read``, ``chunk``, ``denied`` or ``quarantined``; the last two need no message."""

    stage: str
    message: str


class Known(NamedTuple):
    """The index has this content already."""


Result = ChunkedContent | Known | Gone | Unsettled | Skipped | NoWorker | Failed


class Outcome(NamedTuple):
    work: Work
    result: Result
    stat: Stat | None = None
    content_hash: bytes | None = None
    plan: Plan | None = None


class _Job(NamedTuple):
    work: Work
    stat: Stat
    content_hash: bytes
    plan: Plan
    settings: ChunkSettings  # that chose the plan; the policy may have changed by the time the file is chunked
    data: bytes


class Pool:
    """One thread with a warm child for edits, a spare thread for when the first is stuck, and more for bulk work."""

    def __init__(
        self,
        policy: Policy,
        known: Callable[[bytes, bytes], bool],
        marks: ForgottenFiles,
        on_outcome: Callable[[], None],
        priority: SearchPriority,
        *,
        crashes: Crashes | None = None,
        may_run: Callable[[], bool] = lambda: True,
        bulk_processes: int = 2,
    ) -> None:
        """Start the threads for edits. The pool's threads call ``known(content_hash, signature)``.

        ``may_run`` returns False to delay bulk work.
        """
        self.policy = policy
        self.files_read = 0
        self.files_chunked = 0
        self.worker_fault: str | None = None  # why no child can be started
        self._rest_until = 0.0  # do not try to start a child before this time
        self._known = known
        self._marks = marks
        self._crashes = crashes
        self._on_outcome = on_outcome
        self._priority = priority
        self._may_run = may_run
        self._bulk_processes = bulk_processes
        self._lock = threading.Lock()
        self._more = threading.Condition(self._lock)
        self._collected = threading.Condition(self._lock)
        self._edits: deque[Work] = deque()
        self._bulk: deque[Work] = deque()
        self._outcomes: deque[Outcome] = deque()
        self._in_chunking: set[tuple[bytes, bytes]] = set()
        self._outstanding = 0
        self._stopping = False
        self._threads: list[threading.Thread] = []
        self._bulk_threads = 0
        self._busy_since: float | None = None  # when the thread for edits took its batch; None: it is idle
        self._start(bulk=False)
        self._start(bulk=False, spare=True)

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
            self._start(bulk=True)

    def collect(self, limit: int) -> list[Outcome]:
        with self._lock:
            taken = [self._outcomes.popleft() for _ in range(min(limit, len(self._outcomes)))]
            self._outstanding -= len(taken)
            self._collected.notify_all()
            return taken

    @property
    def outstanding(self) -> int:
        """Return the number of submitted works whose outcome is not collected yet."""
        return self._outstanding

    @property
    def held_back(self) -> bool:
        """Return True while bulk work waits for mains power."""
        return bool(self._bulk) and not self._may_run()

    def stop(self) -> None:
        with self._lock:
            self._stopping = True
            self._more.notify_all()
            self._collected.notify_all()
        for thread in self._threads:
            thread.join(timeout=5)

    # -- the pool's threads

    def _start(self, *, bulk: bool, spare: bool = False) -> None:
        name = "bulk" if bulk else "spare" if spare else "edits"
        thread = threading.Thread(target=self._run, args=(bulk, spare), name=name, daemon=True)
        self._threads = [known for known in self._threads if known.is_alive()] + [thread]
        thread.start()

    def _run(self, bulk: bool, spare: bool) -> None:
        hand = _WorkerSlot(NICE if bulk and self.policy.yield_to_load else 0, self._bulk if bulk else self._edits)
        try:
            while True:
                works = self._next(hand, bulk=bulk, spare=spare)
                if works is None:
                    return
                self._handle(works, hand)
        finally:
            hand.close()

    def _next(self, hand: _WorkerSlot, *, bulk: bool, spare: bool) -> list[Work] | None:
        """Return the next batch; None when the thread must end (a bulk thread: when no bulk work is left)."""
        queue = hand.queue
        with self._lock:
            idle_since = time.monotonic()
            if not bulk and not spare:
                self._busy_since = None
            while not self._stopping:
                if queue and (self._may_run() if bulk else not spare or self._is_stuck()):
                    if not bulk and not spare:
                        self._busy_since = time.monotonic()
                    return _batch(queue)
                if bulk and not queue:
                    self._bulk_threads -= 1
                    return None
                if spare and not queue:
                    hand.close()
                self._more.wait(1.0 if bulk else STUCK_S / 4 if queue else 30.0 if hand.open else None)
                if not bulk and time.monotonic() - idle_since > WARM_S:
                    hand.close()
            return None

    def _is_stuck(self) -> bool:
        return self._busy_since is not None and time.monotonic() - self._busy_since > STUCK_S

    def _handle(self, works: list[Work], hand: _WorkerSlot) -> None:
        jobs: list[_Job] = []
        clear: list[Outcome] = []
        for work in works:
            self._priority.yield_to_searches(len(hand.queue) + len(works))
            try:
                prepared = self._guarded(work)
            except Exception as error:  # one file must never end the thread that all other files need
                log.exception("read_failed")
                prepared = Outcome(work, Failed("read", type(error).__name__))
            if isinstance(prepared, Outcome):
                clear.append(prepared)
            else:
                jobs.append(prepared)
        self._put(clear)
        if jobs:
            self._chunk(jobs, hand)

    def _guarded(self, work: Work) -> Outcome | _Job:
        """Read one file, unless the daemon crashed on it several times."""
        if self._crashes is None:
            return self._prepare(work)
        path = work.root.absolute(work.path)
        if path in self._crashes.avoided and not work.force:
            return Outcome(work, Failed("quarantined", LEFT_ALONE), tree.stat(work.root.path, work.path))
        with self._crashes.reading(path):
            return self._prepare(work)

    def _prepare(self, work: Work) -> Outcome | _Job:
        """Read one file. Return a job to chunk, or the outcome when no chunking is needed."""
        if work.cancelled:
            return Outcome(work, Gone())
        try:
            data, stat = tree.read_file(work.root.path, work.path, self.policy.max_file_size)
        except tree.Vanished:
            return Outcome(work, Gone())
        except tree.Denied:
            return Outcome(work, Failed("denied", ""))
        except tree.Unsettled:
            return Outcome(work, Unsettled())
        except tree.TooLarge as fault:
            return Outcome(work, Skipped("too_large"), fault.stat)
        except tree.NotRegular as fault:
            return Outcome(work, Skipped("symlink" if fault.kind == "symlink" else "special"))
        except tree.ReadFailed as fault:
            return Outcome(work, Failed("read", str(fault)))
        self.files_read += 1
        head = data[:HEAD_BYTES]
        content_hash = hashlib.blake2b(data, digest_size=16).digest()
        if not work.force and self._marks.is_forgotten(work.root.path, work.path, content_hash):
            return Outcome(work, Skipped("forgotten"), stat, content_hash)
        if decoder.is_binary(head):
            return Outcome(work, Skipped("binary"), stat, content_hash)
        quarantined = None if work.force else _quarantined(work, content_hash)
        if quarantined is not None:
            return Outcome(work, quarantined, stat, content_hash)
        settings = self.policy.chunking
        chosen = chunk_plan.choose(work.path.rpartition(b"/")[2], head, settings)
        if not work.force and self._known(content_hash, chosen.signature):
            return Outcome(work, Known(), stat, content_hash, chosen)
        return _Job(work, stat, content_hash, chosen, settings, data)

    def _chunk(self, jobs: list[_Job], hand: _WorkerSlot) -> None:
        """Chunk a batch. If the child dies, try the file it was chunking once more, alone; quarantine it after that."""
        if self.worker_fault is not None and time.monotonic() < self._rest_until:
            self._no_worker(jobs, self.worker_fault)
            return
        while jobs:
            asked = [ChunkJob(job.work.path.rpartition(b"/")[2], job.data, job.settings) for job in jobs]
            try:
                results = hand.process().chunk(asked, _time_limit(jobs))
            except WorkerDied as death:
                hand.close()
                log.warning("chunk_worker_died", extra={"reason": death.reason})
                jobs = self._after_death(jobs, death, hand)
                continue
            self._put_chunked(jobs, results)
            return

    def _after_death(self, jobs: list[_Job], death: WorkerDied, hand: _WorkerSlot) -> list[_Job]:
        """Return the jobs that are still to be chunked.

        Try the file that the child was chunking again, alone; the second death quarantines it. The other files of
        the batch go back to the queue and do not wait for it.
        """
        done = len(death.results)
        self._put_chunked(jobs[:done], death.results)
        rest = jobs[done:]
        if death.job is None:  # the child never got ready, so no file is to blame
            self._no_worker(rest, death.reason)
            return []
        culprit, others = rest[0], rest[1:]
        with self._lock:
            hand.queue.extendleft(job.work for job in reversed(others))
            self._more.notify_all()
        culprit.work.tries += 1
        if culprit.work.tries >= 2:
            failed = Failed("quarantined", f"chunk: the worker ended twice on it ({death.reason})")
            self._put([Outcome(culprit.work, failed, culprit.stat, culprit.content_hash, culprit.plan)])
            return []
        return [culprit]

    def _no_worker(self, jobs: list[_Job], reason: str) -> None:
        if self.worker_fault is None or time.monotonic() >= self._rest_until:
            self.worker_fault, self._rest_until = reason, time.monotonic() + REST_S
        self._put([Outcome(job.work, NoWorker(reason), job.stat, job.content_hash, job.plan) for job in jobs])

    def _put_chunked(self, jobs: list[_Job], results: list[ChunkedContent | ChunkFailure]) -> None:
        outcomes: list[Outcome] = []
        for job, result in zip(jobs, results, strict=True):
            done: Result = Failed("chunk", result.message) if isinstance(result, ChunkFailure) else result
            outcomes.append(Outcome(job.work, done, job.stat, job.content_hash, job.plan))
        self.files_chunked += sum(1 for job in jobs if job.data)  # an empty file has nothing to chunk
        self.worker_fault = None
        self._put(outcomes)

    def _put(self, outcomes: list[Outcome]) -> None:
        """Pass outcomes to the worker in batches: waking it for each would cost more than storing the outcome."""
        with self._lock:
            while len(self._outcomes) >= UNCOLLECTED and not self._stopping:
                self._collected.wait(1.0)
            self._outcomes.extend(outcomes)
        if outcomes:
            self._on_outcome()


class _WorkerSlot:
    """A child process that starts when it is first needed. Belongs to one thread."""

    def __init__(self, nice: int, queue: deque[Work]) -> None:
        """``queue``: the works that its thread takes from."""
        self.queue = queue
        self._nice = nice
        self._process: ChunkProcess | None = None

    @property
    def open(self) -> bool:
        return self._process is not None

    def process(self) -> ChunkProcess:
        if self._process is None:
            self._process = ChunkProcess(nice=self._nice)
        return self._process

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()


def _quarantined(work: Work, content_hash: bytes) -> Failed | None:
    """Return the failure of a file whose content killed the worker twice and is unchanged; None for any other."""
    row = work.row
    if row is None or row.status != "failed" or row.content_hash != content_hash:
        return None
    stage, _, message = (row.reason or "").partition(": ")
    return Failed(stage, message) if stage == "quarantined" else None


def _batch(queue: deque[Work]) -> list[Work]:
    batch = [queue.popleft()]
    size = batch[0].size
    while queue and len(batch) < BATCH_FILES and size + queue[0].size <= BATCH_BYTES:
        batch.append(queue.popleft())
        size += batch[-1].size
    return batch


def _time_limit(jobs: list[_Job]) -> float:
    return TIMEOUT_S + TIMEOUT_S_PER_MIB * max(len(job.data) for job in jobs) / (1 << 20)
