"""The process that touches network and FUSE mounts: the kernel keeps it, and not the daemon, where one does not answer.

Invariant: it makes only the calls that it reads from its standard input, each on a thread of its own, so that one that
hangs delays no other. It ends when its input does, as far as the kernel lets it.
"""

from __future__ import annotations

import errno
import os
import pickle
import signal
import struct
import threading
from queue import SimpleQueue
from typing import Any, Final

from livedex_indexing.child import code_version
from livedex_ipc import core_dumps, thread_start

FRAME: Final = struct.Struct("<QQ")  # the number of a call, and the length of what follows
SPARE: Final = 4  # threads that wait for a call


class Caller:
    """Makes calls on threads, and writes each outcome to ``answers`` once it is known."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._calls: SimpleQueue[tuple[int, bytes]] = SimpleQueue()
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._idle = 0

    def begin(self, number: int, call: bytes) -> None:
        with self._lock:
            has_thread = self._idle > 0
            self._idle -= has_thread
        if not has_thread:
            try:
                thread_start.start(threading.Thread(target=self._run, daemon=True))
            except RuntimeError:  # the system starts no more threads
                self._answer(number, OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)), None)
                return
        self._calls.put((number, call))

    def _run(self) -> None:
        while True:
            number, call = self._calls.get()
            try:
                result, fault = pickle.loads(call)(), None
            except Exception as error:  # for the process that asked
                result, fault = None, error
            self._answer(number, fault, result)
            del call, result, fault
            with self._lock:
                if self._idle >= SPARE:
                    return
                self._idle += 1

    def _answer(self, number: int, fault: Exception | None, result: Any) -> None:
        body = pickle.dumps((fault, result), pickle.HIGHEST_PROTOCOL)
        with self._writing:
            write(self._answers, number, body)


def write(pipe: int, number: int, body: bytes) -> None:
    """Write one frame. Raises OSError."""
    left = memoryview(FRAME.pack(number, len(body)) + body)
    while left:
        left = left[os.write(pipe, left) :]


def read(pipe: int) -> tuple[int, bytes]:
    """Return the number and the body of the next frame. Raises EOFError at the end of the input, OSError."""
    number, length = FRAME.unpack(_exactly(pipe, FRAME.size))
    return number, _exactly(pipe, length)


def _exactly(pipe: int, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        piece = os.read(pipe, length - len(data))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    core_dumps.disable()
    calls, answers, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    for standard in range(3):  # a process that waits for the end of the daemon's output must not wait for this one
        os.dup2(nothing, standard)
    caller = Caller(answers)
    try:
        write(answers, 0, code_version.OWN)
        while True:
            caller.begin(*read(calls))
    except (EOFError, OSError):  # the daemon has ended
        os._exit(0)


if __name__ == "__main__":
    main()
