"""The daemon's side of a chunk process: send files, receive chunks, survive any failure of the child.

Invariant: a call either answers every job, in order, or raises ``WorkerDied`` with the earlier answers and the index of
the current job. The child never outlives its parent and never opens a user's file. No answer is larger than its file
allows or names places outside it.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import NoReturn

import msgspec

from livedex_indexing.child import code_version
from livedex_indexing.child.child_end import END_S, end_child, how_it_ended
from livedex_indexing.child.child_starter import start_child
from livedex_indexing.child.time_taken import TimeTaken
from livedex_indexing.chunk.answer_check import is_sound
from livedex_indexing.chunk.chunk_limits import most_bytes
from livedex_indexing.chunk.chunk_messages import (
    HEADER,
    JOB,
    READY,
    READY_BYTES,
    ChunkFailure,
    ChunkJob,
    frame,
    read_result,
    read_version,
    split_header,
)
from livedex_indexing.model import ChunkedContent

__all__ = ["ChunkFailure", "ChunkJob", "ChunkProcess", "WorkerDied"]

OTHER_VERSION = "another version of livedex is installed"
UNKNOWN_VERSION = "it could not read its own code"
GAVE_WAY = "gave way to other files"

_READ = 1 << 18  # bytes per read from the pipe
_START_S = 60.0  # time for the imports of a child on a busy machine
_FAILURE_CHARS = 500  # of the reason for a failure
_POLL_S = 0.1  # between two looks at how long a file takes
_AGAIN_S = 0.01  # pause after a pipe that is ready took and gave nothing, as where the system is short of memory


class WorkerDied(Exception):
    """The child could not be started, was killed, crashed, ran out of time or answered nonsense.

    ``reason`` is one of ``killed by signal N``, ``exit status N``, ``timed out``, ``bad answer``, ``OTHER_VERSION``,
    ``UNKNOWN_VERSION``, ``GAVE_WAY``, ``cannot start: …``. ``job`` is the index of the current job; None if the child
    never became ready, so that no job is to blame. ``results`` are the answers to the jobs before it.
    ``other_version``: this process and the installed code are not of one version; a restart mends that.
    """

    def __init__(
        self,
        reason: str,
        job: int | None,
        results: list[ChunkedContent | ChunkFailure],
        *,
        other_version: bool = False,
    ) -> None:
        super().__init__(f"chunk process: {reason}, " + ("not started" if job is None else f"job {job}"))
        self.reason = reason
        self.job = job
        self.results = results
        self.other_version = other_version


class ChunkProcess:
    """One child, started at the first call and restarted after it dies. Blocking; for one thread at a time."""

    def __init__(self, *, nice: int = 0, gives_way: Callable[[float], bool] | None = None) -> None:
        """Add ``nice`` to the child's niceness: 0 for edits that a user waits for, 10 for bulk work.

        ``gives_way`` is asked again and again with the seconds that a file takes so far: if it returns True, the child
        is ended in the middle of that file. None: no file gives way.
        """
        self._nice = nice
        self._gives_way = gives_way
        self._child: subprocess.Popen[bytes] | None = None
        self._ready = False

    @property
    def pid(self) -> int | None:
        """The child's process id; None while no child runs."""
        return self._child.pid if self._child is not None else None

    def chunk(self, jobs: Sequence[ChunkJob], timeout_s: float) -> list[ChunkedContent | ChunkFailure]:
        """Cut the files. ``timeout_s``: for each file, without what the child waits for a processor. Raise
        ``WorkerDied``."""
        if not jobs:
            return []
        child = self._running()
        try:
            return _Exchange(child, jobs, timeout_s, self._gives_way, ready=self._ready).run()
        except _Lost as lost:
            reason = self._bury(lost.why)
            if lost.ready:
                answers = lost.results[: len(jobs) - 1]  # one answer too many makes the last one doubtful too
                raise WorkerDied(reason, len(answers), answers) from None
            raise WorkerDied(reason, None, [], other_version=_is_other_version(lost)) from None
        except OSError as error:  # of the pipes: no file is to blame
            raise WorkerDied(self._bury(f"pipe: {error.strerror}"), None, []) from error
        finally:
            self._ready = self._child is not None

    def close(self) -> None:
        """End the child: close its input, and kill it if it does not exit by itself."""
        child, self._child = self._child, None
        if child is not None:
            end_child(child, END_S)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is None:
            return self._child
        if self._child is not None:
            end_child(self._child)
        self._child, self._ready = None, False
        # -P: a module in the working folder must not shadow a library.
        arguments = ["-P", "-m", "livedex_indexing.chunk.chunk_child", str(self._nice), str(os.getpid())]
        try:
            self._child = start_child(arguments, _environment())
        except OSError as error:
            reason = f"cannot start: {error.strerror or error}"
            raise WorkerDied(reason, None, [], other_version=code_version.was_replaced()) from error
        return self._child

    def _bury(self, why: str) -> str:
        """Clean up after a useless child and return the reason for its end."""
        child, self._child = self._child, None
        assert child is not None
        status = end_child(child, 0.0 if why else END_S)
        return why or how_it_ended(status)


class _Lost(Exception):
    """The exchange cannot continue. ``why`` is empty if the child ended by itself: its exit status gives the reason."""

    def __init__(self, why: str, results: list[ChunkedContent | ChunkFailure], *, ready: bool) -> None:
        super().__init__(why)
        self.why = why
        self.results = results
        self.ready = ready


class _Exchange:
    """Exchange one batch. Jobs go out while answers come in, so that neither pipe blocks the other."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        jobs: Sequence[ChunkJob],
        timeout_s: float,
        gives_way: Callable[[float], bool] | None,
        *,
        ready: bool,
    ) -> None:
        assert child.stdin is not None and child.stdout is not None
        self._in, self._out = child.stdin.fileno(), child.stdout.fileno()
        self._jobs = jobs
        self._timeout_s = timeout_s
        self._gives_way = gives_way
        self._ready = ready
        self._taken = TimeTaken(child.pid)  # by the current file, or by the start of the child
        self._sent = 0
        self._going = memoryview(b"")
        self._coming = bytearray()
        self._results: list[ChunkedContent | ChunkFailure] = []

    def run(self) -> list[ChunkedContent | ChunkFailure]:
        poller = select.poll()
        poller.register(self._out, select.POLLIN)
        writing = False
        while len(self._results) < len(self._jobs):
            if self._has_more() != writing:
                writing = not writing
                if writing:
                    poller.register(self._in, select.POLLOUT)
                else:
                    poller.unregister(self._in)
            ready = dict(poller.poll(max(0, min(self._left_s(), _POLL_S)) * 1000))
            moved = bool(ready.get(self._out)) and self._receive()
            moved = (bool(ready.get(self._in)) and self._send()) or moved
            if not moved:
                self._judge()
            if ready and not moved:
                time.sleep(_AGAIN_S)
        return self._results

    def _judge(self) -> None:
        """End a child that takes too long, or long while others wait."""
        self._taken.look()
        if self._left_s() <= 0:
            self._die("timed out")
        if self._ready and self._gives_way is not None and self._gives_way(self._taken.seconds):
            self._die(GAVE_WAY)

    def _left_s(self) -> float:
        return self._taken.left(self._timeout_s if self._ready else _START_S)

    def _has_more(self) -> bool:
        # One job ahead keeps the child busy; more would only keep bytes in the pipe and in memory.
        return bool(self._going) or (self._sent < len(self._jobs) and self._sent - len(self._results) < 2)

    def _send(self) -> bool:
        """Send what the pipe takes. Return False if it took nothing."""
        if not self._going:
            self._going = memoryview(frame(JOB, self._jobs[self._sent]))
            self._sent += 1
        try:
            self._going = self._going[os.write(self._in, self._going) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:  # a dead child shows as the end of its output, after its last answers
            self._going = memoryview(b"")
        return True

    def _receive(self) -> bool:
        """Take the answers that are there. Return False if there was nothing to read."""
        try:
            data = os.read(self._out, _READ)
        except BlockingIOError:
            return False
        if not data:
            self._die("")
        self._coming += data
        while len(self._coming) >= HEADER:
            length, kind = split_header(self._coming)
            if length > self._most_bytes():
                self._die("bad answer")
            if len(self._coming) < HEADER + length:
                break
            with memoryview(self._coming) as view:
                self._take(kind, view[HEADER : HEADER + length])
            del self._coming[: HEADER + length]
        return True

    def _most_bytes(self) -> int:
        """Return how long the next frame may be; -1 if none is due, so that a child cannot answer what is not asked."""
        if not self._ready:
            return READY_BYTES
        answered = len(self._results)
        return most_bytes(len(self._jobs[answered].data)) if answered < self._sent else -1

    def _take(self, kind: int, body: memoryview) -> None:
        self._taken.restart()
        if not self._ready:
            if kind != READY:
                self._die("bad answer")
            version = read_version(body)
            if version != code_version.OWN:
                self._die(UNKNOWN_VERSION if version == code_version.UNKNOWN else OTHER_VERSION)
            self._ready = True
            return
        job = self._jobs[len(self._results)]
        try:
            with body:
                result = read_result(kind, body)
        except msgspec.MsgspecError:
            self._die("bad answer")
        if not (_is_fit(result) if isinstance(result, ChunkFailure) else is_sound(result, len(job.data))):
            self._die("bad answer")
        self._results.append(result)

    def _die(self, why: str) -> NoReturn:
        raise _Lost(why, self._results, ready=self._ready)


def _is_fit(failure: ChunkFailure) -> bool:
    return len(failure.stage) + len(failure.message) <= _FAILURE_CHARS


def _is_other_version(lost: _Lost) -> bool:
    """Return whether a child that never got ready failed because other code is installed than this process runs."""
    return lost.why == OTHER_VERSION or code_version.was_replaced()


def _environment() -> dict[str, str]:
    """Return the child's environment: one malloc arena, one BLAS thread (more waste memory), no log by chonkie."""
    return {
        **os.environ,
        "MALLOC_ARENA_MAX": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "CHONKIE_LOG": "off",
        "PYTHONUTF8": "1",
        "HF_HUB_OFFLINE": os.environ.get("HF_HUB_OFFLINE", "1"),  # a tokenizer of chonkie is not downloaded by itself
    }
