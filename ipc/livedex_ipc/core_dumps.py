"""Keep the text of files, which this process has in its memory, out of core dumps.

Invariant: neither a file nor a crash handler gets the text: where a limit does not keep a core from a handler, the core
has none of this process's memory. Processes that it starts inherit both.
"""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from typing import Final

from livedex_ipc.resource_limits import limit

_FILTER: Final = "/proc/self/coredump_filter"  # the kinds of memory that a core has, a bit each


def disable() -> None:
    """Have no core dumped, for good. Call it before the process reads a file of the user's."""
    if sys.platform == "linux":
        limit(resource.RLIMIT_CORE, 1)  # at 0 a program that core_pattern names would still get the core: core(5)
        with suppress(OSError), open(_FILTER, "w") as kinds:
            kinds.write("0")  # for a hard limit of 0, and for a socket in core_pattern, to which no limit applies
    else:
        limit(resource.RLIMIT_CORE, 0)
