"""Decides what must be done about one entry, from what the disk says and what the index holds. It does nothing itself.

Invariant: only (size, mtime, ctime, inode) are compared, and only for inequality; nothing is concluded from an event.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from livedex_indexing.model import FileRow, Stat

RACY_S = 2.0  # a file whose times are this close to its indexing may change again without showing it


class Keep(NamedTuple):
    """The index already says what the disk says."""


class Read(NamedTuple):
    """The bytes must be read: they may have changed, or nothing is known of them."""


class Skip(NamedTuple):
    """The entry is accounted for and not read. ``reason``: ``symlink``, ``special`` or ``too_large``."""

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
) -> Decision:
    """What to do about an entry that the rules let through and that is no folder.

    ``max_size``: bytes. ``planned``: is the row's content cut as the settings ask? None: known to be so.
    """
    if stat.kind != "file":
        reason = "symlink" if stat.kind == "symlink" else "special"
        return _skip_unless_said(reason, stat, row)
    if stat.size > max_size:
        return _skip_unless_said("too_large", stat, row)
    if force or row is None or row.state != stat.state:
        return READ
    if row.status == "pending" or not row.settled:
        return READ
    if row.status == "failed" and (row.reason or "").startswith(("read", "denied", "store")):
        return READ  # what failed outside the file may work now
    if row.status == "skipped" and row.reason == "too_large":
        return READ  # the limit was raised
    if planned is not None and row.status == "indexed" and not planned(row):
        return READ
    return KEEP


def _skip_unless_said(reason: str, stat: Stat, row: FileRow | None) -> Decision:
    said = row is not None and row.status == "skipped" and row.reason == reason and row.state == stat.state
    return KEEP if said else Skip(reason)


def is_settled(stat: Stat, now: float) -> bool:
    """False while a later write could leave the file's times as they are. ``now``: seconds since the epoch."""
    newest_ns = max(stat.mtime_ns, stat.ctime_ns)
    return now - newest_ns / 1e9 > RACY_S or newest_ns / 1e9 - now > RACY_S
