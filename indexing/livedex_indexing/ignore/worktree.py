"""Find the top of a git work tree, and the file outside it with its own ignore rules (``info/exclude``).

Functions raise ReadFailed when the system cannot tell: an error is no absence.

Invariant: in a repository, only ``.git`` (when it is a file), ``commondir`` and ``info/exclude`` are ever read, never
its configuration. A pointer inside a root never makes livedex touch a network or virtual filesystem: it is judged by
its text, and no link is followed from there on.
"""

from __future__ import annotations

import errno
import os
from functools import partial
from typing import NamedTuple

from livedex_indexing.disk import tree
from livedex_indexing.disk.mounts import mount_kind
from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.disk.tree_errors import is_gone
from livedex_indexing.ignore.external_files import lines_at, stat_at
from livedex_indexing.relpath import parent

_POINTER_LIMIT = 16_384  # bytes of a ``.git`` file or a ``commondir``


class WorkTree(NamedTuple):
    """A folder that contains ``.git``.

    ``exclude`` is its ``info/exclude``, which need not exist; None if the pointer to the repository cannot be followed.
    ``pointers`` are the files that decide this.
    """

    exclude: bytes | None
    pointers: tuple[bytes, ...]


def work_tree(folder: bytes) -> WorkTree | None:
    """Return the work tree whose top is the folder (an absolute path, "" for ``/``); None if the folder is no top."""
    pointer = folder + b"/.git"
    found = stat_at(pointer)
    kind = found.kind if found is not None else None
    git_dir: bytes | None = pointer
    if kind == "symlink":
        git_dir = _pointed_to(folder, _link_target(pointer))
        target = stat_at(git_dir) if git_dir is not None else None
        kind = target.kind if target is not None else None
    if kind == "file":
        data = lines_at(pointer, _POINTER_LIMIT).data
        if not data.startswith(b"gitdir: "):
            return None
        git_dir = _pointed_to(folder, data[len(b"gitdir: ") :])
    elif kind != "folder":
        return None
    if git_dir is None:
        return WorkTree(None, (pointer,))
    shared = git_dir + b"/commondir"
    common = _pointed_to(git_dir, lines_at(shared, _POINTER_LIMIT).data or b".")
    return WorkTree(common + b"/info/exclude" if common else None, (pointer, shared))


def _link_target(path: bytes) -> bytes:
    try:
        return REMOTE.run(path, b"", partial(os.readlink, path))
    except PermissionError:
        return b""
    except OSError as error:
        return _unless_failed(error)


def _unless_failed(error: OSError) -> bytes:
    """Return nothing for what is gone, or is no link. Raises ReadFailed for any other error."""
    if is_gone(error) or error.errno == errno.EINVAL:
        return b""
    raise tree.ReadFailed(error) from error


def _pointed_to(folder: bytes, target: bytes) -> bytes | None:
    """Return the absolute path that a pointer in the folder names; None if it must not be followed."""
    target = target.rstrip(b"\r\n")
    if not target or b"\0" in target or b"\n" in target:
        return None
    path = os.path.normpath(os.path.join(folder or b"/", target))
    if path != folder and mount_kind(path) not in ("local", mount_kind(folder or b"/")):
        return None
    return path


def _device(folder: bytes) -> int:
    return REMOTE.run(folder, b"", partial(os.stat, folder)).st_dev


def tops_above(root: bytes) -> list[bytes]:
    """Return the folders above the root, nearest first, up to the top of the work tree that contains the root.

    Empty if the root is a top itself or is in no work tree. "" means ``/``. As in git, the search ends at the boundary
    of a filesystem.
    """
    base = root.rstrip(b"/")
    if not base or work_tree(base) is not None:
        return []
    above: list[bytes] = []
    try:
        device = _device(base)
        while base:
            base = parent(base)
            if _device(base or b"/") != device:
                return []
            above.append(base)
            if work_tree(base) is not None:
                return above
    except PermissionError:
        return []
    except OSError as error:
        _unless_failed(error)
    return []
