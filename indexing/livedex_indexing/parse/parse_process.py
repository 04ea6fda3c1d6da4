"""Convert one document in a child of its own, and say what the child's end means.

Invariant: a call returns within its time, whatever the child does; memory is bounded by the largest answer; no child is
left when it returns. The child gets a private copy of the bytes, never the user's file.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from livedex_indexing.child.child_end import END_S, end_child, how_it_ended
from livedex_indexing.child.child_starter import start_child
from livedex_indexing.child.time_taken import TimeTaken
from livedex_indexing.parse.parse_messages import (
    MOST_ANSWER_BYTES,
    READY,
    Converted,
    Failure,
    ParseJob,
    job_bytes,
    read_answer,
)
from livedex_indexing.parse.parsers import BUILT_IN, PANDOC

_START_S: Final = 60.0  # for the imports, on a busy machine
_READ: Final = 1 << 18
_POLL_S: Final = 0.5  # between two looks at how long the child takes
_KEPT: Final = (  # of the environment: nothing that a parser could give away
    "PATH", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH",
    "LIVEDEX_LOAD_PLUGINS",
)  # fmt: skip
_PREFIX: Final = "document-"
_PLACE: Final = re.compile(r"document-[a-z0-9_]{8}")  # as tempfile makes it
_COPY: Final = "document."

__all__ = ["Converted", "Failure", "NoParser", "Request", "convert", "remove_copies"]


class NoParser(Exception):
    """No child can convert anything here: the document is not to blame."""


class Request(NamedTuple):
    """``data``: the document's bytes; ``suffix`` in lower case. ``folder``: where its copy may lie meanwhile.

    ``owner``, ``plugins`` and ``config`` are for a plugin's parser.
    """

    data: bytes
    suffix: str
    parser: str
    timeout_s: float
    folder: str
    owner: str = ""
    plugins: tuple[str, ...] = ()
    config: Mapping[str, object] = MappingProxyType({})


def convert(request: Request) -> Converted | Failure:
    """Convert one document. Raises NoParser."""
    try:
        place = tempfile.mkdtemp(prefix=_PREFIX, dir=request.folder)
    except OSError as error:
        raise NoParser(f"no place for a copy: {error.strerror}") from error
    try:
        path = os.path.join(place, _COPY + request.suffix.removeprefix("."))
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400), "wb") as file:
            file.write(request.data)
        job = ParseJob(
            path,
            request.suffix,
            request.parser,
            request.timeout_s,
            request.owner,
            list(request.plugins),
            dict(request.config),
        )
        return _run(job)
    except OSError as error:
        raise NoParser(f"cannot start: {error.strerror or error}") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def remove_copies(folder: str) -> None:
    """Remove the copies that a killed daemon left behind, and nothing else: LIVEDEX_HOME may be any folder."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if _PLACE.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                _remove_copy(entry.path)


def _remove_copy(place: str) -> None:
    with contextlib.suppress(OSError):
        for name in os.listdir(place):
            if name.startswith(_COPY):
                os.unlink(os.path.join(place, name))
        os.rmdir(place)  # unless it has anything else


def _run(job: ParseJob) -> Converted | Failure:
    child = start_child(["-P", "-m", "livedex_indexing.parse.parse_child", str(os.getpid())], _environment())
    try:
        answer = _Answer(child, job).read()
    except BaseException:
        end_child(child)
        raise
    status = end_child(child, END_S if answer.cause is None else 0.0)
    return _named(_meaning(answer, status, job), job.parser)


class _Read(NamedTuple):
    """``is_ready``: the child had loaded its parser. ``cause``: why it was ended; None if it ended by itself."""

    data: bytes
    is_ready: bool
    cause: str | None


class _Answer:
    """Sends the job and reads all that the child says, up to its limits."""

    def __init__(self, child: subprocess.Popen[bytes], job: ParseJob) -> None:
        assert child.stdin is not None and child.stdout is not None
        self._child, self._stdin, self._out = child, child.stdin, child.stdout.fileno()
        self._timeout_s = job.timeout_s
        self._left = memoryview(job_bytes(job))

    def read(self) -> _Read:
        data, is_ready = bytearray(), False
        taken, limit_s = TimeTaken(self._child.pid), _START_S
        poller = select.poll()
        poller.register(self._out, select.POLLIN)
        poller.register(self._stdin.fileno(), select.POLLOUT)
        while True:
            events = dict(poller.poll(max(0, min(taken.left(limit_s), _POLL_S)) * 1000))
            if not events:
                taken.look()
            if taken.left(limit_s) <= 0:
                return _Read(bytes(data), is_ready, "timed out")
            if not self._stdin.closed and self._stdin.fileno() in events:
                number = self._stdin.fileno()
                if self._send():
                    poller.unregister(number)
                    self._stdin.close()
            if self._out not in events:
                continue
            with contextlib.suppress(BlockingIOError):
                piece = os.read(self._out, _READ)
                if not piece:
                    return _Read(bytes(data), is_ready, None)
                data += piece
            if not is_ready and data:
                if data[:1] != READY:
                    return _Read(b"", False, "bad answer")
                del data[:1]
                is_ready, limit_s = True, self._timeout_s
                taken.restart()
            if len(data) > MOST_ANSWER_BYTES:
                return _Read(b"", is_ready, "too much text")

    def _send(self) -> bool:
        """Send what the pipe takes; return True when nothing is left to send."""
        with contextlib.suppress(BlockingIOError):
            try:
                self._left = self._left[os.write(self._stdin.fileno(), self._left) :]
            except BrokenPipeError:
                return True
        return not self._left


def _meaning(answer: _Read, status: int, job: ParseJob) -> Converted | Failure:
    if not answer.is_ready:
        ended = answer.cause or how_it_ended(status)
        if job.parser not in BUILT_IN:  # a plugin's holds up no other's documents
            return Failure(f"the parser {job.parser!r} cannot be loaded ({ended})", is_exhausted=True)
        raise NoParser(f"{job.parser} cannot be loaded ({ended})")
    if answer.cause == "timed out":
        return Failure(f"timed out after {job.timeout_s:g} s", is_exhausted=True)
    if answer.cause is not None:
        return Failure(answer.cause, is_exhausted=True)
    if job.parser == PANDOC:
        if status > 0:
            return Failure("out of memory" if status == 251 else f"pandoc: exit status {status}", status == 251)
        text = answer.data.decode("utf-8", "replace").encode()
        return Converted(text, []) if status == 0 else Failure(how_it_ended(status), is_exhausted=True)
    found = read_answer(answer.data)
    return Failure(how_it_ended(status), is_exhausted=True) if found is None else found


def _named(outcome: Converted | Failure, parser: str) -> Converted | Failure:
    """Return the outcome; a failure of a plugin's parser names it, since what helps is in the plugin."""
    if not isinstance(outcome, Failure) or parser in BUILT_IN or repr(parser) in outcome.message:
        return outcome
    rest = outcome.message.removeprefix("the parser ")
    joint = " " if rest != outcome.message else ": "
    return Failure(f"the parser {parser!r}{joint}{rest}", outcome.is_exhausted)


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {
        "HOME": "/",
        "MALLOC_ARENA_MAX": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore",
    }
