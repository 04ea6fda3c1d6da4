"""A real server on a real socket, in a separate thread, with small handlers; and raw clients that misbehave.

Invariant: at the end of a test nothing of it is left: no request, no connection, no task, no descriptor.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from helpers.support import wait_until
from livedex_ipc.errors import NotFound
from livedex_ipc.limits import Limits
from livedex_ipc.method_types import Method
from livedex_ipc.methods import METHODS
from livedex_ipc.params import Param
from livedex_ipc.server.binding import bind, identity, unbind
from livedex_ipc.server.calls import Call, Handler
from livedex_ipc.server.rpc_server import Server
from livedex_ipc.wire_results import ProgressValue

WAIT_S = 20.0

TEST_METHODS = {
    **METHODS,
    "test/echo": Method("test/echo", "Answers what it got.", (Param("text", "string", "text", default=""),)),
    "test/big": Method("test/big", "A large answer.", (Param("bytes", "integer", "size", required=True),)),
    "test/wait": Method(
        "test/wait", "Waits until it is ended.", (Param("key", "string", "key"),), cancel_on_close=True
    ),
    "test/job": Method("test/job", "Waits for the gate, whoever still listens.", (Param("name", "string", "name"),)),
    "test/fail": Method("test/fail", "Fails.", (Param("how", "string", "how", required=True),)),
    "test/progress": Method("test/progress", "Tells.", (Param("progress_token", "token", "token"),)),
    "test/result": Method("test/result", "Answers with what cannot be written as JSON."),
}


class Serving:
    """The view that a test has of its server."""

    def __init__(self, path: Path, limits: Limits, uid: int | None, handlers: Mapping[str, Handler]) -> None:
        self.path = path
        self.running = 0  # handlers that have begun and not ended
        self.most = 0  # the most that ran at once
        self.done: list[str] = []  # the names of the jobs that finished
        self.loop = asyncio.new_event_loop()
        self.gate = asyncio.Event()
        own = {
            "server/ping": self._ping,
            "test/echo": self._echo,
            "test/big": self._big,
            "test/wait": self._wait,
            "test/job": self._job,
            "test/fail": self._fail,
            "test/progress": self._progress,
            "test/result": self._result,
        }
        self.server = Server({**own, **handlers}, limits=limits, uid=uid, methods=TEST_METHODS)

    def connect(self) -> Raw:
        """A raw client."""
        return Raw(self.path)

    def open_gate(self) -> None:
        """Let the jobs end."""
        self.loop.call_soon_threadsafe(self.gate.set)

    def accept_all(self) -> None:
        """Return when every client that has connected so far was accepted: they are accepted in order."""
        with suppress(OSError), self.connect() as last:
            last.line(request("server/ping"))
            last.read()

    def run(self, work: Any) -> Any:
        """Return the result of a coroutine in the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(WAIT_S)

    async def _ping(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        return {}

    async def _echo(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        return {"text": params["text"]}

    async def _big(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        return {"text": "x" * params["bytes"]}

    async def _wait(self, call: Call, params: dict[str, Any]) -> None:
        if params["key"] is not None:
            call.supersede(params["key"])
        with self._counted():
            await asyncio.Event().wait()

    async def _job(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        with self._counted():
            await self.gate.wait()
        self.done.append(params["name"])
        return {"name": params["name"]}

    async def _fail(self, call: Call, params: dict[str, Any]) -> None:
        if params["how"] == "known":
            raise NotFound("no such thing", {"thing": "x"})
        if params["how"] == "memory":
            raise MemoryError
        raise RuntimeError("text of a file")

    async def _progress(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        value: ProgressValue = {
            "kind": "begin", "message": "", "percentage": 0,
            "done": 0, "total": 0, "done_bytes": 0, "total_bytes": 0, "path": None,
        }  # fmt: skip
        call.progress(value)
        call.progress({**value, "kind": "report"})
        call.progress({**value, "kind": "end"})
        return {"asked": params["progress_token"]}

    async def _result(self, call: Call, params: dict[str, Any]) -> object:
        return object()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            yield
        finally:
            self.running -= 1


@contextmanager
def serving(
    limits: Limits = Limits(),  # noqa: B008  (immutable)
    *,
    uid: int | None = None,
    mode: int | None = None,
    handlers: Mapping[str, Handler] | None = None,
) -> Iterator[Serving]:
    """Yield a server that answers. ``mode``: of its socket and folder; private without it."""
    folder = Path(tempfile.mkdtemp(prefix="ldx-", dir=os.path.realpath("/tmp")))
    path = folder / "s.sock"
    made = Serving(path, limits, uid, handlers or {})
    sock = bind(str(path))
    if mode is not None:
        folder.chmod(0o755)
        path.chmod(mode)
    thread = threading.Thread(target=made.loop.run_forever, name="server")
    thread.start()
    try:
        made.run(made.server.start(sock))
        bound = identity(str(path))
        assert bound is not None
        yield made
        made.open_gate()
        made.accept_all()
        wait_until(lambda: made.server.connections == 0, WAIT_S, what="the end of all connections")
        wait_until(lambda: made.running == 0, WAIT_S, what="the end of all requests")
        unbind(str(path), bound)
    finally:
        with suppress(Exception):
            made.run(made.server.close(0.1))
        made.loop.call_soon_threadsafe(made.loop.stop)
        thread.join()
        made.loop.close()
        shutil.rmtree(folder)


class Raw:
    """A client that sends any bytes and reads either framing."""

    def __init__(self, path: Path) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(WAIT_S)
        try:
            self.sock.connect(str(path))
        except OSError:
            self.sock.close()
            raise
        self.stream = self.sock.makefile("rb")

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.stream.close()
        self.sock.close()

    def send(self, data: bytes | str) -> None:
        """Send as much as the other end takes before it closes."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.sock.sendall(data.encode() if isinstance(data, str) else data)

    def line(self, message: Any) -> None:
        """Send a message as one line."""
        self.send(json.dumps(message) + "\n")

    def framed(self, message: Any) -> None:
        """Send a message with headers."""
        body = json.dumps(message).encode()
        self.send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def read(self) -> Any:
        """Return the next message on a line; None at the end of the stream."""
        line = self.stream.readline()
        if not line:
            return None
        assert line.endswith(b"\n"), line
        return json.loads(line.decode("utf-8"), parse_constant=_no_constant)

    def read_framed(self) -> Any:
        """Return the next message with headers; None at the end of the stream."""
        header = self.stream.readline()
        if not header:
            return None
        name, _, value = header.partition(b":")
        assert name == b"Content-Length" and self.stream.readline() == b"\r\n", header
        return json.loads(self.stream.read(int(value)))

    def ask(self, method: str, params: Any = None, request_id: Any = 1) -> Any:
        """Return the answer to one request on a line."""
        message = request(method, params, request_id)
        self.line(message)
        return self.read()

    def ended(self) -> bool:
        """Read to the end of the stream; an AssertionError if it does not come."""
        try:
            while self.stream.read(65536):
                pass
        except ConnectionResetError:
            return True
        except TimeoutError:
            raise AssertionError("the connection was not closed") from None
        return True


def request(method: str, params: Any = None, request_id: Any = 1) -> dict[str, Any]:
    """Return a request as a client would write it."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def note(method: str, params: Any = None) -> dict[str, Any]:
    """Return a notification."""
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def code_of(answer: Any) -> int | None:
    """Return the error code of an answer; None for a result."""
    assert isinstance(answer, dict), answer
    return answer["error"]["code"] if "error" in answer else None


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} in an answer")


Opener = Callable[[], Raw]
