"""The process that cuts files into chunks, apart from the daemon so that a bad file can only take this one down.

Invariant: it reads jobs from its standard input and nothing else, answers each one, and ends when the input does or
its parent is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
import signal
import sys
from typing import TYPE_CHECKING, BinaryIO

from livedex_indexing.chunk_wire import (
    CONTENT,
    FAILURE,
    HEADER,
    READY,
    ChunkFailure,
    ChunkJob,
    frame,
    read_job,
    split_header,
)
from livedex_indexing.deferred import defer

if TYPE_CHECKING:
    from livedex_indexing.backend import ChunkedContent

_ADDRESS_SPACE = 2 << 30  # bytes: far above an ordinary file's need, far below what would hurt the machine
_BIG = 256 * 1024  # bytes in or out after which freed memory is handed back to the system
_PR_SET_PDEATHSIG = 1


def main() -> None:
    nice, parent = int(sys.argv[1]), int(sys.argv[2])
    _prepare(nice, parent)
    # Imported by chonkie for its cloud services and its async methods; 13 MB that no chunk needs.
    defer("httpx", "asyncio")
    from livedex_indexing.chunk import chunk_content

    _settle()
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing a library prints may come between the frames
    answers.write(frame(READY, None))
    while (job := _next(jobs)) is not None:
        try:
            content: ChunkedContent | ChunkFailure = chunk_content(job.data, job.name, job.settings)
        except MemoryError:
            content = ChunkFailure("chunk", "out of memory")
        except Exception as error:
            content = ChunkFailure("chunk", _without_text(error))
        kind = FAILURE if isinstance(content, ChunkFailure) else CONTENT
        answer = memoryview(frame(kind, content))
        size = len(job.data) + len(answer)
        del content, job
        while answer:
            answer = answer[answers.write(answer) :]
        if size > _BIG:
            _trim()


def _next(jobs: BinaryIO) -> ChunkJob | None:
    """The next job, or None at the end of the input."""
    header = jobs.read(HEADER)
    if len(header) < HEADER:
        return None
    length, _ = split_header(header)
    body = jobs.read(length)
    return read_job(body) if len(body) == length else None


def _without_text(error: Exception) -> str:
    """What went wrong and where, without the message: it may quote the file."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    where = f" in {os.path.basename(frames.tb_frame.f_code.co_filename)}:{frames.tb_lineno}" if frames else ""
    return type(error).__name__ + where


def _prepare(nice: int, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        # The kernel sends it when the *thread* that started us ends, so look whether the process is gone too.
        signal.signal(signal.SIGUSR1, lambda *_: None if os.getppid() == parent else os._exit(0))
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGUSR1)
    if os.getppid() != parent:
        sys.exit(0)  # it died before the line above could tell us
    if nice:
        os.nice(nice)
    with contextlib.suppress(OSError, ValueError):  # macOS refuses this limit
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core would hold text of files


def _settle() -> None:
    """What the imports left stays for good: keep the collector off it, and hand the rest back."""
    gc.collect()
    gc.freeze()
    _trim()


def _trim() -> None:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
    if trim is not None:
        trim(0)


if __name__ == "__main__":
    main()
