"""How a child reads and writes its pipes.

Invariant: a child whose parent is gone ends quietly. A copy of a child, as code in it makes with ``os.fork``, reads no
job and answers none.
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


def silence(*descriptors: int) -> None:
    """Let what is written to these go nowhere, and nothing be read from them."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(null, descriptor, inheritable=descriptor <= 2)
    os.close(null)


def keep_from_copies(*descriptors: int) -> None:
    """Let these lead nowhere in each copy of this process that is made from now on: it ends with its next read."""
    os.register_at_fork(after_in_child=lambda: silence(*descriptors))
