"""Walk a folder of a root step by step, compare it with the index, and collect the changes to store.

Invariant: a folder is watched before it is listed, so that changes after the listing are reported; and a folder in the
index is dropped only after the disk shows that it is gone or a rule shuts it out.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from functools import partial
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple, Protocol

from livedex_daemon.watch.backlog import SETTLE_S, Entry, Key
from livedex_daemon.watch.root_table import Root
from livedex_daemon.watch.unreadable import UnreadablePaths
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.plan_check import PlanCheck
from livedex_daemon.write.policy import Policy
from livedex_daemon.write.reconcile import Keep, Read, decide, same_suffix
from livedex_daemon.write.second_look import is_hidden
from livedex_indexing.disk import tree
from livedex_indexing.disk.listed_names import stat_as_listed
from livedex_indexing.disk.mounts import mount_kind
from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.disk.settled import is_settled
from livedex_indexing.disk.tree_errors import Denied, Missing, ReadFailed
from livedex_indexing.ignore.rules import RULE_NAMES, is_marker_name
from livedex_indexing.model import FileRow, FileState, KnownState, Stat
from livedex_indexing.relpath import is_within

NOTHING = FileState(0, 0, 0, 0)
AT_ONCE = 30_000  # fetch so many rows of a root in one go; fetch the rows of a larger root folder by folder


class Rows(Protocol):
    """The part of the store that a walk reads. ``generation``: of the last commit."""

    @property
    def generation(self) -> int: ...

    def file(self, root_id: int, path: bytes) -> FileRow | None: ...

    def states(self, root_id: int, path: bytes) -> dict[bytes, KnownState]: ...

    def all_states(self, root_id: int, limit: int) -> dict[bytes, dict[bytes, KnownState]] | None: ...

    def folders_below(self, root_id: int, path: bytes) -> list[bytes]: ...

    def by_inode(self, ino: int) -> list[FileRow]: ...


class Work:
    """One file to read. ``cancelled``: the path vanished in the meantime, so the outcome must not be stored.
    ``is_doubtful``: it may have, for a walk that began meanwhile compares the disk with the index alone.

    ``marked_again``: the path changed again, and waits for this work. ``behind``: works of the path that wait for this
    one. ``alone``: read it in no batch, since a batch with it failed. ``deaths``: how many children ended on it.
    ``times_gave_way``: how often it was given up because it took long and others waited.
    ``read_at``: when its last reading began, in seconds since the epoch. ``state``: as the file was found.
    """

    __slots__ = (
        "alone", "behind", "cancelled", "deaths", "entry", "force", "is_doubtful", "key", "marked_again", "read_at",
        "retry_at", "root", "row", "size", "state", "times_gave_way", "tries",
    )  # fmt: skip

    def __init__(
        self, root: Root, path: bytes, size: int, row: FileRow | None, entry: Entry, state: FileState | None = None
    ) -> None:
        self.root = root
        self.state = state
        self.key: Key = (root.id, path)
        self.size = size
        self.row = row
        self.entry = entry
        self.force = entry.force
        self.tries = 0
        self.deaths = 0
        self.times_gave_way = 0
        self.read_at = 0.0
        self.retry_at = 0.0
        self.cancelled = False
        self.is_doubtful = False
        self.alone = False
        self.marked_again = False
        self.behind: list[Work] = []

    @property
    def is_wanted(self) -> bool:
        """Return True if someone asked for it: then it does not wait for mains power. A first index was asked for."""
        if self.entry.wanted or self.marked_again or not self.root.first_indexed:
            return True
        return any(work.is_wanted for work in self.behind)

    @property
    def path(self) -> bytes:
        return self.key[1]


def bare_row(root_id: int, path: bytes, stat: Stat | None, status: str, reason: str | None, now: float) -> FileRow:
    """Return a row without content: ``pending``, ``skipped`` or ``failed``."""
    state = stat.state if stat is not None else NOTHING
    settled = stat is not None and is_settled(stat, now)
    return FileRow(root_id, path, state, status, reason, None, None, None, None, now, settled)  # type: ignore[arg-type]


class WalkTools(NamedTuple):
    """What walks use and share. ``watch`` places a watch on a folder of a root; ``now``: seconds since the epoch."""

    rows: Rows
    watch: Callable[[Root, bytes], None]
    policy: Policy
    unreadable: UnreadablePaths
    now: Callable[[], float] = time.time


class TreeWalk:
    """A walk of one folder and everything below it. Call ``step`` until it returns True."""

    def __init__(self, tools: WalkTools, root: Root, path: bytes, entry: Entry) -> None:
        self.root = root
        self.path = path
        self.entry = entry
        self.works: list[Work] = []
        self.absent: list[Key] = []  # files that vanished so recently that an editor may be saving them
        self.twins: list[Key] = []  # other names of changed files, which the index has in another state
        self.left_out: list[bytes] = []  # folders that are shut out, gone or another root's: to be watched no more
        self.took_s = 0.0
        self.emptied = False  # the root itself is empty although the index has files of it
        self.failures: dict[bytes, int] = {}  # folders that could not be read: the errno. What is in them is kept
        self.denied: list[bytes] = []  # folders without permission: nothing in them is served
        self.closed: list[bytes] = []  # those of them that were found so in this step
        self.hidden: list[bytes] = []  # those that seemed to lie in a closed folder, which then says so: to be examined
        self._rows, self._watch, self.policy, self._unreadable, self._now = tools
        self.since = self._unreadable.failures  # of any path, before the walk began
        policy, rows = self.policy, self._rows
        self._plans = PlanCheck(lambda row: policy.settings_of(root.path, row.path))
        self._planned = None if root.planned == policy.chunking else self._plans
        self._stack: list[tuple[bytes, int | None]] = [(path, None)]  # a folder, and the device of its parent
        self._visited: set[bytes] = set()
        self._linked: set[FileState] = set()  # files of which other names were looked for
        self._with_row: set[bytes] = set()  # folders with a row: they could not be listed before
        self._states = rows.all_states(root.id, AT_ONCE) if not path else None
        self._states_of = rows.generation
        self._had_folders = bool(self._states if self._states is not None else rows.folders_below(root.id, path))
        self._has_left = False

    @property
    def is_wanted(self) -> bool:
        """Return True if someone asked for it; a first index was asked for."""
        return self.entry.wanted or not self.root.first_indexed

    def step(self, until: Callable[[], bool], changes: Changes) -> bool:
        """Walk on until ``until()`` is true or the walk ends; return True at the end.

        ``works`` gets the files to read, ``absent`` the files that may be gone only for a moment.
        """
        while True:
            while self._stack:
                self._folder(*self._stack.pop(), changes)
                if self.emptied:
                    return True
                if until():
                    return False
            if self._has_left:
                return True
            # As the index has them now: while the walk went on, others may have stored files by the rules of before.
            self._leave(self._rows.folders_below(self.root.id, self.path), changes)
            self._has_left = True
            if self.root.was_polled(self.path):  # of which no event tells that a folder is gone
                unseen = (self.root.refused | self.root.remote) - self._visited
                self.left_out += [path for path in unseen if is_within(path, self.path)]

    def _folder(self, path: bytes, device: int | None, changes: Changes) -> None:
        if path in self._visited:
            return
        if not self.root.belongs(path):
            self.left_out.append(path)
            if path in self._with_row:  # it was a file before it became another root
                changes.removed.append((self.root.id, path))
            return
        self._visited.add(path)
        root = self.root
        if self._unreadable.closed_above((root.id, path)) is not None:
            self.denied.append(path)  # since the walk listed that folder, another one has found it closed
            return
        self._watch(root, path)
        try:
            entries = tree.listing(root.path, path)
            was_denied = self._unreadable.allowed((root.id, path))
            if not path and not entries and self._had_folders and not self._seen_to_go():
                self.emptied = True
                return
            self._compare(path, device, entries, changes)
        except Missing as fault:
            if not path:  # no other watch would report that it is back: whether it is gone is for the next check
                self.failures[path] = fault.errno
                return
            self._visited.discard(path)
            self.left_out.append(path)  # the watch may be that of another folder, reached through a link in its path
            return
        except Denied as fault:
            if path:
                self._leave_denied(path, changes)
            else:
                self.failures[path] = fault.errno
            return
        except (ReadFailed, OSError) as fault:
            self.failures[path] = fault.errno or errno.EIO
            return
        # Since the walk listed the folder above, another one may have found this one closed.
        if changes.drop_row((root.id, path)) or was_denied or path in self._with_row:
            changes.removed.append((root.id, path))

    def _leave_denied(self, path: bytes, changes: Changes) -> None:
        """Say that the folder may not be read, and serve nothing of it."""
        self.denied.append(path)
        if is_hidden(self.root, path):
            self.hidden.append(path)
            return
        self._unreadable.deny((self.root.id, path))
        self.closed.append(path)
        row = self._rows.file(self.root.id, path)
        is_news = row is None or row.reason != "denied"
        if is_news or self._rows.folders_below(self.root.id, path):
            changes.removed_trees.append((self.root.id, path))
        if is_news:
            changes.rows.append(bare_row(self.root.id, path, None, "failed", "denied", self._now()))

    def has_read(self, path: bytes) -> bool:
        """Return True if the walk listed the folder."""
        return path in self._visited and path not in self.failures and path not in self.denied

    def _seen_to_go(self) -> bool:
        """Return True when an empty root is credible: it is the folder that was watched all along."""
        root = self.root
        if root.state != "online" or root.polled:
            return False
        found = REMOTE.run(root.path, b"", partial(os.lstat, root.path))
        return (found.st_dev, found.st_ino) == (root.dev, root.ino)

    def _compare(
        self, path: bytes, device: int | None, entries: list[tuple[bytes, os.stat_result]], changes: Changes
    ) -> None:
        """Compare a folder's entries with their rows in the index. The inner loop of every walk."""
        root = self.root
        decide = root.rules.rules(path, {name: tree.describe(st) for name, st in entries if name in RULE_NAMES}).decide
        known = self._known_states(path)
        prefix = path + b"/" if path else b""
        quick = self._planned is None and not self.entry.force
        max_size, unchanged = self.policy.max_file_size, 0
        for name, st in entries:
            is_folder = S_ISDIR(st.st_mode)
            known_state = known.pop(name, None)
            if decide(name, is_folder) is not None:
                if is_folder:
                    self.left_out.append(prefix + name)
                if known_state is not None:
                    changes.ignored.append((root.id, prefix + name))
            elif is_folder:
                if st.st_dev == device or self._may_enter(prefix + name, tree.describe(st), changes):
                    self._stack.append((prefix + name, st.st_dev))
                if known_state is not None:
                    self._with_row.add(prefix + name)
            elif (
                quick
                and known_state == (st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_ino, 1)
                and S_ISREG(st.st_mode)
                and st.st_size <= max_size
            ):
                unchanged += 1
            else:
                row = self._rows.file(root.id, prefix + name) if known_state is not None else None
                self._file(prefix + name, tree.describe(st), row, changes)
        if known:
            absent = self.absent if self._changed_recently(path) else changes.removed
            for name in known:  # without a marker this walk lets in what it shut out, so it must count as gone
                (changes.removed if is_marker_name(name) else absent).append((root.id, prefix + name))
        if self.entry.progress is not None:
            self.entry.progress.removed += len(known)
            self.entry.progress.unchanged += unchanged
            self.entry.progress.scanned += unchanged

    def _known_states(self, path: bytes) -> dict[bytes, KnownState]:
        """Return what the index has of a folder now: read with the whole root, as long as nothing is committed."""
        if self._states is None or self._states_of != self._rows.generation:
            self._states = None
            return self._rows.states(self.root.id, path)
        return self._states.pop(path, {})

    def _changed_recently(self, path: bytes) -> bool:
        """Return True when names came or went in the folder within ``SETTLE_S``."""
        try:
            stat = tree.stat(self.root.path, path)
        except (Denied, ReadFailed):
            return False
        return stat is not None and 0 <= self._now() - stat.ctime_ns / 1e9 < SETTLE_S

    def take(self) -> tuple[list[Work], list[Key], list[Key], list[bytes]]:
        """Return ``works``, ``twins``, ``absent`` and ``hidden``, and begin new ones."""
        found = self.works, self.twins, self.absent, self.hidden
        self.works, self.twins, self.absent, self.hidden = [], [], [], []
        self.closed.clear()
        return found

    def _may_enter(self, path: bytes, stat: Stat, changes: Changes) -> bool:
        """Return True when the walk may enter a folder on another device.

        Enter other mounts, but not kernel file systems; poll remote file systems.
        """
        kind = mount_kind(self.root.absolute(path))
        if kind == "pseudo":
            changes.rows.append(bare_row(self.root.id, path, stat, "skipped", "special", self._now()))
            return False
        if kind == "network":
            self.root.poll(path, remote=True)
        elif path in self.root.remote:
            self.root.stop_polling([path])  # it was unmounted
        return True

    def _adopt(self, path: bytes, stat: Stat) -> FileRow | None:
        """Return the row of a file moved here with its folder (same inode and times: same content), else None."""
        for old in self._rows.by_inode(stat.ino):
            if old.state == stat.state and old.settled and old.status == "indexed" and same_suffix(old.path, path):
                return old._replace(root_id=self.root.id, path=path)
        return None

    def _file(self, path: bytes, stat: Stat, row: FileRow | None, changes: Changes) -> None:
        root, progress = self.root, self.entry.progress
        decision = decide(
            stat,
            row,
            max_size=self.policy.max_file_size,
            force=self.entry.force,
            planned=self._planned,
            is_outdated=self._plans.is_outdated,
        )
        if progress is not None:
            progress.scanned += 1
        if isinstance(decision, Keep):
            if progress is not None:
                progress.unchanged += 1
        elif isinstance(decision, Read):
            if row is None and not self.entry.force:
                adopted = self._adopt(path, stat)
                changes.rows.append(adopted or bare_row(root.id, path, stat, "pending", None, self._now()))
                if adopted:
                    return
            if stat.links > 1 and stat.state not in self._linked:
                self._linked.add(stat.state)  # a tree of links has each of its files by many names
                self.twins += [
                    (twin.root_id, twin.path)
                    for twin in self._rows.by_inode(stat.ino)
                    if twin.state != stat.state and (twin.root_id, twin.path) != (root.id, path)
                ]
            self.works.append(Work(root, path, stat.size, row, self.entry, stat.state))
        else:
            changes.rows.append(bare_row(root.id, path, stat, "skipped", decision.reason, self._now()))
            if progress is not None:
                progress.skipped += 1

    def _leave(self, known: list[bytes], changes: Changes) -> None:
        """Look again at the folders that the index knows and the walk did not reach."""
        for path in known:
            if path in self._visited or not is_within(path, self.path):
                continue
            if any(is_within(path, above) for above in (*self.failures, *self.denied)):
                continue  # kept, or removed with the folder above it
            try:
                self._leave_folder(path, changes)
            except ReadFailed as fault:
                self.failures[path] = fault.errno

    def _leave_folder(self, path: bytes, changes: Changes) -> None:
        if self.root.rules.explain(path, True) is not None:
            self.left_out.append(path)
            changes.ignored.append((self.root.id, path))
        elif self.root.belongs(path) and self._is_there(path):
            self._stack.append((path, None))
            return
        else:
            self.left_out.append(path)
            changes.removed_trees.append((self.root.id, path))
        self.root.rules.invalidate(path)

    def _is_there(self, path: bytes) -> bool:
        try:
            stat = stat_as_listed(self.root.path, path)
        except Denied:
            return True  # somewhere above it: its listing will say so
        return stat is not None and stat.kind == "folder"
