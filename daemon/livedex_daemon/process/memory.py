"""Keeps the daemon small (few malloc arenas, free memory handed back after bulk work) and what it holds to itself, and
the garbage collector out of the searches' way.

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
COLLECT_AFTER = 10_000  # objects more than were dropped


def limit_arenas() -> None:
    """To be called before any thread is started."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def disable_core_dumps() -> None:
    """For this process and all that it starts."""
    # 1, not 0: Linux hands a core to a program that collects them whatever the limit, but for this one (core(5)).
    least = 1 if sys.platform == "linux" else 0
    with contextlib.suppress(ValueError, OSError):  # the hard limit is 0 already
        resource.setrlimit(resource.RLIMIT_CORE, (least, least))


def raise_gc_threshold() -> None:
    """A search makes some thousand objects and drops nearly all of them without the collector's help: with Python's
    own threshold (700) it ran once a search, and each tenth time over far more than one search's objects."""
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])


def freeze() -> None:
    """What is there now is likely to stay: the collector looks at it no more (25 ms each time), until `give_back`."""
    gc.freeze()


def release() -> None:
    """Collects garbage and returns free pages to the system."""
    gc.unfreeze()
    gc.collect()
    freeze()
    trim()


def trim() -> None:
    """Returns free pages to the system: a search that looks at many lines leaves tens of MiB of them."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
