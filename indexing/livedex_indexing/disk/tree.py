"""The only module that touches the user's files: it lists folders, describes entries and reads files.

Invariant: nothing outside the root is reached, no link is followed, nothing but a regular file is opened for reading
and nothing blocks, not even on a share that does not answer; the bytes returned are those of one state of a file, never
a mixture of two.
"""

from __future__ import annotations

import errno
import os
import stat as modes
import sys
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from operator import itemgetter
from typing import NamedTuple, TypeVar

from livedex_indexing.disk.beneath import check_relative, folder
from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.disk.tree_errors import (
    Denied,
    Missing,
    NotRegular,
    ReadFailed,
    TooLarge,
    TreeError,
    Unsettled,
    Vanished,
    fault_of,
    is_gone,
    retry_stale,
)
from livedex_indexing.model import EntryKind, FileState, Stat
from livedex_indexing.relpath import absolute

__all__ = [
    "Denied",
    "Missing",
    "NotRegular",
    "ReadFailed",
    "Snapshot",
    "TooLarge",
    "TreeError",
    "Unsettled",
    "Vanished",
    "describe",
    "listing",
    "may_read",
    "read_file",
    "read_head",
    "read_if_unchanged",
    "scan",
    "stat",
    "stat_names",
]

# O_NONBLOCK: a pipe that replaced the file after the check must not block us.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# Two writes inside one tick of the filesystem's clock (up to 10 ms; coarser on a loaded machine) leave the same times
# behind: a file that changed within this time is read twice and compared.
RECENT_NS = 100_000_000

T = TypeVar("T")


class Snapshot(NamedTuple):
    """The bytes of a file in one state, and that state."""

    data: bytes
    stat: Stat


def stat(root: bytes, rel: bytes) -> Stat | None:
    """Describe the entry itself, not the target of a link; None if there is no entry. Raises Denied, ReadFailed."""
    check_relative(rel)
    try:
        return REMOTE.run(root, rel, partial(retry_stale, partial(_stat, root, rel)))
    except OSError as error:
        if is_gone(error, rel):
            return None
        raise fault_of(error) from error


def _stat(root: bytes, rel: bytes) -> Stat:
    if not rel:
        return describe(os.lstat(root))
    parent, _, name = rel.rpartition(b"/")
    with folder(root, parent) as fd:
        return describe(os.stat(name, dir_fd=fd, follow_symlinks=False))


def stat_names(root: bytes, rel: bytes, names: Collection[bytes]) -> dict[bytes, Stat]:
    """Describe those ``names`` that exist in folder ``rel``, links not followed. Raises Denied, Missing, ReadFailed."""
    remote = REMOTE.inside(root, rel)
    local = [name for name in names if name not in remote] if remote else list(names)
    try:
        found = REMOTE.run(root, rel, partial(retry_stale, partial(_stat_names, root, rel, local)))
    except OSError as error:
        if is_gone(error, rel):
            raise Missing from error
        raise fault_of(error) from error
    if remote:
        found |= {name: describe(status) for name, status in _mounted(root, rel, remote) if name in names}
    return found


def _stat_names(root: bytes, rel: bytes, names: list[bytes]) -> dict[bytes, Stat]:
    found = {}
    with folder(root, rel) as fd:
        for name in names:
            try:
                found[name] = describe(os.stat(name, dir_fd=fd, follow_symlinks=False))
            except FileNotFoundError:
                continue
    return found


def listing(root: bytes, rel: bytes) -> list[tuple[bytes, os.stat_result]]:
    """List one folder's entries as the system describes them, in no order, links not followed.

    For walks over whole trees, where making a `Stat` of each entry would cost as much as the system call. Raises
    Denied, Missing, ReadFailed.
    """
    remote = REMOTE.inside(root, rel)
    try:
        entries = REMOTE.run(root, rel, partial(retry_stale, partial(_listing, root, rel, remote)))
    except OSError as error:
        if is_gone(error, rel):
            raise Missing from error
        raise fault_of(error) from error
    return [*entries, *_mounted(root, rel, remote)] if remote else entries


def _listing(root: bytes, rel: bytes, left_out: Collection[bytes]) -> list[tuple[bytes, os.stat_result]]:
    entries = []
    with folder(root, rel, listing=True) as fd, os.scandir(fd) as found:
        for entry in found:
            name = entry.name.encode(_NAMES, "surrogateescape")
            if name in left_out:
                continue
            try:
                entries.append((name, entry.stat(follow_symlinks=False)))
            except FileNotFoundError:
                continue  # deleted since it was listed
    return entries


def _mounted(root: bytes, rel: bytes, names: Collection[bytes]) -> Iterator[tuple[bytes, os.stat_result]]:
    """Describe mount points. One that does not answer is a folder on no device: who enters it gets the error."""
    for name in names:
        path = absolute(absolute(root, rel), name)
        try:
            yield name, REMOTE.run(path, b"", partial(os.lstat, path))
        except OSError as error:
            if not is_gone(error, name):
                yield name, os.stat_result((modes.S_IFDIR, *[0] * 9), {"st_mtime_ns": 0, "st_ctime_ns": 0})


def scan(root: bytes, rel: bytes) -> list[tuple[bytes, Stat]]:
    """List one folder's entries, sorted by name, links not followed. Raises Denied, Missing, ReadFailed."""
    return sorted(((name, describe(found)) for name, found in listing(root, rel)), key=itemgetter(0))


def read_file(root: bytes, rel: bytes, max_size: int) -> Snapshot:
    """Read a regular file: its bytes, and the one state that they belong to.

    Of a file that only grew during the read (a log), return the bytes up to its first size, with its first state.
    Raises Vanished, NotRegular, Denied, ReadFailed, Unsettled, and TooLarge for more than ``max_size`` bytes.
    """
    return _reach(root, rel, partial(_read_file, root, rel, max_size))


def _read_file(root: bytes, rel: bytes, max_size: int) -> Snapshot:
    with _OpenFile(root, rel) as file:
        if file.stat.size > max_size:
            raise TooLarge(file.stat)
        data = file.read(file.stat.size)
        if not file.is_one_state(data):
            raise Unsettled
        return Snapshot(data, file.stat)


def read_head(root: bytes, rel: bytes, limit: int) -> Snapshot:
    """Read the first ``limit`` bytes of a regular file as they are now, and its state just before.

    Raises Vanished, NotRegular, Denied, ReadFailed.
    """
    return _reach(root, rel, partial(_read_head, root, rel, limit))


def _read_head(root: bytes, rel: bytes, limit: int) -> Snapshot:
    with _OpenFile(root, rel) as file:
        return Snapshot(file.read(limit), file.stat)


def may_read(root: bytes, rel: bytes) -> bool:
    """Return False if there is no permission to read the entry, or if that cannot be known."""
    try:
        found = stat(root, rel)
        if found is not None and found.kind == "folder":
            listing(root, rel)
        elif found is not None:
            read_head(root, rel, 1)
    except (Denied, ReadFailed):
        return False
    except TreeError:
        pass  # it is another entry now, or gone
    return True


def read_if_unchanged(
    root: bytes, rel: bytes, state: FileState | tuple[int, int, int, int], part: tuple[int, int] | None = None
) -> bytes | None:
    """Read the file, or a ``part`` of it (start and end, both inside it), if it is still in that state; None if it
    changed, is gone, or cannot be read."""
    try:
        return _reach(root, rel, partial(_read_if_unchanged, root, rel, state, part))
    except TreeError:
        return None


def _read_if_unchanged(
    root: bytes, rel: bytes, state: FileState | tuple[int, int, int, int], part: tuple[int, int] | None
) -> bytes | None:
    with _OpenFile(root, rel) as file:
        if file.stat.state != state:
            return None
        start, end = (0, file.stat.size) if part is None else part
        data = file.read(end - start, start)
        return data if len(data) == end - start and file.is_unchanged(data, start) else None


def _reach(root: bytes, rel: bytes, read: Callable[[], T]) -> T:
    """Return what ``read`` returns. Raises ReadFailed if the mount that the file lies on does not answer."""
    try:
        return REMOTE.run(root, rel, read)
    except OSError as error:
        raise ReadFailed(error) from error


class _OpenFile:
    """A regular file, opened beneath its root for the length of a ``with``; ``stat`` is its state at that moment."""

    def __init__(self, root: bytes, rel: bytes) -> None:
        if not rel:
            raise NotRegular("folder")
        check_relative(rel)
        try:
            self._fd = retry_stale(partial(self._open, root, rel))
        except OSError as error:
            if is_gone(error, rel):
                raise Vanished from error
            if error.errno == errno.ENXIO:  # a socket took its place
                raise NotRegular("special") from error
            raise fault_of(error) from error
        try:
            self._born = time.time_ns()
            self.stat = self._stat()
            self._refuse_special(self.stat)
        except BaseException:
            os.close(self._fd)
            raise

    @classmethod
    def _open(cls, root: bytes, rel: bytes) -> int:
        parent, _, name = rel.rpartition(b"/")
        with folder(root, parent) as above:
            cls._refuse_special(describe(os.stat(name, dir_fd=above, follow_symlinks=False)))
            return os.open(name, _READ, dir_fd=above)

    def _stat(self) -> Stat:
        """Return its state now. Raises ReadFailed, for example on a lost share."""
        try:
            return describe(os.fstat(self._fd))
        except OSError as error:
            raise ReadFailed(error) from error

    @staticmethod
    def _refuse_special(found: Stat) -> None:
        if found.kind != "file":
            raise NotRegular(found.kind)

    def __enter__(self) -> _OpenFile:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def read(self, length: int, start: int = 0) -> bytes:
        """Read ``length`` bytes from ``start``, fewer at the end of the file. Raises ReadFailed."""
        pieces, offset = [], start
        try:
            while offset < start + length and (piece := os.pread(self._fd, start + length - offset, offset)):
                pieces.append(piece)
                offset += len(piece)
        except OSError as error:
            raise ReadFailed(error) from error
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def is_one_state(self, data: bytes) -> bool:
        """Whether the bytes read from the beginning are one state of the file: it did not change, or it only grew."""
        if len(data) != self.stat.size:
            return False
        if self.is_unchanged(data):
            return True
        return self._stat().size > self.stat.size and self._reads_again(data, 0)

    def is_unchanged(self, data: bytes, start: int = 0) -> bool:
        """Whether the file is still as it was when opened, so that ``data``, read at ``start``, is of that state."""
        if self._stat().state != self.stat.state:
            return False
        recent = self._born - self.stat.ctime_ns < RECENT_NS
        return not recent or self._reads_again(data, start)

    def _reads_again(self, data: bytes, start: int) -> bool:
        return self.read(len(data), start) == data


_NAMES = sys.getfilesystemencoding()
_SIGNED = 1 << 63
_KINDS: dict[int, EntryKind] = {modes.S_IFREG: "file", modes.S_IFDIR: "folder", modes.S_IFLNK: "symlink"}


def describe(found: os.stat_result) -> Stat:
    """Turn the system's description of an entry into a `Stat`."""
    mode = found.st_mode
    kind = _KINDS.get(modes.S_IFMT(mode), "special")
    mtime_ns, ctime_ns = found.st_mtime_ns, found.st_ctime_ns
    if not (-_SIGNED <= mtime_ns < _SIGNED and -_SIGNED <= ctime_ns < _SIGNED):
        mtime_ns, ctime_ns = max(-_SIGNED, min(mtime_ns, _SIGNED - 1)), _wrapped(ctime_ns)
    return Stat(kind, found.st_size, mtime_ns, ctime_ns, found.st_ino, found.st_dev, mode, found.st_nlink)


def _wrapped(nanoseconds: int) -> int:
    """Wrap a time before 1677 or after 2262 into 64 bits of nanoseconds: these are only compared for equality."""
    return (nanoseconds + _SIGNED) % (2 * _SIGNED) - _SIGNED
