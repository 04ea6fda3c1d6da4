"""``livedex daemon``, ``config …``, ``plugins check`` and ``doctor``: replaces this process with the daemon's.

The package is run by name, so that a client imports nothing of the daemon, and with -P, so that no module of the
working folder is imported.
"""

from __future__ import annotations

import os
import sys

from livedex_ipc.cli.context import Context
from livedex_ipc.errors import Unavailable


def exec_daemon(context: Context) -> int:
    """Execute ``python -m livedex_daemon WORDS`` with --json and --color; does not return. Raises Unavailable."""
    words = list(context.line.words)
    if context.values.get("check_config"):
        words.append("--check-config")
    if context.values.get("follow"):
        words.append("--follow")
    if "plugin" in context.values:
        words += [context.values["plugin"], *map(os.fsdecode, context.values.get("samples") or ())]
    words += ["--json"] if context.streams.json else []
    words += [f"--color={context.streams.color}"] if context.streams.color != "auto" else []
    context.streams.flush()
    command = [sys.executable, "-P", "-m", "livedex_daemon", *words]
    try:
        os.execv(sys.executable, command)
    except OSError as error:
        raise Unavailable(f"{sys.executable} cannot be run: {error.strerror}") from error
