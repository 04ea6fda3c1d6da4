"""The process that cuts files into chunks, apart from the daemon so that a bad file can only take this one down.

Invariant: it reads jobs from its standard input and nothing else, answers each one, and ends when the input does or
its parent is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import os
import resource
import select
import signal
import sys
from typing import TYPE_CHECKING

from livedex_indexing.chunk.chunk_messages import (
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
from livedex_indexing.chunk.lazy_modules import defer

if TYPE_CHECKING:
    from livedex_indexing.model import ChunkedContent

_ADDRESS_SPACE = 2 << 30  # bytes: far above an ordinary file's need, far below what would hurt the machine
_PAUSE_S = 0.1  # without a job: then freed memory is handed back to the system
_PR_SET_PDEATHSIG = 1


def main() -> None:
    nice, parent = int(sys.argv[1]), int(sys.argv[2])
    _prepare(nice, parent)
    # Imported by chonkie for cloud services, async methods and the type of embeddings: 26 MiB that no chunk needs.
    logging.logAsyncioTasks = False  # type: ignore[attr-defined]  # 3.12 and later ask asyncio for each record
    defer("httpx")
    defer("asyncio")
    defer("numpy", annotations=("ndarray", "float32"))
    from livedex_indexing.chunk.chunker import chunk_content

    jobs, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # nothing a library prints may come between the frames
    gc.collect()
    gc.freeze()  # what the imports left stays for good
    _trim()
    _write(answers, frame(READY, None))
    while (job := _next(jobs)) is not None:
        try:
            content: ChunkedContent | ChunkFailure = chunk_content(job.data, job.name, job.settings)
        except MemoryError:
            content = ChunkFailure("chunk", "out of memory")
        except Exception as error:
            content = ChunkFailure("chunk", _without_text(error))
        answer = frame(FAILURE if isinstance(content, ChunkFailure) else CONTENT, content)
        del content, job
        _write(answers, answer)
        del answer
        if not select.select([jobs], [], [], _PAUSE_S)[0]:
            _trim()


def _next(jobs: int) -> ChunkJob | None:
    """The next job, or None at the end of the input."""
    header = _read(jobs, HEADER)
    if header is None:
        return None
    body = _read(jobs, split_header(header)[0])
    return read_job(body) if body is not None else None


def _read(fd: int, length: int) -> bytearray | None:
    """Exactly ``length`` bytes, or None when the input ends before."""
    data = bytearray(length)
    got = 0
    with memoryview(data) as view:
        while got < length:
            count = os.readv(fd, [view[got:]])
            if count == 0:
                return None
            got += count
    return data


def _write(fd: int, data: bytearray) -> None:
    """Ends the process where nobody reads any more: the daemon was killed, which is no fault of ours to report."""
    with memoryview(data) as view:
        sent = 0
        while sent < len(data):
            try:
                sent += os.write(fd, view[sent:])
            except BrokenPipeError:
                sys.exit(0)


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


def _trim() -> None:
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
    if trim is not None:
        trim(0)


if __name__ == "__main__":
    main()
