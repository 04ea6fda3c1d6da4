"""Finds the command that a service should run: the one of the environment in which livedex is installed.

Invariant: an upgrade by pip, pipx or uv keeps the path; a path in a cache, which may vanish, is refused.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence

# Folders of environments that exist for one run: `uvx`, `pipx run`.
_PASSING = ("/archive-v0/", "/pipx/.cache/", "/.cache/pipx/", "/cache/pipx/")


class NotInstalledError(Exception):
    """livedex runs from a cache. The message says what to do."""


def daemon_command(python: str = sys.executable, scripts: Sequence[str] | None = None) -> list[str]:
    """Return the words that run ``livedex``, with an absolute path. Raise NotInstalledError.

    ``python``: the interpreter, not resolved, since the link in a virtual environment is what makes it that
    environment's. ``scripts``: folders in which the command may lie; None for those of this Python.
    """
    folders = [os.path.dirname(python), *(_script_folders() if scripts is None else scripts)]
    if any(part in python for part in _PASSING):
        raise NotInstalledError(
            f"this livedex runs from a cache ({python}): run `uv tool install livedex` or `pipx install livedex` first"
        )
    for folder in folders:
        command = os.path.join(folder, "livedex")
        if os.path.isfile(command) and os.access(command, os.X_OK):
            return [command]
    return [python, "-P", "-m", "livedex_ipc"]  # installed without its script


def _script_folders() -> list[str]:
    """Return where pip puts commands: of all users, and of this user (``pip install --user``)."""
    user = sysconfig.get_preferred_scheme("user")
    return [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user)]
