"""Who is at the other end of a Unix socket, asked of the kernel, never of the peer.

Invariant: the answer is the uid the kernel recorded when the two were connected; nothing a peer sends can change it.
"""

from __future__ import annotations

import socket
import struct
import sys

_UCRED = struct.Struct("3i")  # Linux struct ucred: pid, uid, gid
_XUCRED = struct.Struct("2Ih2x16I")  # macOS struct xucred: version, uid, number of groups, groups
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1  # sys/un.h on macOS; Python has no names for them


def peer_uid(sock: socket.socket) -> int:
    """The uid of the process at the other end. OSError where the kernel cannot say: then nobody is to be trusted."""
    if sys.platform == "linux":
        raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        uid: int = _UCRED.unpack(raw)[1]
    else:
        raw = sock.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED.size)
        uid = _XUCRED.unpack(raw)[1]
    return uid
