"""Read ignore files and other small files, inside or outside the root.

Invariant: no file makes a function here block or grow without limit. If a pipe, a device, a folder or a gigabyte
is found instead of an ignore file, the readable part counts, and the reason for stopping there is reported. Links are
followed only for the user's own configuration, never where another person may have placed them.
"""

from __future__ import annotations

from typing import NamedTuple

from livedex_indexing.disk import tree
from livedex_indexing.disk.tree_errors import is_gone
from livedex_indexing.disk.users_file import read_users_file, stat_users_file
from livedex_indexing.model import FileState, Stat

NOT_REGULAR = "is not a regular file, so livedex ignores it"
UNREADABLE = "cannot be read"


class Lines(NamedTuple):
    """The beginning of a file. ``fault`` says why it does not count in full; None if it does, or does not exist."""

    data: bytes
    fault: str | None


def lines_beneath(root: bytes, rel: bytes, limit: int) -> Lines:
    """Return the whole lines in the first ``limit`` bytes of a file beneath the root. Follow no link on the way.

    Raises ReadFailed, as the other functions here do: what the file excludes is then unknown.
    """
    try:
        return whole_lines(tree.read_head(root, rel, limit + 1).data, limit)
    except tree.NotRegular as error:
        return Lines(b"", None if error.kind == "folder" else NOT_REGULAR)
    except tree.Vanished:
        return Lines(b"", None)
    except tree.Denied:
        return Lines(b"", UNREADABLE)


def lines_at(path: bytes, limit: int) -> Lines:
    """Do the same for a file of a repository at an absolute path."""
    return lines_beneath(b"/", path.lstrip(b"/"), limit)


def stat_at(path: bytes) -> Stat | None:
    """Return the stat of the absolute path, without following links; None if nothing exists or there is no permission.

    Raises ReadFailed.
    """
    try:
        return tree.stat(b"/", path.lstrip(b"/"))
    except tree.Denied:
        return None


def users_lines(path: bytes, limit: int) -> Lines:
    """Do the same as ``lines_beneath`` for a file of the user's own configuration, which may well be a link."""
    try:
        data = read_users_file(path, limit + 1)
        return Lines(b"", NOT_REGULAR) if data is None else whole_lines(data, limit)
    except (PermissionError, ValueError):
        return Lines(b"", UNREADABLE)
    except OSError as error:
        if is_gone(error):
            return Lines(b"", None)
        raise tree.ReadFailed(error) from error


class Source(NamedTuple):
    """A file that rules depend on but no scan of the root sees.

    ``users``: it belongs to the user's configuration, so links on the way to it are followed.
    """

    path: bytes
    users: bool
    owner: bytes  # the folder, relative to the root, whose rules depend on the file

    def state(self) -> FileState | None:
        """Return a value that differs between states of the file; None if it does not exist.

        Only the inode counts for a folder: its times change with its entries. Raises ReadFailed.
        """
        if not self.users:
            found = stat_at(self.path)
            if found is None:
                return None
            return FileState(0, 0, 0, found.ino) if found.kind == "folder" else found.state
        try:
            target = stat_users_file(self.path)
        except (PermissionError, ValueError):
            return None
        except OSError as error:
            if is_gone(error):
                return None
            raise tree.ReadFailed(error) from error
        return FileState(target.st_size, target.st_mtime_ns, target.st_ctime_ns, target.st_ino)


def whole_lines(data: bytes, limit: int) -> Lines:
    """Return the data itself if it is at most ``limit`` bytes, else the whole lines in its first ``limit`` bytes."""
    if len(data) <= limit:
        return Lines(data, None)
    end = data.rfind(b"\n", 0, limit) + 1
    return Lines(data[:end], f"is larger than {limit >> 20} MiB: only its beginning applies")
