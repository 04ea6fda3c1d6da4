"""The clock that measures leases: one that nobody sets, the same in every process since the machine started.

Invariant: a jump of the wall clock changes no lease, and a lease of an earlier start of the machine has ended.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import sys
import time
from pathlib import Path
from typing import NamedTuple

_BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")
# macOS has no CLOCK_BOOTTIME; there this clock goes on while the machine sleeps.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class LeaseClock(NamedTuple):
    """``boot_id`` names this start of the machine; ``now_ns`` is read from its clock, in nanoseconds."""

    boot_id: str

    def now_ns(self) -> int:
        return time.clock_gettime_ns(_CLOCK)


@functools.cache
def lease_clock() -> LeaseClock:
    """Return the clock of this machine."""
    return LeaseClock(_boot_id())


def _boot_id() -> str:
    if sys.platform == "darwin":
        size = ctypes.c_size_t(64)
        text = ctypes.create_string_buffer(64)
        libc = ctypes.CDLL(ctypes.util.find_library("c"))
        if libc.sysctlbyname(b"kern.bootsessionuuid", text, ctypes.byref(size), None, ctypes.c_size_t(0)) == 0:
            return text.value.decode()
        return "unknown"
    try:
        return _BOOT_ID_FILE.read_text().strip()
    except OSError:
        return "unknown"
