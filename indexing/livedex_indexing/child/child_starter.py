"""Start child processes from one thread that lives as long as the process, and end them with it.

Invariant: a child's parent thread ends only with the parent process. The kernel's signal at the death of a parent
(``PR_SET_PDEATHSIG``) is about the thread that started the child, and may therefore be a kill.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

_thread: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starter")
_children: Final[weakref.WeakSet[subprocess.Popen[bytes]]] = weakref.WeakSet()


def start_child(arguments: list[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start this interpreter with ``arguments`` and two pipes that do not block. Raise OSError.

    Too many threads count as an OSError too: the system says EAGAIN.
    """
    try:
        return _thread.submit(_start, arguments, environment).result()
    except RuntimeError as error:
        raise OSError(str(error)) from error


def kill_all() -> None:
    """Kill every child of this process, which releases all that wait for one. Call it when the process ends."""
    for child in list(_children):
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)


def _start(arguments: list[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        cwd="/",  # a working folder below a root would prevent its unmounting
        env=environment,
        start_new_session=True,  # only the daemon handles Ctrl-C at the terminal
    )
    for pipe in (child.stdin, child.stdout):
        assert pipe is not None
        os.set_blocking(pipe.fileno(), False)
    _children.add(child)
    return child
