"""The place of one child process that chunks files: chunk a batch in it, and say what the child's death means.

Invariant: every job of a step comes back exactly once: as an outcome, as a job to retry, or as a work to queue again.
A file is blamed only for what a harmless text of the same name does not cause too.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from livedex_daemon.write.chunk_health import ChunkHealth, WorkerFault
from livedex_daemon.write.outcomes import Failed, Job, NoWorker, Outcome, Result, Unreadable
from livedex_daemon.write.walk import Work
from livedex_indexing.chunk.chunk_limits import time_limit
from livedex_indexing.chunk.chunk_process import GAVE_WAY, ChunkFailure, ChunkJob, ChunkProcess, WorkerDied
from livedex_indexing.model import ChunkedContent

log = logging.getLogger(__name__)

DEATHS = 2  # of a child on one file before the file is quarantined
PROBE = b"words\n"  # harmless


class Step(NamedTuple):
    """``retry``: the job that the child died on, for another step. ``others``: the rest of the batch, for a new one.

    ``chunked``: how many files with content a child has cut. ``slow``: a file that gave way to others.
    """

    outcomes: list[Outcome]
    retry: list[Job]
    others: list[Work]
    chunked: int
    slow: list[Work]


class WorkerSlot:
    """A child process that starts when it is first needed. Belongs to one thread."""

    def __init__(
        self, nice: int, health: ChunkHealth, gives_way: Callable[[float, int], bool] = lambda *_: False
    ) -> None:
        """``gives_way(took_s, files)``: whether a file that took so long, in a batch of so many, gives way."""
        self._nice = nice
        self._health = health
        self._gives_way = gives_way
        self._batch = 0
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
            return Step(_all(jobs, NoWorker(resting.reason)), [], [], 0, [])
        try:
            results = self._run_jobs([_chunk_job(job, job.data) for job in jobs])
        except WorkerDied as death:
            return self._after_death(jobs, death)
        return self._done(jobs, results)

    def _run_jobs(self, chunk_jobs: list[ChunkJob]) -> list[ChunkedContent | ChunkFailure]:
        if self._process is None:
            self._process = ChunkProcess(nice=self._nice, gives_way=lambda took_s: self._gives_way(took_s, self._batch))
        self._batch = len(chunk_jobs)
        try:
            return self._process.chunk(chunk_jobs, time_limit(max(len(job.data) for job in chunk_jobs)))
        except WorkerDied as death:
            self.close()
            if death.reason != GAVE_WAY:
                log.warning("chunk_worker_died", extra={"reason": death.reason})
            raise

    def _done(self, jobs: list[Job], results: list[ChunkedContent | ChunkFailure]) -> Step:
        if results:
            self._health.worked()
        for job, result in zip(jobs, results, strict=True):
            self._note_pipeline(job, result)
        outcomes = [job.outcome(_result(job, result)) for job, result in zip(jobs, results, strict=True)]
        return Step(outcomes, [], [], sum(1 for job in jobs if job.data), [])  # an empty file has nothing to chunk

    def _note_pipeline(self, job: Job, result: ChunkedContent | ChunkFailure) -> None:
        if job.plan.plugin is not None and isinstance(result, ChunkedContent):
            fault = job.plugin_fault if job.plugin_fault is not None else result.plugin_fault
            self._health.pipelines.note(job.plan.plugin.name, job.work.key, fault)

    def _after_death(self, jobs: list[Job], death: WorkerDied) -> Step:
        """Try the file that the child was chunking again, alone; the second death quarantines it.

        The other files of the batch are queued again and do not wait for it.
        """
        done = self._done(jobs[: len(death.results)], death.results)
        rest = jobs[len(death.results) :]
        if death.job is None:  # the child never got ready, so no file is to blame
            return self._no_worker(done, rest, WorkerFault(death.reason, death.other_version))
        culprit, others = rest[0], [job.work for job in rest[1:]]
        if death.reason == GAVE_WAY:
            return done._replace(slow=[culprit.work], others=others)
        if culprit.plan.plugin is not None and culprit.plugin_fault is None:  # it is the plugin's fault until proven
            return done._replace(retry=[culprit.without_plugin(death.reason)], others=others)
        culprit.work.deaths += 1
        if culprit.work.deaths < DEATHS:
            return done._replace(retry=[culprit], others=others)
        fault = self._fault_of_all(culprit, death)
        if fault is not None:
            culprit.work.deaths = 0
            return self._no_worker(done, rest, fault)
        failed = Failed("quarantined", f"chunk: the worker ended twice on it ({death.reason})")
        return done._replace(outcomes=[*done.outcomes, culprit.outcome(failed)], others=others)

    def _no_worker(self, done: Step, rest: list[Job], fault: WorkerFault) -> Step:
        self._health.failed(fault)
        return done._replace(outcomes=done.outcomes + _all(rest, NoWorker(fault.reason)))

    def _fault_of_all(self, culprit: Job, death: WorkerDied) -> WorkerFault | None:
        """Return the fault if a child that ended by itself does so for any file: then the installation is broken.

        A signal or a deadline speaks against the file: of an installation that is broken so, each file is quarantined.
        """
        if not death.reason.startswith("exit status"):
            return None
        try:
            self._run_jobs([_chunk_job(culprit, PROBE)])
        except WorkerDied as again:
            return WorkerFault(again.reason, again.other_version)
        return None


def _chunk_job(job: Job, data: bytes) -> ChunkJob:
    return ChunkJob(job.work.path.rpartition(b"/")[2], data, job.settings, job.document is not None)


def _all(jobs: list[Job], result: Result) -> list[Outcome]:
    return [job.outcome(result) for job in jobs]


def _result(job: Job, result: ChunkedContent | ChunkFailure) -> Result:
    if isinstance(result, ChunkFailure):
        return Unreadable(errno.EIO) if result.stage == "read" else Failed("chunk", result.message)
    if job.plugin_fault is not None:
        return msgspec.structs.replace(result, fallback="pipeline")
    return result
