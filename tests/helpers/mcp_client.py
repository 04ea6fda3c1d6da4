"""A client of ``livedex mcp`` for tests: it sends lines and reads answers, in either protocol era."""

from __future__ import annotations

import array
import fcntl
import json
import os
import queue
import subprocess
import termios
import threading
from collections.abc import Callable
from typing import IO, Any

from helpers.support import LIVEDEX, Home, wait_until

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class McpClient:
    """Starts the server in a home and talks to it. A context manager: its end closes stdin."""

    def __init__(self, home: Home, *words: str, modern: bool = True, cwd: str | None = None, **env: str) -> None:
        self.modern = modern
        self.process = subprocess.Popen(
            [str(LIVEDEX), "mcp", *words],
            env={**home.env, **env},
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._seen: list[dict[str, Any]] = []
        self._last = 0
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> McpClient:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None and self.process.stderr is not None and self.process.stdout is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(30)
        self._reader.join(10)
        stderr = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        assert (code, stderr) == (0, b""), stderr

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._messages.put(json.loads(line))

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: dict[str, Any] | None = None, **meta: Any) -> int:
        """Send a request and return its id."""
        self._last += 1
        given = dict(params or {})
        if self.modern:
            meta = {**META, **meta}
        if meta:
            given["_meta"] = meta
        self.send_line(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": given}).encode())
        return self._last

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def message(self, timeout: float = 60) -> dict[str, Any]:
        """Return the next message of the server."""
        return self._messages.get(timeout=timeout)

    def reply(self, number: int | str | None) -> dict[str, Any]:
        """Return the answer to a request; messages before it are kept in ``others``."""
        while True:
            for message in self._seen:
                if "method" not in message and message.get("id") == number:
                    self._seen.remove(message)
                    return message
            self._seen.append(self.message())

    @property
    def others(self) -> list[dict[str, Any]]:
        """Return the messages that came before the awaited answers."""
        return self._seen

    def request(self, method: str, params: dict[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
        """Return the result of a request; an AssertionError if it was refused."""
        answer = self.reply(self.send(method, params, **meta))
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured result; an AssertionError if it failed."""
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        found: dict[str, Any] = result["structuredContent"]
        return found

    def failure(self, tool: str, **arguments: Any) -> str:
        """Call a tool that fails and return its message."""
        result = self.call(tool, **arguments)
        assert result["isError"], result
        text: str = result["content"][0]["text"]
        return text


def read_late(pipe: IO[bytes], has_ended: Callable[[], bool]) -> bytes:
    """Return all that is written into a pipe: read each part only once nothing more is written without that."""
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
    parts, sizes = [b""], [0, 0]

    def rests() -> bool:
        size = array.array("i", [0])
        fcntl.ioctl(pipe, termios.FIONREAD, size)
        sizes[:] = sizes[1], size[0]
        return has_ended() or sizes[0] == sizes[1] > 0

    while wait_until(rests) and (part := os.read(pipe.fileno(), 4096)):
        parts.append(part)
    return b"".join(parts)
