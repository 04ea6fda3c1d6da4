"""`livedex daemon`, `config …` and `doctor`: handed over to the daemon's own package, which becomes this process.

They are run by name, so that a client needs nothing of the daemon, and with -P: a module in the working folder never
runs.
"""

from __future__ import annotations

import os
import sys

from livedex_ipc.cli.context import Context
from livedex_ipc.errors import Unavailable


def hand_over(context: Context) -> int:
    """Become `python -m livedex_daemon WORDS`, told whether to print JSON. Never returns when that worked."""
    words = list(context.line.words)
    if context.values.get("check_config"):
        words.append("--check-config")
    form = "--json" if context.streams.json else "--human"
    context.streams.flush()
    command = [sys.executable, "-P", "-m", "livedex_daemon", *words, form]
    try:
        os.execv(sys.executable, command)
    except OSError as error:
        raise Unavailable(f"{sys.executable} cannot be run: {error.strerror}") from error
