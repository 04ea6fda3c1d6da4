"""The process that cuts files into chunks, separate from the daemon so that a bad file can crash only this process.

Invariant: it reads only jobs, from its standard input, answers each one, and ends when the input or its parent ends,
even in the middle of a loop in C code.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import logging
import os
import resource
import select
import sys
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from livedex_indexing.child import code_version
from livedex_indexing.child.child_pipes import keep_from_copies, read_exactly, silence, write_all
from livedex_indexing.child.lazy_modules import defer
from livedex_indexing.child.parent_process import follow_parent
from livedex_indexing.chunk.chunk_limits import most_bytes, time_limit
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
from livedex_indexing.chunk.error_place import error_place
from livedex_ipc.resource_limits import limit, limit_softly

if TYPE_CHECKING:
    from livedex_indexing.model import ChunkedContent

_ADDRESS_SPACE = 2 << 30  # bytes: far more than an ordinary file needs, far less than would hurt the machine
_FILES = 256  # open at once
_START_CPU_S = 60.0  # for the imports
_PAUSE_S = 0.1  # without a job, before freed memory is returned to the system


def main() -> None:
    follow_parent(nice=int(sys.argv[1]), parent=int(sys.argv[2]))
    _limit_resources()
    gc.disable()  # what the imports make stays: to look through it meanwhile takes a tenth of the start
    logging.logAsyncioTasks = False  # type: ignore[attr-defined]  # 3.12 and later ask asyncio for each record
    # Of livedex, only a parser of documents starts programs.
    for module in ("shutil", "subprocess"):
        defer(module)
    # Imported by chonkie for cloud services, async methods, progress bars and the type of embeddings: 26 MiB that no
    # chunk needs.
    for module in ("httpx", "asyncio"):
        defer(module)
    defer("tqdm", functions=("tqdm", "trange"))
    defer("numpy", annotations=("ndarray", "float32"))
    # They import all the steps that there are, a fifth of the start; livedex cuts with two of them.
    for package in ("chonkie", "chonkie.chef", "chonkie.chunker", "chonkie.refinery"):
        defer(package)
    from livedex_indexing.chunk.chunker import chunk_content

    jobs, answers = os.dup(0), os.dup(1)
    silence(1)  # the output of a library must not mix with the frames, and may have text of a file
    keep_from_copies(jobs, answers)
    gc.collect()
    gc.freeze()  # the objects from the imports stay until the end
    gc.enable()
    _trim()
    write_all(answers, frame(READY, code_version.OWN))
    while (job := _next(jobs)) is not None:
        _limit_cpu(time_limit(len(job.data)))
        if job.settings.plugins:
            silence(2)  # it leads to the daemon's log, and a plugin may print text of the file
        try:
            content: ChunkedContent | ChunkFailure = chunk_content(
                job.data, job.name, job.settings, is_converted=job.is_converted
            )
        except MemoryError:
            content = ChunkFailure("chunk", "out of memory")
        except (OSError, ImportError) as error:
            # The system's fault, not the file's: it comes again, and what was not found is then looked for again.
            importlib.invalidate_caches()
            content = ChunkFailure("read", error_place(error))
        except Exception as error:
            content = ChunkFailure("chunk", error_place(error))
        answer = _answer(content, len(job.data))
        del content, job
        write_all(answers, answer)
        del answer
        if not select.select([jobs], [], [], _PAUSE_S)[0]:
            _trim()


def _answer(content: ChunkedContent | ChunkFailure, size: int) -> bytearray:
    """Return the frame of an answer about a file of ``size`` bytes."""
    if isinstance(content, ChunkFailure):
        return frame(FAILURE, content)
    answer = frame(CONTENT, content)
    if len(answer) > HEADER + most_bytes(size):  # the daemon would take it for an attack
        return frame(FAILURE, ChunkFailure("chunk", f"{len(content.chunks)} chunks are too many"))
    return answer


def _next(jobs: int) -> ChunkJob | None:
    """Return the next job, or None at the end of the input."""
    header = read_exactly(jobs, HEADER)
    if header is None:
        return None
    body = read_exactly(jobs, split_header(header)[0])
    return read_job(body) if body is not None else None


def _limit_resources() -> None:
    limit(resource.RLIMIT_AS, _ADDRESS_SPACE)
    limit_softly(resource.RLIMIT_NOFILE, _FILES)  # the daemon's own may be very high
    _limit_cpu(_START_CPU_S)


def _limit_cpu(seconds: float) -> None:
    """Let the kernel end this process after so much more CPU time, wherever it loops, with or without a parent.

    The daemon's own deadline comes first: no process uses more CPU time than time passes.
    """
    _set_cpu_limit(int(time.process_time() + seconds) + 2)


@lru_cache(maxsize=1)
def _set_cpu_limit(soft: int) -> None:
    """Set the limit, in whole seconds; most files need no other than the one before."""
    limit_softly(resource.RLIMIT_CPU, soft)


def _trim() -> None:
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
    if trim is not None:
        trim(0)


if __name__ == "__main__":
    main()
