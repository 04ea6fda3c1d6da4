"""Looks at the disk that show whether what an earlier look decided still holds.

Invariant: an error proves nothing: whatever the index has is then kept.
"""

from __future__ import annotations

from livedex_daemon.watch.root_table import Root
from livedex_indexing.disk import tree
from livedex_indexing.disk.listed_names import stat_as_listed
from livedex_indexing.model import Stat
from livedex_indexing.store.index_store import Store


def is_gone(root: Root, path: bytes) -> bool:
    try:
        return stat_as_listed(root.path, path) is None
    except (tree.Denied, tree.ReadFailed):
        return False


def came_or_went(store: Store, root: Root, path: bytes) -> bool:
    """Return False only for a marker that was there before. One that a rule shuts out never has a row."""
    try:
        return store.file(root.id, path) is None or stat_as_listed(root.path, path) is None
    except tree.Denied:
        return False  # its folder is looked at instead


def linked(root: Root, path: bytes) -> Stat | None:
    """Return the file at ``path`` if it has hard links; None for anything else."""
    try:
        stat = tree.stat(root.path, path)
    except (tree.Denied, tree.ReadFailed):
        return None
    return stat if stat is not None and stat.kind == "file" and stat.links > 1 else None


def is_indexed_folder(root: Root, path: bytes) -> bool:
    """Return True if the folder is there, no rule shuts it out, and it is no other root's."""
    try:
        if not root.belongs(path) or root.rules.explain(path, True) is not None:
            return False
        stat = stat_as_listed(root.path, path)
    except (tree.Denied, tree.ReadFailed):
        return True
    return stat is not None and stat.kind == "folder"


def may_list(root: Root, path: bytes) -> bool:
    try:
        tree.scan(root.path, path)
    except tree.TreeError:
        return False
    return True


def is_hidden(root: Root, path: bytes) -> bool:
    """Return True if a folder above ``path`` may not be entered."""
    try:
        tree.stat(root.path, path)
    except tree.Denied:
        return True
    except tree.ReadFailed:
        pass
    return False


def denied_folder(root: Root, path: bytes) -> bytes:
    """Return the topmost folder above ``path`` that may not be entered. Raises ReadFailed."""
    while path:
        path = path.rpartition(b"/")[0]
        try:
            tree.stat(root.path, path)
        except tree.Denied:
            continue
        break
    return path
