"""A program that is no daemon, at the daemon's socket: it answers each request with an empty result."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def stranger(path: Path) -> Iterator[None]:
    """Let it listen at ``path``, one connection after the other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        thread = threading.Thread(target=_serve, args=(listening,))
        thread.start()
        yield
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        assert not thread.is_alive()


def _serve(listening: socket.socket) -> None:
    while True:
        try:
            peer = listening.accept()[0]
        except OSError:
            return
        with peer, peer.makefile("rwb") as file:
            for line in file:
                file.write(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {}}).encode() + b"\n")
                file.flush()
