"""Start child processes from one thread that lives as long as the process, and end them with it.

No child gets a key that it does not need: `withhold` names the variables, and those that are called like a key are left
out anyway.

Invariant: a child's parent thread ends only with the parent process. The kernel's signal at the death of a parent
(``PR_SET_PDEATHSIG``) is about the thread that started the child, and may therefore be a kill.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import weakref
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from livedex_ipc.errors import Unavailable
from livedex_ipc.lasting_threads import LastingThreads

_thread: Final = LastingThreads(1, "starter")
_CALLED_LIKE_A_KEY: Final = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)\Z", re.IGNORECASE)
_children: Final[weakref.WeakSet[subprocess.Popen[bytes]]] = weakref.WeakSet()


class Withheld(NamedTuple):
    """Variables that children do not get: ``names``, and those called like a key, but for the ``passed`` ones."""

    names: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()

    def without(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return an environment without them."""
        return {name: value for name, value in environment.items() if not self._has(name)}

    def _has(self, name: str) -> bool:
        return name not in self.passed and (name in self.names or bool(_CALLED_LIKE_A_KEY.search(name)))


class _Rule:
    """What is withheld now, in all threads."""

    now = Withheld()


def withhold(names: Collection[str], passed: Collection[str] = ()) -> None:
    """Start children without these variables from now on. ``passed``: keys that they do need."""
    _Rule.now = Withheld(frozenset(names), frozenset(passed))


def start_child(arguments: list[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start this interpreter with ``arguments`` and two pipes that do not block. Raise OSError.

    Too many threads count as an OSError too: the system says EAGAIN.
    """
    try:
        return _thread.submit(_start, arguments, environment).result()
    except (Unavailable, RuntimeError) as error:
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
        env=_Rule.now.without(environment),
        start_new_session=True,  # only the daemon handles Ctrl-C at the terminal
    )
    for pipe in (child.stdin, child.stdout):
        assert pipe is not None
        os.set_blocking(pipe.fileno(), False)
    _children.add(child)
    return child
