"""An identifier of the code that child processes run, to compare two processes and to date what was found with it.

Invariant: two processes have the same identifier only if the code they loaded is the same, byte for byte. A release
number alone would not do: an editable or half-upgraded installation keeps it while its code changes.
"""

from __future__ import annotations

import hashlib
import os
from typing import Final

import livedex_ipc

_FOLDERS: Final = ("child", "chunk", "disk", "parse", "text")  # what children load
_FILES: Final = ("model.py", "relpath.py")


def read_from_disk() -> bytes:
    """Return the identifier of the code that is installed now (16 bytes)."""
    top = os.path.dirname(os.path.dirname(__file__))
    paths = [livedex_ipc.__file__, *(os.path.join(top, name) for name in _FILES)]  # the first has the release number
    for folder in _FOLDERS:
        paths += sorted(entry.path for entry in os.scandir(os.path.join(top, folder)) if entry.name.endswith(".py"))
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        with open(path, "rb") as file:
            source = file.read()
        digest.update(b"%s\0%d\0" % (os.fsencode(os.path.basename(path)), len(source)))
        digest.update(source)
    return digest.digest()


def failure_signature(plan_signature: bytes) -> bytes:
    """Return an identifier of a failure to chunk under a plan: with other code it may not fail (16 bytes)."""
    return hashlib.blake2b(plan_signature + OWN, digest_size=16).digest()


def was_replaced() -> bool:
    """Return True when other code is installed now than this process has loaded, or none; False if that is unknown."""
    try:
        return read_from_disk() != OWN
    except (FileNotFoundError, NotADirectoryError):
        return OWN != UNKNOWN  # an upgrade is under way
    except OSError:
        return False  # as where no descriptor is free


def _readable() -> bytes:
    try:
        return read_from_disk()
    except OSError:
        return UNKNOWN


UNKNOWN: Final = b""  # of a process that could not read its code, or whose package is no folder
OWN: Final = _readable()  # at import, before an upgrade can replace what this process has loaded
