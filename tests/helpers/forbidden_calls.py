"""Forbids system calls to a process and its children, as the filters of containers and services do.

Invariant: only the command after the words of ``forbidding`` is touched; nothing needs root.
"""

from __future__ import annotations

import platform
import sys
from typing import Final

import pytest

# The numbers of each call, and of the others by which a C library or a program could do the same.
_NUMBERS: Final = {
    "x86_64": {"readlink": "89 267", "prlimit64": "302 97 160", "inotify_init1": "294 253"},
    "aarch64": {"readlink": "78", "prlimit64": "261 163 164", "inotify_init1": "26"},
}
_HAS_NUMBERS: Final = sys.platform == "linux" and platform.machine() in _NUMBERS

needs_filters = pytest.mark.skipif(not _HAS_NUMBERS, reason="needs Linux on a processor whose system calls are known")

_FORBID: Final = """
import ctypes, errno, os, struct, sys
refused = 0x00050000 | getattr(errno, sys.argv[1])
steps = [(0x20, 0, 0, 0)]
for number in map(int, sys.argv[2].split()):
    steps += [(0x15, 0, 1, number), (0x06, 0, 0, refused)]
steps.append((0x06, 0, 0, 0x7FFF0000))
program = b"".join(struct.pack("=HBBI", *step) for step in steps)
buffer = ctypes.create_string_buffer(program, len(program))
described = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(buffer)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, described, 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[3], sys.argv[3:])
"""


def forbidding(*calls: str, error: str = "EPERM") -> list[str]:
    """Return the words before a command that make these calls fail for its whole life."""
    numbers = _NUMBERS[platform.machine()]
    return [sys.executable, "-c", _FORBID, error, " ".join(numbers[call] for call in calls)]
