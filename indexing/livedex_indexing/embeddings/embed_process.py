"""The daemon's side of a process that embeds: send texts, receive vectors, survive any failure of the child.

Invariant: a call ends by its deadline with vectors or with ``EmbedderUnavailable``; a child that failed is ended, and
the next call starts another one.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import threading
import time
from array import array
from collections.abc import Sequence
from typing import Final

import msgspec

from livedex_indexing.child import code_version
from livedex_indexing.child.child_end import end_child
from livedex_indexing.child.child_starter import start_child
from livedex_indexing.embeddings.embed_messages import (
    HEADER,
    Failure,
    FromChild,
    Ready,
    Start,
    Texts,
    Vectors,
    frame,
    from_child,
)
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable

START_S: Final = 60.0  # for the imports and the model, on a busy machine
_MOST_ANSWER: Final = 1 << 28  # bytes
_NICE: Final = 10  # bulk work


class EmbedProcess:
    """One child at most, started by the first call. Blocking; calls from several threads go one after the other."""

    def __init__(self, embedder: str, model: str, frequencies: Sequence[float] | None, timeout_s: float) -> None:
        """``timeout_s``: seconds for one batch."""
        numbers = None if frequencies is None else array("f", frequencies).tobytes()
        self._start = Start(embedder, model, numbers)
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._ready: Ready | None = None
        self._used = time.monotonic()

    @property
    def pid(self) -> int | None:
        """The child's process id; None while no child runs."""
        child = self._child
        return None if child is None else child.pid

    def ready(self) -> Ready:
        """Return what the child said of its model. Raises EmbedderUnavailable."""
        with self._lock:
            return self._running()

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text. Raises EmbedderUnavailable."""
        with self._lock:
            ready = self._running()
            answer = self._exchange(Texts(texts), self._timeout_s)
            self._used = time.monotonic()
        if not isinstance(answer, Vectors) or len(answer.numbers) != 4 * len(texts) * ready.dimensions:
            raise EmbedderUnavailable("the embedding process answered nonsense")
        numbers = array("f", answer.numbers)
        return [
            numbers[start : start + ready.dimensions].tolist() for start in range(0, len(numbers), ready.dimensions)
        ]

    def end_if_idle(self, seconds: float) -> None:
        """End a child that embedded nothing for so long: it starts again when it is needed."""
        if self._child is not None and time.monotonic() - self._used > seconds and self._lock.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._lock.release()

    def close(self) -> None:
        with self._lock:
            self._end()

    def _running(self) -> Ready:
        if self._child is not None and self._child.poll() is None and self._ready is not None:
            return self._ready
        self._end()
        arguments = ["-P", "-m", "livedex_indexing.embeddings.embed_child", str(_NICE), str(os.getpid())]
        try:
            self._child = start_child(arguments, _environment())
        except OSError as error:
            raise EmbedderUnavailable(f"the embedding process does not start: {error.strerror or error}") from error
        answer = self._exchange(self._start, START_S)
        if not isinstance(answer, Ready) or answer.version != code_version.OWN:
            self._end()
            if isinstance(answer, Ready) and answer.version == code_version.UNKNOWN:
                raise EmbedderUnavailable("the embedding process could not read its own code")
            raise EmbedderUnavailable("another version of livedex is installed: run `livedex down`")
        self._ready = answer
        return answer

    def _exchange(self, message: Start | Texts, timeout_s: float) -> FromChild:
        """Send a message and return the answer. A child that does not answer is ended."""
        child = self._child
        assert child is not None
        try:
            answer = _exchanged(child, frame(message), time.monotonic() + timeout_s)
        except EmbedderUnavailable:
            self._end()
            raise
        except (OSError, msgspec.MsgspecError) as error:
            self._end()
            raise EmbedderUnavailable(f"the embedding process failed: {type(error).__name__}") from error
        if isinstance(answer, Failure):
            if isinstance(message, Start):
                self._end()
            raise EmbedderUnavailable(answer.message)
        return answer

    def _end(self) -> None:
        child, self._child, self._ready = self._child, None, None
        if child is not None:
            end_child(child)


def _exchanged(child: subprocess.Popen[bytes], data: bytes, deadline: float) -> FromChild:
    assert child.stdin is not None and child.stdout is not None
    going, coming = memoryview(data), bytearray()
    incoming, outgoing = child.stdout.fileno(), child.stdin.fileno()
    poller = select.poll()  # `select` takes no descriptor above 1023
    poller.register(incoming, select.POLLIN)
    poller.register(outgoing, select.POLLOUT)
    while True:
        left = deadline - time.monotonic()
        ready = dict(poller.poll(max(0.0, left) * 1000))
        readable, writable = ready.get(incoming), ready.get(outgoing)
        if writable:
            with contextlib.suppress(BlockingIOError):
                going = going[os.write(outgoing, going) :]
            if not going:
                poller.unregister(outgoing)
        if readable:
            part = os.read(incoming, 1 << 18)
            if not part:
                raise EmbedderUnavailable("the embedding process ended")
            coming += part
        elif not writable and left <= 0:
            raise EmbedderUnavailable("the embedding process did not answer in time")
        if len(coming) >= HEADER:
            length = int.from_bytes(coming[:HEADER], "little")
            if length > _MOST_ANSWER:
                raise EmbedderUnavailable("the embedding process answered nonsense")
            if len(coming) >= HEADER + length:
                answer: FromChild = from_child(bytes(coming[HEADER : HEADER + length]))
                return answer


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "MALLOC_ARENA_MAX": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUTF8": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
