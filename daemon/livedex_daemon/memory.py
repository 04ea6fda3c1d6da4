"""Keeps the daemon small: few malloc arenas, and free memory handed back once bulk work has ended.

Invariant: where the C library is not glibc nothing is done and nothing fails.
"""

from __future__ import annotations

import ctypes
import gc

ARENAS = 2  # glibc would make up to eight per core, each with free memory of its own
_M_ARENA_MAX = -8


def bound_arenas() -> None:
    """To be called before any thread is started."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Collects garbage and returns free pages to the system."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
