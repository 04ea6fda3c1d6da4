"""The place of one child process that chunks files: chunk a batch in it, and say what the child's death means.

Invariant: every job of a step comes back exactly once: as an outcome, as a job to retry, or as a work to queue again.
"""

from __future__ import annotations

import logging
import time
from typing import NamedTuple

from livedex_daemon.write.outcomes import Failed, Job, NoWorker, Outcome, Result
from livedex_daemon.write.walk import Work
from livedex_indexing.chunk.chunk_process import ChunkFailure, ChunkJob, ChunkProcess, WorkerDied
from livedex_indexing.model import ChunkedContent

log = logging.getLogger(__name__)

TIMEOUT_S = 20.0  # for one file; add the next figure for each MiB
TIMEOUT_S_PER_MIB = 5.0
REST_S = 20.0  # after no child could be started


class Step(NamedTuple):
    """``retry``: the job that the child died on, for another step. ``others``: the rest of the batch, for a new one.

    ``chunked``: how many files with content a child has cut.
    """

    outcomes: list[Outcome]
    retry: list[Job]
    others: list[Work]
    chunked: int


class ChunkHealth:
    """Whether children can be started; shared by all slots. ``fault``: why none can be; None: one can."""

    def __init__(self) -> None:
        self.fault: str | None = None
        self._rest_until = 0.0  # do not try to start a child before this time

    def resting(self) -> str | None:
        """Return the fault while no child should be tried."""
        return self.fault if time.monotonic() < self._rest_until else None

    def failed(self, reason: str) -> None:
        if self.fault is None or time.monotonic() >= self._rest_until:
            self.fault, self._rest_until = reason, time.monotonic() + REST_S

    def worked(self) -> None:
        self.fault = None


class WorkerSlot:
    """A child process that starts when it is first needed. Belongs to one thread."""

    def __init__(self, nice: int, health: ChunkHealth) -> None:
        self._nice = nice
        self._health = health
        self._process: ChunkProcess | None = None

    @property
    def open(self) -> bool:
        return self._process is not None

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def chunk(self, jobs: list[Job]) -> Step:
        """Chunk a batch. If the child dies, try the file it was chunking once more, alone; quarantine it after that."""
        resting = self._health.resting()
        if resting is not None:
            return Step(_all(jobs, NoWorker(resting)), [], [], 0)
        asked = [ChunkJob(job.work.path.rpartition(b"/")[2], job.data, job.settings) for job in jobs]
        if self._process is None:
            self._process = ChunkProcess(nice=self._nice)
        try:
            return self._done(jobs, self._process.chunk(asked, _time_limit(jobs)))
        except WorkerDied as death:
            self.close()
            log.warning("chunk_worker_died", extra={"reason": death.reason})
            return self._after_death(jobs, death)

    def _done(self, jobs: list[Job], results: list[ChunkedContent | ChunkFailure]) -> Step:
        self._health.worked()
        outcomes = [job.outcome(_result(result)) for job, result in zip(jobs, results, strict=True)]
        return Step(outcomes, [], [], sum(1 for job in jobs if job.data))  # an empty file has nothing to chunk

    def _after_death(self, jobs: list[Job], death: WorkerDied) -> Step:
        """Try the file that the child was chunking again, alone; the second death quarantines it.

        The other files of the batch are queued again and do not wait for it.
        """
        done = self._done(jobs[: len(death.results)], death.results)
        rest = jobs[len(death.results) :]
        if death.job is None:  # the child never got ready, so no file is to blame
            self._health.failed(death.reason)
            return done._replace(outcomes=done.outcomes + _all(rest, NoWorker(death.reason)))
        culprit, others = rest[0], [job.work for job in rest[1:]]
        culprit.work.tries += 1
        if culprit.work.tries < 2:
            return done._replace(retry=[culprit], others=others)
        failed = Failed("quarantined", f"chunk: the worker ended twice on it ({death.reason})")
        return done._replace(outcomes=[*done.outcomes, culprit.outcome(failed)], others=others)


def _all(jobs: list[Job], result: Result) -> list[Outcome]:
    return [job.outcome(result) for job in jobs]


def _result(result: ChunkedContent | ChunkFailure) -> Result:
    return Failed("chunk", result.message) if isinstance(result, ChunkFailure) else result


def _time_limit(jobs: list[Job]) -> float:
    return TIMEOUT_S + TIMEOUT_S_PER_MIB * max(len(job.data) for job in jobs) / (1 << 20)
