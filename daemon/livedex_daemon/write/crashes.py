"""Remember which files were being read, and whose plugin's code was running, when the daemon crashed, so that one file
or plugin cannot keep it from running.

Invariant: before the first byte of a file is examined, its path is in a list on disk that survives the process (not a
power cut, which is no file's fault). After three crashes within a minute, the next start skips the files that were
being read at all three (safe mode), and leaves out the plugins. It skips them until they change or until ``index
--force``; the warning ends with the next start. A plugin that was being loaded, with nothing else in progress, when
both last runs crashed is left out, however long ago that was.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import struct
import time
import weakref
from collections.abc import Iterator

from livedex_daemon.process.own_file import read_own_file

log = logging.getLogger(__name__)

CRASHES = 3
WITHIN_S = 60.0
SLOTS = 16  # files being read at the same time
SLOT_BYTES = 4096 + 2  # no path that can be opened is longer
_MOST_STARTS_BYTES = 2 * (CRASHES + 1) * SLOTS * (SLOT_BYTES + 64)  # a byte of a path is two digits
_LENGTH = struct.Struct("<H")
_LOADING = b"loading "  # before the key of a plugin that is being loaded

Start = tuple[float, frozenset[bytes]]


class Crashes:
    """``avoided``: absolute paths that this run does not read; ``avoided_code``: keys of plugins' code that it does not
    run. Both are empty outside safe mode."""

    def __init__(self, folder: str) -> None:
        """``folder``: the daemon's own folder. On a full disk nothing is recorded and nothing fails."""
        self._starts_path = os.path.join(folder, "starts")
        former = b""
        self._free = list(range(SLOTS))
        self._failed = False
        try:
            self._slots, former = _opened(os.path.join(folder, "in-hand"))
            weakref.finalize(self, os.close, self._slots)
        except OSError as error:
            log.warning("crashes_not_noted", extra={"error": error.strerror})
            self._free = []
        blamed = self._begin(_paths(former))
        self.avoided = frozenset(path for path in blamed if path.startswith(b"/"))
        self.avoided_code = frozenset(os.fsdecode(key) for key in blamed - self.avoided)

    def _begin(self, in_progress: frozenset[bytes]) -> frozenset[bytes]:
        now, starts = time.time(), self._read_starts()
        if starts:
            starts[-1] = (starts[-1][0], in_progress)
        last = [_keys(found) for at, found in starts if 0 <= now - at <= WITHIN_S][-CRASHES:]
        blamed = frozenset.intersection(*last) if len(last) == CRASHES else frozenset()
        blamed = blamed or _loaded_at_both([found for _, found in starts[-2:]])
        if blamed:
            log.error("safe_mode", extra={"crashes": len(starts), "files": len(blamed)})
            starts = []  # if these files are not to blame, as many crashes start another try
        self._write_starts([*starts[-CRASHES:], (now, frozenset())])
        return blamed

    @contextlib.contextmanager
    def reading(self, path: bytes) -> Iterator[None]:
        """Wrap the reading of a file. Call from any thread."""
        slot = self._free.pop() if self._free and len(path) <= SLOT_BYTES - _LENGTH.size else None
        if slot is None:
            yield
            return
        at = slot * SLOT_BYTES
        try:
            self._write(_LENGTH.pack(len(path)) + path, at)
            yield
        finally:
            self._write(bytes(_LENGTH.size + len(path)), at)  # names are private too
            self._free.append(slot)

    def running(self, key: str) -> contextlib.AbstractContextManager[None]:
        """Wrap the running of a plugin's code. ``key`` is no absolute path. Call from any thread."""
        return self.reading(os.fsencode(key))

    def loading(self, key: str) -> contextlib.AbstractContextManager[None]:
        """Wrap the loading of a plugin. ``key`` is no absolute path. Call from any thread."""
        return self.reading(_LOADING + os.fsencode(key))

    def _write(self, data: bytes, at: int) -> None:
        """Write a part of the list. Not through a mapping: a file that is truncated would end the daemon by SIGBUS."""
        try:
            os.pwrite(self._slots, data, at)
        except OSError as error:
            if not self._failed:
                log.warning("crashes_not_noted", extra={"error": error.strerror})
            self._failed = True

    def end(self) -> None:
        """Forget the crashes: the daemon stops normally."""
        with contextlib.suppress(OSError):
            os.unlink(self._starts_path)

    def _read_starts(self) -> list[Start]:
        """Return each start since the last normal stop, with the files that were being read when that run ended."""
        try:
            records = json.loads(read_own_file(self._starts_path, _MOST_STARTS_BYTES))
            return [(float(at), frozenset(bytes.fromhex(path) for path in files)) for at, files in records]
        except (OSError, ValueError, TypeError):
            return []  # missing or unusable: without it, no file is skipped

    def _write_starts(self, starts: list[Start]) -> None:
        temporary = f"{self._starts_path}.new"
        with contextlib.suppress(OSError):  # a full disk must not keep the daemon from running
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with open(handle, "w", encoding="ascii") as file:
                json.dump([(at, sorted(path.hex() for path in files)) for at, files in starts], file)
            os.replace(temporary, self._starts_path)


def _opened(path: str) -> tuple[int, bytes]:
    """Return a descriptor of the file of slots, all empty, and its former content. Raise OSError."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(handle, 0o600)
        former = os.pread(handle, SLOTS * SLOT_BYTES, 0)
        # Reserve the space now: later writes to it then need no more, even on a full disk.
        if os.pwrite(handle, bytes(SLOTS * SLOT_BYTES), 0) != SLOTS * SLOT_BYTES:
            raise OSError(errno.ENOSPC, "no space for the list of the files being read")
    except BaseException:
        os.close(handle)
        raise
    return handle, former


def _keys(in_progress: frozenset[bytes]) -> frozenset[bytes]:
    """Return paths and keys of code, whether it was loaded or run."""
    return frozenset(key.removeprefix(_LOADING) for key in in_progress)


def _loaded_at_both(last: list[frozenset[bytes]]) -> frozenset[bytes]:
    """Return the plugin that was being loaded at both of the last crashes, with nothing else in progress. One crash may
    be a kill from outside."""
    alone = len(last) == 2 and last[0] == last[1] and len(last[0]) == 1
    return _keys(last[0]) if alone and _keys(last[0]) != last[0] else frozenset()


def _paths(slots: bytes) -> frozenset[bytes]:
    found = set()
    for at in range(0, len(slots) - SLOT_BYTES + 1, SLOT_BYTES):
        (length,) = _LENGTH.unpack_from(slots, at)
        if 0 < length <= SLOT_BYTES - _LENGTH.size:
            found.add(slots[at + _LENGTH.size : at + _LENGTH.size + length])
    return frozenset(found)
