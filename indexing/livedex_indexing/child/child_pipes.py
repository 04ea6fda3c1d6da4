"""How a child reads and writes its pipes.

Invariant: a child whose parent is gone ends quietly.
"""

from __future__ import annotations

import os
import sys


def read_exactly(descriptor: int, length: int) -> bytearray | None:
    """Read ``length`` bytes; return None if the input ends before."""
    data = bytearray(length)
    got = 0
    with memoryview(data) as view:
        while got < length:
            count = os.readv(descriptor, [view[got:]])
            if count == 0:
                return None
            got += count
    return data


def write_all(descriptor: int, data: bytes | bytearray) -> None:
    """Write all of ``data``. End the process if the pipe has no reader: the daemon was killed."""
    with memoryview(data) as view:
        sent = 0
        while sent < len(data):
            try:
                sent += os.write(descriptor, view[sent:])
            except BrokenPipeError:
                sys.exit(0)
