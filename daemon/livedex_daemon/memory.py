"""Keeps the daemon small (few malloc arenas, free memory handed back after bulk work) and what it holds to itself.

Invariant: where the C library is not glibc nothing is done for size and nothing fails; a crash leaves no image of the
memory, which holds text of files, on the disk.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
import sys

ARENAS = 2  # glibc would make up to eight per core, each with free memory of its own
_M_ARENA_MAX = -8


def bound_arenas() -> None:
    """To be called before any thread is started."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def no_core_dumps() -> None:
    """For this process and all that it starts."""
    # 1, not 0: Linux hands a core to a program that collects them whatever the limit, but for this one (core(5)).
    least = 1 if sys.platform == "linux" else 0
    with contextlib.suppress(ValueError, OSError):  # the hard limit is 0 already
        resource.setrlimit(resource.RLIMIT_CORE, (least, least))


def give_back() -> None:
    """Collects garbage and returns free pages to the system."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
