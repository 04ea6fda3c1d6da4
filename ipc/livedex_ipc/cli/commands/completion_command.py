"""``livedex completion``: prints the script of a shell, and the values that only the daemon knows.

The daemon has 100 ms to send values, since a key press waits for them. It never starts a daemon.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from livedex_ipc.cli.completion import VALUES_VARIABLE, script
from livedex_ipc.cli.context import Context
from livedex_ipc.cli.render.shown_paths import path_text
from livedex_ipc.errors import LivedexError

if TYPE_CHECKING:
    from livedex_ipc.client import Client
    from livedex_ipc.wire_results import RootsResult

_VALUES_S = 0.1


def completion(context: Context) -> int:
    """Print the completion script of the shell, or the values that it asks for."""
    shell = context.values["shell"]
    read = {"root": _roots, "language": _languages}.get(os.environ.get(VALUES_VARIABLE, ""))
    if read is not None:
        context.streams.write("".join(value + "\n" for value in _in_time(context, read) if value.isprintable()))
        return 0
    if context.streams.json:
        context.streams.write_json({"shell": shell, "script": script(shell)})
    else:
        context.streams.write(script(shell))
    return 0


class _TooLateError(Exception):
    """The time limit for values has passed."""


def _roots(client: Client) -> list[str]:
    answer: RootsResult = client.call("roots/list")
    return [path_text(root) for root in answer["roots"]]


def _languages(client: Client) -> list[str]:
    from livedex_ipc.cli.commands.languages_command import counted

    return list(counted(client, {"fresh": False}).get("facets", {}).get("languages", {}))


def _in_time(context: Context, read: Callable[[Client], list[str]]) -> list[str]:
    """Return what ``read`` returns; an empty list if no daemon answers in time."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooLateError

    import livedex_ipc.client  # noqa: F401  now: on a busy machine it alone may take all of the daemon's time

    # A timer bounds every step: with a stopped daemon even connecting to its socket would block.
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _VALUES_S)
    try:
        with context.connect(spawn=False) as client:
            return read(client)
    except (_TooLateError, LivedexError):
        return []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
