"""Sends JSON to a gateway and reads its answer, with the standard library alone.

Invariant: a call ends by its deadline. It goes to the configured host only: no proxy, no redirect. No error contains a
key or a text.
"""

from __future__ import annotations

import contextlib
import email.utils
import errno
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_ipc import thread_start

MOST_BYTES: Final = 256 << 20  # of an answer
TRIES: Final = 3
LONGEST_REST_S: Final = 3_600.0  # that a gateway gets, whatever it says
_AGAIN: Final = frozenset((408, 425, 429, 500, 502, 503, 504))
_PART: Final = 1 << 16


class Gateway:
    """One host. ``bytes_sent`` counts the bodies of all requests. For any thread."""

    def __init__(self, api_base: str, headers: Mapping[str, str]) -> None:
        self._address = urlsplit(api_base)
        self._headers = {**headers, "Content-Type": "application/json", "Accept": "application/json"}
        self.host = self._address.hostname or ""
        self.bytes_sent = 0

    def post(self, path: str, body: bytes, seconds: float, *, tries: int = TRIES) -> bytes:
        """Return the answer's body. A gateway that is busy or failing is asked again within ``seconds``, after as long
        as it says. Raises EmbedderUnavailable, at once if it wants to be left alone for longer."""
        deadline = time.monotonic() + seconds
        pause = 0.5
        while True:
            tries -= 1
            status, answer, wait = self._once(path, body, deadline)
            if status == http.client.OK:
                return answer
            pause = wait if wait is not None else pause
            if status not in _AGAIN or not tries or time.monotonic() + pause >= deadline:
                is_busy = status == http.client.TOO_MANY_REQUESTS or (status in _AGAIN and wait is not None)
                reason = f"the gateway {self.host} answers {status}{_REMEDY.get(status, '')}"
                raise EmbedderUnavailable(reason, min(pause, LONGEST_REST_S) if is_busy else None)
            time.sleep(pause)
            pause *= 2

    def _once(self, path: str, body: bytes, deadline: float) -> tuple[int, bytes, float | None]:
        connection = self._connection(max(0.05, deadline - time.monotonic()))
        ended = threading.Timer(max(0.05, deadline - time.monotonic()), _shut, (connection,))
        ended.daemon = True
        thread_start.start(ended)  # the timeout of a socket begins anew with each byte of a head that comes slowly
        try:
            self.bytes_sent += len(body)
            connection.request("POST", self._address.path.rstrip("/") + path, body, self._headers)
            response = connection.getresponse()
            answer = _read(connection, response, deadline)
            return response.status, answer, _seconds(response.getheader("Retry-After"))
        except TimeoutError as error:
            raise EmbedderUnavailable(f"the gateway {self.host} did not answer in time") from error
        except (OSError, http.client.HTTPException) as error:
            if time.monotonic() >= deadline:
                raise EmbedderUnavailable(f"the gateway {self.host} did not answer in time") from error
            why = _no_network() or (isinstance(error, OSError) and error.strerror) or type(error).__name__
            raise EmbedderUnavailable(f"the gateway {self.host} does not answer: {why}") from error
        finally:
            ended.cancel()
            connection.close()

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        if self._address.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(self.host, self._address.port, timeout=seconds, context=context)
        return http.client.HTTPConnection(self.host, self._address.port, timeout=seconds)


_REMEDY: Final = {
    401: ": is its key right? (embedding.api_key_env)",
    403: ": may this key use the model?",
    404: ": does it have this model? (embedding.model, embedding.api_base)",
    429: ": its limit of requests is reached",
}


def _shut(connection: http.client.HTTPConnection) -> None:
    """End whatever waits for the connection."""
    sock = connection.sock
    if isinstance(sock, socket.socket):
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _no_network() -> str:
    """Say that this process may open no socket of the network, as in livedex's service; "" if it may. Where it may not,
    a host's name fails like one that does not exist."""
    try:
        socket.socket(socket.AF_INET).close()
    except OSError as error:
        if error.errno == errno.EAFNOSUPPORT:
            return "livedex runs as a service without network (docs/service.md says how to allow it)"
    return ""


def _read(connection: http.client.HTTPConnection, response: http.client.HTTPResponse, deadline: float) -> bytes:
    """Read a body, however slowly it comes, until the deadline."""
    parts: list[bytes] = []
    total = 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if isinstance(connection.sock, socket.socket):
            connection.sock.settimeout(left)
        part = response.read1(_PART)
        if not part:
            return b"".join(parts)
        total += len(part)
        if total > MOST_BYTES:
            raise http.client.HTTPException("too long")
        parts.append(part)


def _seconds(retry_after: str | None) -> float | None:
    """Return for how long a gateway wants to be left alone, in seconds or until a date; None: it does not say."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_tz(retry_after)
        return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())
    except (ArithmeticError, LookupError, TypeError, ValueError):  # a year or a zone that none can be
        return None
