"""A small FUSE server that shows a folder read-only: a file system that hangs while its server is stopped (SIGSTOP).

After SIGUSR1 it takes requests and answers none, so that the kernel keeps those who ask, even if they are killed; after
SIGUSR2 it answers them all.

Run as a program: ``fuse_server.py MOUNT FOLDER PID_FILE``, in a mount namespace of one's own. It returns when the mount
serves; a process in the background, whose id is in PID_FILE, then answers until it is killed.

Invariant: nothing is cached by the kernel for longer than one call, so that each call needs an answer.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path

HEADER = struct.Struct("<IIQQIIIHH")  # length, opcode, unique, node, then who asks
REPLY = struct.Struct("<IiQ")  # length, errno, unique
ATTRIBUTES = struct.Struct("<6Q10I")
LOOKUP, FORGET, GETATTR, READLINK, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 5, 14, 15, 17, 18
FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, ACCESS, INTERRUPT, BATCH_FORGET = 25, 26, 27, 28, 29, 34, 36, 42
SILENT = frozenset((FORGET, INTERRUPT, BATCH_FORGET))  # these get no reply
DIRECT_IO = 1


class FuseServer:
    def __init__(self, device: int, folder: str) -> None:
        self._device = device
        self._paths = {1: folder}  # node to path
        self._nodes = {folder: 1}
        self._holds = False
        self._held: list[bytes] = []
        self._answers: dict[int, Callable[[int, bytes], bytes]] = {
            INIT: self._init,
            LOOKUP: self._lookup,
            GETATTR: self._attributes_of,
            READLINK: lambda node, _body: os.fsencode(os.readlink(self._paths[node])),
            OPENDIR: self._open,
            OPEN: self._open,
            READDIR: self._entries,
            READ: self._read,
            STATFS: lambda _node, _body: struct.pack("<5Q10I", *[1 << 20] * 5, 4096, 255, 4096, *[0] * 7),
            **dict.fromkeys((RELEASE, RELEASEDIR, FLUSH, ACCESS), lambda _node, _body: b""),
        }

    def hold(self, *_: object) -> None:
        self._holds = True

    def go_on(self, *_: object) -> None:
        self._holds = False
        self._answer_held()

    def _answer_held(self) -> None:
        while self._held:
            self._serve(self._held.pop(0))

    def serve(self) -> None:
        """Answer until the file system is unmounted."""
        while True:
            try:
                self._held.append(os.read(self._device, 1 << 18))
                if not self._holds:  # a signal may end that just now: it answers all that are held
                    self._answer_held()
            except OSError as error:
                if error.errno not in (errno.EINTR, errno.ENOENT):  # ENOENT: the caller gave up
                    return

    def _serve(self, request: bytes) -> None:
        """Answer one request. Raises OSError."""
        _, opcode, unique, node, *_ = HEADER.unpack_from(request)
        if opcode in SILENT:
            return
        code, body = 0, b""
        try:
            answer = self._answers.get(opcode)
            if answer is None:
                raise OSError(errno.ENOSYS, "not served")
            body = answer(node, request[HEADER.size :])
        except OSError as error:
            code = error.errno or errno.EIO
        with contextlib.suppress(FileNotFoundError):
            os.write(self._device, REPLY.pack(REPLY.size + len(body), -code, unique) + body)

    def _init(self, _node: int, _body: bytes) -> bytes:
        return struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 16, 12, 1 << 16, 1, 0, 0, *[0] * 8)

    def _lookup(self, node: int, body: bytes) -> bytes:
        path = os.path.join(self._paths[node], os.fsdecode(body.split(b"\0", 1)[0]))
        attributes = self._attributes(path)
        known = self._nodes.setdefault(path, len(self._nodes) + 1)
        self._paths[known] = path
        return struct.pack("<4Q2I", known, 0, 0, 0, 0, 0) + attributes

    def _attributes_of(self, node: int, _body: bytes) -> bytes:
        return struct.pack("<Q2I", 0, 0, 0) + self._attributes(self._paths[node])

    @staticmethod
    def _attributes(path: str) -> bytes:
        found = os.lstat(path)
        times = [found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns]
        seconds, parts = [time // 10**9 for time in times], [time % 10**9 for time in times]
        sizes = (found.st_ino, found.st_size, found.st_blocks)
        return ATTRIBUTES.pack(*sizes, *seconds, *parts, found.st_mode, found.st_nlink, 0, 0, 0, 4096, 0)

    @staticmethod
    def _open(_node: int, _body: bytes) -> bytes:
        return struct.pack("<Q2I", 0, DIRECT_IO, 0)

    def _read(self, node: int, body: bytes) -> bytes:
        _, offset, size = struct.unpack_from("<QQI", body)
        with open(self._paths[node], "rb") as file:
            file.seek(offset)
            return file.read(size)

    def _entries(self, node: int, body: bytes) -> bytes:
        _, offset, size = struct.unpack_from("<QQI", body)
        found = b""
        for number, name in enumerate(sorted(os.listdir(self._paths[node])), start=1):
            text = os.fsencode(name)
            entry = struct.pack("<2Q2I", number, number, len(text), 0) + text + bytes(-len(text) % 8)
            if number > offset and len(found) + len(entry) <= size:
                found += entry
        return found


def mount(point: str, folder: str) -> FuseServer:
    """Mount the folder. Raises OSError."""
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"test", os.fsencode(point), b"fuse.test", 0, options) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    return FuseServer(device, folder)


def main(point: str, folder: str, pid_file: str) -> None:
    server = mount(point, folder)
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGUSR1, server.hold)
    signal.signal(signal.SIGUSR2, server.go_on)
    Path(pid_file).write_text(str(os.getpid()))
    server.serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
