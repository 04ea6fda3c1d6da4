"""A program that is no daemon, at the daemon's socket: it answers each request with the same result.

With an answer of the test's own it says that it is a daemon, if it is asked for that.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from helpers.canned_daemon import info
from livedex_ipc import __version__


@contextmanager
def stranger(path: Path, answer: Any = None) -> Iterator[None]:
    """Let it listen at ``path``, one connection after the other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        thread = threading.Thread(target=_serve, args=(listening, answer))
        thread.start()
        yield
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        assert not thread.is_alive()


def _serve(listening: socket.socket, answer: Any) -> None:
    while True:
        try:
            peer = listening.accept()[0]
        except OSError:
            return
        with peer, peer.makefile("rwb") as file:
            for line in file:
                request = json.loads(line)
                is_daemon = answer is not None and request["method"] == "server/info"
                result = {**info(), "version": __version__} if is_daemon else answer if answer is not None else {}
                with suppress(OSError):
                    file.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode() + b"\n")
                    file.flush()
