"""Identifies the user at the other end of a Unix socket, from the kernel and never from the peer.

Invariant: the answer is the uid that the kernel recorded at connect; nothing a peer sends can change it.
"""

from __future__ import annotations

import socket
import struct
import sys

_UCRED = struct.Struct("3i")  # Linux struct ucred: pid, uid, gid
_XUCRED = struct.Struct("2Ih2x16I")  # macOS struct xucred: version, uid, number of groups, groups
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1  # sys/un.h on macOS; Python has no names for them


def peer_uid(sock: socket.socket) -> int:
    """Return the uid of the peer process. Raises OSError if the kernel does not know it; then do not trust the peer."""
    if sys.platform == "linux":
        raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        uid: int = _UCRED.unpack(raw)[1]
    else:
        raw = sock.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED.size)
        uid = _XUCRED.unpack(raw)[1]
    return uid
