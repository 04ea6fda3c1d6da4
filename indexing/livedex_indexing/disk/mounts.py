"""Tells which kind of filesystem a path is on: local, network, or a pseudo filesystem of the kernel.

Invariant: the answer is read from the system's table of mounts, never from the path itself, so that a dead network
share cannot block it.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path
from typing import Literal, NamedTuple

from livedex_indexing.relpath import is_within

MountKind = Literal["local", "network", "pseudo"]

PSEUDO = frozenset(
    [
        "binfmt_misc",
        "bpf",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devfs",
        "devpts",
        "devtmpfs",
        "efivarfs",
        "fusectl",
        "mqueue",
        "nsfs",
        "proc",
        "pstore",
        "securityfs",
        "selinuxfs",
        "sysfs",
        "tracefs",
    ]
)
# Changes made by another machine raise no event here; FUSE raises none for changes made by its server.
NETWORK = frozenset(
    [
        "9p",
        "acfs",
        "afpfs",
        "afs",
        "autofs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "macfuse",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "osxfuse",
        "pvfs2",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
        "webdav",
    ]
)
MOUNTINFO = Path("/proc/self/mountinfo")
_OCTAL = re.compile(rb"\\([0-7]{3})")


class Mount(NamedTuple):
    """One line of the table of mounts: what is mounted where."""

    number: bytes  # another one for each mount
    device: bytes
    source: bytes  # the folder of the device that is mounted
    point: bytes


def read_mountinfo() -> bytes:
    """Return the text of the table of mounts; nothing where the system has none, so that no mount is remote."""
    try:
        return MOUNTINFO.read_bytes()
    except OSError:
        return b""  # macOS, and a sandbox without /proc


def mount_table(mountinfo: bytes) -> frozenset[Mount]:
    """Return the mounts in the text of ``MOUNTINFO``, without their options."""
    mounts = []
    for line in mountinfo.splitlines():
        number, _, device, source, point, *_ = line.split(b" ")
        mounts.append(Mount(number, device, source, _unescaped(point)))
    return frozenset(mounts)


def mount_kind(path: bytes) -> MountKind:
    """Return the kind of filesystem of an absolute path. The path need not exist; links in it are not resolved."""
    if sys.platform == "darwin":
        return kind_of_type(_darwin_type(path))
    return kind_of_type(linux_type(path, read_mountinfo()))


def kind_of_type(fs_type: str) -> MountKind:
    """Return the kind of a filesystem type; an unknown type is local."""
    if fs_type in PSEUDO:
        return "pseudo"
    # fuseblk is a local disk (ntfs-3g) and reports every change made on this machine.
    if fs_type in NETWORK or fs_type == "fuse" or fs_type.startswith("fuse."):
        return "network"
    return "local"


def mount_point(path: bytes) -> bytes:
    """Return the mount point of an absolute path, without touching the path; the path itself where that is unknown."""
    return path if sys.platform == "darwin" else linux_mount(path, read_mountinfo())[0]


def linux_type(path: bytes, mountinfo: bytes) -> str:
    """Return the type of the deepest mount above the path; the last of several on one point hides the others."""
    return linux_mount(path, mountinfo)[1]


def linux_mount(path: bytes, mountinfo: bytes) -> tuple[bytes, str]:
    """Return the point and the type of the deepest mount above the path."""
    best, found = b"", ""
    for line in mountinfo.splitlines():
        fields, _, rest = line.partition(b" - ")
        point = _unescaped(fields.split(b" ")[4])
        if is_within(path, point) and len(point) >= len(best):
            best, found = point, os.fsdecode(rest.split(b" ", 1)[0])
    return best or b"/", found


def network_mounts(mountinfo: bytes) -> dict[bytes, bytes]:
    """Return the points of the network and FUSE mounts, and the number of each mount."""
    found: dict[bytes, bytes] = {}
    for line in mountinfo.splitlines():
        fields, _, rest = line.partition(b" - ")
        number, _, _, _, escaped, *_ = fields.split(b" ")
        point = _unescaped(escaped)
        if kind_of_type(os.fsdecode(rest.split(b" ", 1)[0])) == "network":
            found[point] = number
        else:
            found.pop(point, None)  # it hides what was mounted there before
    return found


def _unescaped(text: bytes) -> bytes:
    return _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), text)


def _darwin_type(path: bytes) -> str:
    """Return statfs's f_fstypename: 16 bytes at offset 72 of the 64-bit-inode layout; "" if the call fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "statfs$INODE64", None) or libc.statfs
    buffer = ctypes.create_string_buffer(4096)
    if call(path, buffer) != 0:
        return ""
    return buffer.raw[72:88].split(b"\0", 1)[0].decode("ascii", "replace")
