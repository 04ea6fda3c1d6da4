"""Lets this process, or a daemon, open and describe entries by a name in any case, and list them as they are spelled.

So do macOS, FAT, and a folder of ext4 with ``casefold``, which many systems cannot mount.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from textwrap import indent
from typing import Any

from helpers.daemon_template import only_sets


def in_any_case(usual: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function like ``os.stat`` or ``os.open`` that finds a name in another case too, if given ``dir_fd``."""

    def call(name: Any, *words: Any, dir_fd: int | None = None, **more: Any) -> Any:
        try:
            return usual(name, *words, dir_fd=dir_fd, **more)
        except FileNotFoundError:
            names = os.listdir(b"/proc/self/fd/%d" % dir_fd) if dir_fd is not None else []
            for other in names:
                if other.lower() == name.lower():
                    return usual(other, *words, dir_fd=dir_fd, **more)
            raise

    return call


# For `with_code`. Without openat2 the daemon opens each folder of a path by its name.
ANY_CASE = only_sets(f"""
from __future__ import annotations
import os, sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_indexing.disk import beneath
{indent(inspect.getsource(in_any_case), "    ")}
    beneath.has_openat2 = lambda: False
    os.stat, os.open = in_any_case(os.stat), in_any_case(os.open)
""")
