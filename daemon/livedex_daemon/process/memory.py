"""Limits the daemon's memory (few malloc arenas, free pages returned) and the cost of garbage collection.

Invariant: with a C library other than glibc the size is not limited and nothing fails.
"""

from __future__ import annotations

import ctypes
import gc

ARENAS = 2  # glibc would create up to eight per core, each with free memory of its own
_M_ARENA_MAX = -8
COLLECT_AFTER = 10_000  # net allocations of objects between two collections


def limit_arenas() -> None:
    """Limit the malloc arenas. Call this before any thread starts."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def raise_gc_threshold() -> None:
    """Collect garbage less often.

    A search allocates a few thousand objects, and reference counting frees nearly all of them. With Python's default
    threshold (700) a collection ran in every search, and every tenth one covered far more than that search's objects.
    """
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])


def freeze() -> None:
    """Exclude all present objects from collection (25 ms each time) until ``release``: they are likely to stay."""
    gc.freeze()


def release() -> None:
    """Collect garbage and return free pages to the system."""
    gc.unfreeze()
    gc.collect()
    freeze()
    trim()


def trim() -> None:
    """Return free pages to the system: a search over many lines leaves tens of MiB of them."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
