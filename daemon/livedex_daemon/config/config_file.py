"""Reads the configuration's bytes from disk, whatever kind of file is at its path.

Invariant: never blocks, never reads more than 1 MiB, and refuses a file that other users could have written.
"""

from __future__ import annotations

import errno
import os
import stat
from shlex import quote

from livedex_indexing.write_access import others_may_write

# Like permission and a socket, such an error says something of the path; any other may be over the next time.
_OF_THE_PATH = (errno.ELOOP, errno.EISDIR, errno.ENAMETOOLONG)
MAX_BYTES = 1 << 20  # far larger than any real configuration, small enough to read at once


class ConfigFileError(Exception):
    """The file cannot be used as a configuration; the message gives the reason and the remedy."""


class ConfigFileUnread(ConfigFileError):
    """The system could not read the file: no free descriptor, a bad disk. That says nothing of what is in it."""


def read(path: str) -> bytes | None:
    """Return the file's bytes, or None if there is no file.

    Raises ConfigFileError for anything but a regular file of at most 1 MiB that is owned by the user (or root) and
    that no other user may write; ConfigFileUnread if the system cannot read it.
    """
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError:
        if os.path.islink(path):
            raise ConfigFileError(f"{path} is a link to {os.readlink(path)}, which does not exist") from None
        return None
    except OSError as fault:
        raise _unreadable(path, fault) from None
    try:
        return read_open(path, descriptor)
    finally:
        os.close(descriptor)


def read_open(path: str, descriptor: int) -> bytes:
    """Return the bytes of an open file; ``path`` is only for messages. Raises ConfigFileError as ``read`` does."""
    try:
        _check(path, os.fstat(descriptor))
        return _bytes(path, descriptor)
    except OSError as fault:
        raise _unreadable(path, fault) from None


def _check(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ConfigFileError(f"{path} is {_kind(found.st_mode)}, not a file: move it away")
    if found.st_uid not in (os.geteuid(), 0):
        raise ConfigFileError(
            f"{path} belongs to another user (uid {found.st_uid}): run `chown {os.geteuid()} {quote(path)}`"
        )
    if others_may_write(found):
        mode = stat.S_IMODE(found.st_mode)
        raise ConfigFileError(f"other users may write to {path} (mode {mode:04o}): run `chmod go-w {quote(path)}`")
    if found.st_size > MAX_BYTES:
        raise ConfigFileError(f"{path} has {found.st_size} bytes; a configuration has at most {MAX_BYTES}")


def _bytes(path: str, descriptor: int) -> bytes:
    parts = []
    left = MAX_BYTES + 1  # the size may have grown since fstat
    while left > 0 and (part := os.read(descriptor, left)):
        parts.append(part)
        left -= len(part)
    if left <= 0:
        raise ConfigFileError(f"{path} has more than {MAX_BYTES} bytes, the most a configuration may have")
    return b"".join(parts)


def _unreadable(path: str, fault: OSError) -> ConfigFileError:
    if fault.errno in (errno.EACCES, errno.EPERM):
        remedy = f"run `chmod u+r {quote(path)}`, and give this user permission to enter its folders"
        return ConfigFileError(f"{path} cannot be read: permission denied; {remedy}")
    if fault.errno == errno.ENXIO:  # the error for opening a socket
        return ConfigFileError(f"{path} is a socket, not a file: move it away")
    if fault.errno == errno.ENOTDIR:
        above = os.path.dirname(os.path.abspath(path))
        while not os.path.lexists(above):
            above = os.path.dirname(above)
        return ConfigFileError(f"{path} cannot be read: {above} is not a folder: move it away")
    why = f"{path} cannot be read: {os.strerror(fault.errno or 0)}"
    return ConfigFileError(why) if fault.errno in _OF_THE_PATH else ConfigFileUnread(f"{why}; try again")


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")
