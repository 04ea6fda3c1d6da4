"""Decide what to do about one directory entry by comparing the disk with the index. It only decides.

Invariant: it compares only (size, mtime, ctime, inode), only for inequality, and concludes nothing from an event.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from livedex_indexing.model import FileRow, Stat


class Keep(NamedTuple):
    """The index already agrees with the disk."""


class Read(NamedTuple):
    """The bytes must be read: they may have changed, or the index does not know them."""


class Skip(NamedTuple):
    """The entry is recorded and not read. ``reason``: ``symlink``, ``special`` or ``too_large``."""

    reason: str


Decision = Keep | Read | Skip
KEEP, READ = Keep(), Read()


def decide(
    stat: Stat,
    row: FileRow | None,
    *,
    max_size: int,
    force: bool = False,
    planned: Callable[[FileRow], bool] | None = None,
    is_outdated: Callable[[FileRow], bool] | None = None,
) -> Decision:
    """Return what to do about an entry that the rules admit and that is not a folder.

    ``max_size``: bytes. ``planned``: tells whether the row is what the settings ask for; None: it is.
    ``is_outdated``: tells whether a row's failure says nothing about a try now; None: it does.
    """
    if stat.kind != "file":
        reason = "symlink" if stat.kind == "symlink" else "special"
        return _skip_unless_recorded(reason, stat, row)
    if stat.size > max_size:
        return _skip_unless_recorded("too_large", stat, row)
    if force or row is None or row.state != stat.state:
        return READ
    if row.status == "pending" or not row.settled:
        return READ
    if row.status == "failed" and (row.reason or "").startswith(("read", "denied", "store")):
        return READ  # a failure outside the file may be gone now
    if row.status == "failed" and is_outdated is not None and is_outdated(row):
        return READ
    if row.status == "skipped" and row.reason == "too_large":
        return READ  # the limit was raised
    if planned is not None and (row.status == "indexed" or row.reason == "binary") and not planned(row):
        return READ
    return KEEP


def _skip_unless_recorded(reason: str, stat: Stat, row: FileRow | None) -> Decision:
    recorded = row is not None and row.status == "skipped" and row.reason == reason and row.state == stat.state
    return KEEP if recorded else Skip(reason)


def same_suffix(old: bytes, new: bytes) -> bool:
    """Return True when both names choose the same pipeline and language."""
    old_name, new_name = old.rpartition(b"/")[2], new.rpartition(b"/")[2]
    if old_name == new_name:
        return True
    old_suffix, new_suffix = old_name.rpartition(b".")[2::-2], new_name.rpartition(b".")[2::-2]
    return b"" not in (*old_suffix, *new_suffix) and old_suffix[0] == new_suffix[0]
