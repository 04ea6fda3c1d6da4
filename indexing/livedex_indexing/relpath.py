"""Paths as bytes: joined, split, and compared folder by folder, never character by character.

Invariant: pure. A relative path has no leading or trailing slash and ``b""`` is the root itself, so
``join(*split(path)) == path``. `is_within`, `is_below` and `parent` also take absolute paths.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

FEW: Final = 4  # so many folders are compared one by one: the name of one that is renamed, with a deep tree below it


def join(folder: bytes, name: bytes) -> bytes:
    """The path of ``name`` in a folder relative to the root; ``b""`` is the root."""
    return folder + b"/" + name if folder else name


def absolute(root: bytes, path: bytes) -> bytes:
    """The absolute path of ``path``, relative to ``root``; the root may be ``/``."""
    return root.rstrip(b"/") + b"/" + path if path else root


def relative(root: bytes, path: bytes) -> bytes:
    """An absolute path at or below ``root``, relative to it."""
    return path[len(root.rstrip(b"/")) + 1 :]


def split(path: bytes) -> tuple[bytes, bytes]:
    """A path as (folder, name); the folder is ``b""`` for an entry at the top of the root."""
    folder, _, name = path.rpartition(b"/")
    return folder, name


def parent(path: bytes) -> bytes:
    """The folder of an entry; ``b""`` at the top of the root (for an absolute path: ``/``)."""
    return path.rpartition(b"/")[0]


def name_of(path: bytes) -> bytes:
    """The last component of a path."""
    return path.rpartition(b"/")[2]


def is_within(path: bytes, folder: bytes) -> bool:
    """Whether ``path`` is ``folder`` or lies below it. Everything lies within ``b""`` and ``/``."""
    return not folder or path == folder or path.startswith(folder + b"/") or folder == b"/"


def is_below(path: bytes, folder: bytes) -> bool:
    """Whether ``path`` lies below ``folder`` and is not ``folder`` itself."""
    return path != folder and is_within(path, folder)


def is_at_or_below(path: bytes, folders: Collection[bytes]) -> bool:
    """Whether a relative path is one of the folders or lies below one. Costs a look-up for each folder above it.

    Each of these hashes a whole path: with a single folder, a rename of a tree of 3,000 levels took 48 s.
    """
    if len(folders) <= FEW:
        return any(is_within(path, folder) for folder in folders)
    while path not in folders:
        if not path:
            return False
        path = parent(path)
    return True


def few_at_or_above(folders: Collection[bytes], most: int) -> frozenset[bytes]:
    """Return at most ``most`` folders, each as deep as that allows, that are or contain all of the relative folders."""
    found = frozenset(path for path in folders if not path or not is_at_or_below(parent(path), folders))
    names = max((path.count(b"/") + 1 for path in found), default=0)
    while len(found) > most:
        names -= 1
        found = frozenset(b"/".join(path.split(b"/", names)[:names]) for path in found)
    return found


def range_below(folder: bytes) -> tuple[bytes, bytes]:
    """The half-open range of the paths below ``folder``, in the order of their bytes. Not for ``b""``."""
    return folder + b"/", folder + b"0"  # "0" is the byte after "/"
