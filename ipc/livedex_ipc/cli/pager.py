"""Shows a long text in the user's pager, as git does.

Invariant: what was meant for the terminal reaches it, whatever becomes of the pager.
"""

from __future__ import annotations

import os
import re

from livedex_ipc.cli.streams import DUMB, Streams

_ESCAPES = re.compile("\x1b\\[[0-9;]*m")


def page(streams: Streams, text: str) -> None:
    """Write ``text`` to stdout, through the pager if stdout is a terminal that it does not fit."""
    from livedex_ipc.cli.render.hyperlinks import without_links

    plain = _ESCAPES.sub("", without_links(text))
    # On a dumb terminal less asks for a key before it shows anything.
    if os.environ.get("TERM", "") not in DUMB and not _fits(plain, *streams.size):
        command = os.environ.get("PAGER", "less")
        if command not in ("", "cat") and _paged(command, without_links(text)):
            return
    streams.write(text)


def _fits(text: str, columns: int, rows: int) -> bool:
    """Return whether ``text`` takes fewer rows than the terminal has: the prompt takes one."""
    from livedex_ipc.cli.render.terminal_text import display_width

    taken = 0
    for line in text.splitlines():
        taken += max(1, -(-display_width(line) // columns))
        if taken >= rows:
            return False
    return True


def _paged(command: str, text: str) -> bool:
    """Run the pager on ``text``; return whether it was there."""
    import shlex
    import signal
    import subprocess

    # F: a text that fits is printed; R: colours; X: the text stays on the screen.
    environ = {"LESS": "FRX", "LV": "-c", **os.environ}
    try:
        process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, env=environ)
    except (OSError, ValueError, IndexError):
        return False
    # Ctrl-C belongs to the pager.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert process.stdin is not None
        try:
            process.stdin.write(text.encode("utf-8", "surrogateescape"))
            process.stdin.close()
        except OSError:  # it was left before the end
            pass
        process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return process.returncode not in (126, 127)
