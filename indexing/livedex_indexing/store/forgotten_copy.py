"""Reads and writes the second copy of the record of forgotten files: a text file that is replaced as a whole.

Invariant: each line has a checksum and the first one the number of the others, so that damage is always noticed, and
every sound line can still be read. The file is either the former or the new one, whatever interrupts the writing.
"""

from __future__ import annotations

import os
import stat
import zlib
from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64, hexlify, unhexlify
from typing import Final, Literal, NamedTuple

from livedex_indexing.store.set_aside import keep_folder

Hashes = dict[tuple[bytes, bytes], bytes]  # by root and relative path: the content hash of the file when forgotten

# whole: nothing is missing. new: the first start is not over. lost: some may be missing, which is reported.
Completeness = Literal["whole", "new", "lost"]

_TITLE: Final = b"livedex-forgotten-1"
_STATES: Final[dict[bytes, Completeness]] = {b"whole": "whole", b"new": "new", b"lost": "lost"}


class Record(NamedTuple):
    """What one of the two files says. ``damaged``: it can be read in part or not at all."""

    hashes: Hashes
    state: Completeness | Literal["absent", "damaged"]


class DamagedLineError(ValueError):
    """A line that was not written so."""


def read(path: str) -> Record:
    """Return what the copy says. Its fault is never an error: the other file may be sound."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return Record({}, "damaged")
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return Record({}, "absent")
    except OSError:
        return Record({}, "damaged")
    return _parsed(data) if data else Record({}, "absent")


def write(path: str, hashes: Hashes, state: Completeness) -> None:
    """Replace the file, durably. Raises OSError; then the former file is still there."""
    lines = [b"%b %b %d" % (_TITLE, state.encode(), len(hashes))]
    lines += [b"%b %b %b" % (_text(root), _text(path), hexlify(digest)) for (root, path), digest in hashes.items()]
    keep_folder(path, path)
    made = f"{path}.new"
    keep_folder(made, path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(made, flags, 0o600), "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.writelines(b"%08x %b\n" % (zlib.crc32(line), line) for line in lines)
        file.flush()
        os.fsync(file.fileno())
    os.replace(made, path)
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _parsed(data: bytes) -> Record:
    first, *rest = data.split(b"\n")
    hashes: Hashes = {}
    sound = True
    for line in rest[:-1]:
        try:
            root, path, digest = _checked(line).split(b" ")
            hashes[a2b_base64(root), a2b_base64(path)] = unhexlify(digest)
        except (DamagedLineError, NotBase64, ValueError):
            sound = False
    try:
        title, state, count = _checked(first).split(b" ")
    except ValueError:
        return Record(hashes, "damaged")
    sound = sound and title == _TITLE and state in _STATES and count == b"%d" % len(hashes) and rest[-1:] == [b""]
    return Record(hashes, _STATES[state] if sound else "damaged")


def _checked(line: bytes) -> bytes:
    """Return a line without its checksum. Raises DamagedLineError."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        raise DamagedLineError
    return text


def _text(path: bytes) -> bytes:
    return b2a_base64(path, newline=False)
