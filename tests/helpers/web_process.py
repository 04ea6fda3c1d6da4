"""`livedex web` as a user starts it, and requests as a browser, or somebody else, would send them."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from helpers.support import LIVEDEX, Home

WAIT_S = 20.0


class Reply(NamedTuple):
    """A whole response. ``headers``: lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class WebProcess:
    """A context manager. ``words``: options of the command."""

    def __init__(self, home: Home, *words: str, **env: str) -> None:
        self.process = subprocess.Popen(
            [str(LIVEDEX), "web", *words],
            env={**home.env, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.host = urlsplit(self.url).netloc
        self.origin = f"http://{self.host}"
        self.port = urlsplit(self.url).port or 0
        self.token = urlsplit(self.url).fragment.removeprefix("token=")

    def __enter__(self) -> WebProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Ask it to end. Return its exit code and what it printed on stderr. A second call does nothing."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        _out, errors = self.process.communicate(timeout=WAIT_S) if self._is_open else ("", "")
        assert "Traceback" not in errors, errors
        return self.process.returncode, errors

    @property
    def _is_open(self) -> bool:
        return self.process.stderr is not None and not self.process.stderr.closed

    def peer(self, address: str = "127.0.0.1") -> socket.socket:
        """Return a connection; the caller closes it."""
        return socket.create_connection((address, self.port), WAIT_S)

    def request(self, method: str, target: str, body: bytes = b"", **headers: str | None) -> Reply:
        """Send a request with the headers of a browser; a header that is None is left out."""
        fetched = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"}
        own = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Origin": self.origin}
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"Host": self.host, **fetched, **(own if method == "POST" else {}), **given}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if method == "POST":
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, names, response.read())
        finally:
            connection.close()

    def call(self, method: str, **params: object) -> Any:
        """Call a method as the page does. Return ``{result}`` or ``{error}``."""
        reply = self.request("POST", f"/api/{method}", json.dumps(params).encode())
        assert reply.status == 200, reply
        return json.loads(reply.body)

    def changes(self, *searches: dict[str, object]) -> ChangeStream:
        """Follow searches as the page does."""
        return ChangeStream(self, {"searches": searches})

    def sockets(self) -> int:
        """Return how many sockets the process has: Linux only."""
        found = 0
        for name in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                found += os.readlink(f"/proc/{self.process.pid}/fd/{name}").startswith("socket:")
            except OSError:
                continue
        return found


class ChangeStream:
    """A context manager over the lines of a stream of changes."""

    def __init__(self, web: WebProcess, params: object) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=WAIT_S)
        headers = {"Authorization": f"Bearer {web.token}", "Content-Type": "application/json", "Origin": web.origin}
        self._connection.request("POST", "/api/changes", json.dumps(params).encode(), headers)
        self._response = self._connection.getresponse()

    def __enter__(self) -> ChangeStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()
        self._connection.close()

    def lines(self) -> Iterator[dict[str, Any]]:
        while line := self._response.readline():
            yield json.loads(line)


def page_sources() -> dict[str, str]:
    """Return the text of each file of the page."""
    from livedex_ipc.web.page_files import FOLDER

    return {path.name: path.read_text() for path in Path(FOLDER).iterdir()}
