"""Runs a command that needs no daemon (``config …``, ``doctor``) in this process, like the ``livedex`` command.

Invariant: an error is printed in the requested form and its exit code is returned; nothing is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from livedex_ipc.cli.streams import OutputClosedError, Streams
from livedex_ipc.constants import INTERRUPTED
from livedex_ipc.errors import InvalidParams, LivedexError
from livedex_ipc.params import nearest

Action = Callable[[Streams], int]


def run(title: str, actions: Mapping[str, Action], argv: Sequence[str]) -> int:
    """Run the action that ``argv`` names and return its exit code; ``--json`` and ``--color=WHEN`` may appear anywhere.

    ``actions`` maps the words typed after ``title`` (``""`` for none) to their action.
    """
    streams = streams_of(argv)
    words = [word for word in argv if not is_form(word)]
    try:
        code = _action(title, actions, words)(streams)
        streams.flush()
        return code
    except LivedexError as fault:
        streams.error(fault)
        return fault.exit_code
    except OutputClosedError:
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def is_form(word: str) -> bool:
    """Return whether ``word`` only says how to print."""
    return word == "--json" or word.startswith("--color=")


def streams_of(argv: Sequence[str]) -> Streams:
    """Return the streams that ``argv`` asks for."""
    colors = [word.partition("=")[2] for word in argv if word.startswith("--color=")]
    return Streams("--json" in argv, colors[-1] if colors else "auto")


def _action(title: str, actions: Mapping[str, Action], words: list[str]) -> Action:
    typed = " ".join(words)
    if typed in actions:
        return actions[typed]
    known = [name for name in actions if name]
    near = nearest(typed, known)
    hint = f"did you mean {near}?" if near else f"there are: {', '.join(known)}" if known else "it takes no arguments"
    raise InvalidParams(f"{title} does not know {typed!r}: {hint}", {"nearest": near})
