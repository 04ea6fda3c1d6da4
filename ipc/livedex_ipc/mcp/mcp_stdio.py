"""Serves the protocol on stdin and stdout: reads lines on the main thread, runs calls on others, writes answers whole.

Invariant: nothing but messages is written to stdout; each request is answered unless it was cancelled; the process ends
with its client and does nothing while no message comes.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import deque
from collections.abc import Sequence
from typing import BinaryIO

from livedex_ipc.errors import Unavailable
from livedex_ipc.mcp.mcp_protocol import (
    INVALID_REQUEST,
    Call,
    Cancel,
    Message,
    Protocol,
    RequestId,
    answer,
    id_at_an_end,
    progress,
    refusal,
)
from livedex_ipc.mcp.mcp_tools import Tool
from livedex_ipc.mcp.tool_call import CancelledCall, Connections, ToolCall, failure
from livedex_ipc.thread_start import start_thread

MAX_LINE = 4 << 20
END_BYTES = 1024  # of a message that is too long: at which its id is looked for
MAX_WAITING = 1000  # calls that wait for a thread
THREADS = 4
END_S = 5.0  # for the calls under way once stdin has ended


def serve(tools: Sequence[Tool], stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
    """Answer the client on stdin until it ends; without stdin or stdout there is none."""
    given, taken = stdin or getattr(sys.stdin, "buffer", None), stdout or getattr(sys.stdout, "buffer", None)
    if given is not None and taken is not None:
        StdioServer(tools, given, taken).run()


class StdioServer:
    """One client's server."""

    def __init__(self, tools: Sequence[Tool], stdin: BinaryIO, stdout: BinaryIO) -> None:
        self._protocol = Protocol(tools)
        self._stdin, self._stdout = stdin, stdout
        self._write_lock = threading.Lock()
        self._connections = Connections()
        self._state = threading.Condition()
        self._waiting: deque[tuple[Call, ToolCall]] = deque()
        self._calls: dict[RequestId, ToolCall] = {}  # waiting or running
        self._threads = self._busy = 0

    def run(self) -> None:
        """Read until the end of stdin; then finish what is under way, for ``END_S`` at most."""
        while line := self._stdin.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                self._refuse_long(line)
            elif line.strip():
                self._take(line)
        with self._state:
            self._state.wait_for(lambda: not self._calls and not self._busy, END_S)  # busy until the answer is written

    def _refuse_long(self, line: bytes) -> None:
        """Read the rest of a message that is too long, and say so to the request, if its id is known."""
        head, tail = line[:END_BYTES], line[-END_BYTES:]
        while line and not line.endswith(b"\n"):
            line = self._stdin.readline(MAX_LINE)
            tail = (tail + line)[-END_BYTES:]
        number = id_at_an_end(head, tail)
        self._write(refusal(number, INVALID_REQUEST, f"a message has at most {MAX_LINE} bytes"))

    def _take(self, line: bytes) -> None:
        taken = self._protocol.take(line)
        if isinstance(taken, Call):
            self._queue(taken)
        elif isinstance(taken, Cancel):
            with self._state:
                call = self._calls.get(taken.id)
            if call is not None:
                call.cancel()
        elif taken is not None:
            self._write(taken)

    def _queue(self, call: Call) -> None:
        """Have a thread run the call."""
        run = ToolCall(call.tool, call.arguments, self._connections, self._progress_of(call))
        try:
            with self._state:
                refused = len(self._waiting) >= MAX_WAITING or call.id in self._calls
                if not refused:
                    self._need_thread()
                    self._calls[call.id] = run
                    self._waiting.append((call, run))
                    self._state.notify()
        except Unavailable as error:
            self._write(answer(call.id, failure(error.message), modern=call.modern))
            return
        if refused:
            self._write(refusal(call.id, INVALID_REQUEST, "too many calls are running, or one with this id: wait"))

    def _need_thread(self) -> None:
        """Start one more for the next call, if that helps. Raise Unavailable if there is none and none can be."""
        if self._busy + len(self._waiting) < self._threads or self._threads == THREADS:
            return
        try:
            start_thread(self._work, "call")
        except Unavailable:
            if not self._threads:
                raise
        else:
            self._threads += 1

    def _work(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: bool(self._waiting))
                call, run = self._waiting.popleft()
                self._busy += 1
            reply = self._outcome(call, run)
            with self._state:
                del self._calls[call.id]
            if reply is not None:
                self._write(reply)
            with self._state:
                self._busy -= 1
                self._state.notify_all()

    def _outcome(self, call: Call, run: ToolCall) -> Message | None:
        """Return the answer to a call; None if it was cancelled."""
        try:
            return answer(call.id, run.run(links=call.links), modern=call.modern)
        except CancelledCall:
            return None
        except Exception as error:  # a bug: report it to the agent, and answer the next call
            print(f"livedex mcp: {type(error).__name__}: {error}", file=sys.stderr)
            message = f"a fault of livedex itself: {type(error).__name__}"
            return answer(call.id, failure(message), modern=call.modern)

    def _progress_of(self, call: Call) -> _Progress | None:
        return None if call.progress_token is None else _Progress(call.progress_token, self)

    def _write(self, message: Message) -> None:
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"  # ASCII: half a surrogate pair, too
        try:
            with self._write_lock:
                self._stdout.write(data)
                self._stdout.flush()
        except (OSError, ValueError):
            os._exit(0)  # the client has gone

    def report(self, token: RequestId, done: float, total: float | None, message: str) -> None:
        """Tell the client how far a call has come."""
        self._write(progress(token, done, total, message))


class _Progress:
    """Reports the progress of one call; the numbers only grow, as the protocol wants it."""

    def __init__(self, token: RequestId, server: StdioServer) -> None:
        self._token = token
        self._server = server
        self._last = -1.0

    def __call__(self, done: float, total: float | None, message: str) -> None:
        if done > self._last:
            self._last = done
            self._server.report(self._token, done, total, message)
