"""Makes and changes the entries of a folder by their bytes, for the tests of code that touches the user's files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MIB = 1 << 20


def put(root: bytes, name: bytes, data: bytes = b"text") -> bytes:
    """Write the file in place and make the folders above; return its whole path."""
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(os.fsdecode(path)).write_bytes(data)
    return path


@contextmanager
def meanwhile(step: Callable[[int], None]) -> Iterator[None]:
    """Repeat the step in a thread for as long as the block lasts; fail if it failed."""
    ending = threading.Event()
    failures: list[BaseException] = []

    def run() -> None:
        number = 0
        try:
            while not ending.is_set():
                step(number)
                number += 1
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()
    assert failures == []
