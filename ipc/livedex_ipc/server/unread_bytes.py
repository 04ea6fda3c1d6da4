"""Ask the kernel whether bytes lie between a Unix socket and its peer, unread on either side.

Invariant: where the kernel does not say, the answer is that there may be some.
"""

from __future__ import annotations

import fcntl
import struct
import sys
import termios

_INT = struct.Struct("i")
_QUESTIONS = (termios.TIOCOUTQ, termios.FIONREAD)  # how much the peer, and this side, has not read yet


def may_have_unread(descriptor: int) -> bool:
    """Return whether the peer may not have read all that was sent, or has sent what was not read here."""
    if sys.platform != "linux":
        return True
    try:
        return any(_INT.unpack(fcntl.ioctl(descriptor, each, bytes(_INT.size)))[0] for each in _QUESTIONS)
    except OSError:
        return True
