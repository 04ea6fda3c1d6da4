"""The sockets that launchd made for this process, from its only interface, a function of the system's C library.

Invariant: a process that launchd did not start has none, and that is no error.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from typing import Any

Activate = Callable[[bytes, Any, Any], int]


def activated_descriptors(name: str, activate: Activate | None = None) -> list[int]:
    """Return the descriptors of the sockets under ``name`` in the agent's property list.

    ``activate``: launch_activate_socket(3); None for that of the C library. Raise OSError when launchd fails.
    """
    libc = ctypes.CDLL(None)
    call = libc.launch_activate_socket if activate is None else activate
    found, count = ctypes.POINTER(ctypes.c_int)(), ctypes.c_size_t()
    code = call(name.encode(), ctypes.byref(found), ctypes.byref(count))
    if code in (errno.ESRCH, errno.ENOENT):  # not started by launchd; no socket of this name
        return []
    if code != 0:
        raise OSError(code, f"launchd passes no socket {name}: {os.strerror(code)}")
    descriptors = [found[index] for index in range(count.value)]
    if activate is None:
        libc.free(found)
    return descriptors
