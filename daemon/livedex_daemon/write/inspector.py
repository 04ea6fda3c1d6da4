"""Examine each marked path on the disk and decide what must be read, stored or removed.

Invariant: a missing path is removed only after the walks that may find it under its new name, and only if a second look
still misses it. A path is examined again only after the decisions of the earlier look are committed. Only one work
reads a path at a time, so that an older reading never follows a newer one. Runs on the worker's thread only.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection
from functools import partial

from livedex_daemon.watch.backlog import Backlog, Entry, Key, Mark
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.watch.former_names import FEW_GONE, FormerNames
from livedex_daemon.watch.root_presence import Presence
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.ended_walks import EndedWalks
from livedex_daemon.write.present_file import PresentFile, examine
from livedex_daemon.write.read_errors import ReadErrors
from livedex_daemon.write.readings import Readings
from livedex_daemon.write.second_look import came_or_went, denied_folder, is_gone, is_indexed_folder, linked, may_list
from livedex_daemon.write.twin_looks import TwinLooks
from livedex_daemon.write.walk import TreeWalk, WalkTools
from livedex_indexing.disk import tree
from livedex_indexing.disk.listed_names import ListedNames
from livedex_indexing.disk.unnamed_file import unnamed_inode
from livedex_indexing.ignore import rules
from livedex_indexing.model import FileRow, FileState, Stat
from livedex_indexing.relpath import is_at_or_below, is_within, parent
from livedex_indexing.store.index_store import Store

WALK_S = 0.02  # a walk pauses after so long for edits and commits
OUTSTANDING = 4_000  # a walk pauses while so many files wait to be read: each uses memory


class Inspector:
    """Collect ``changes`` to store and ``finished`` entries; send files to read to the pool."""

    def __init__(self, store: Store, backlog: Backlog, presence: Presence, watching: EventSource, pool: Pool) -> None:
        self.changes = Changes()
        self.finished: list[Entry] = []
        self.needs_commit = False  # a path cannot be examined before older decisions are committed
        self._store = store
        self.unreadable = presence.unreadable
        self.readings = Readings(pool)
        self.former_names = FormerNames()
        self._looks = TwinLooks(backlog, store, self.readings, watching)
        self.ended_walks = EndedWalks(backlog, self.readings)
        self.read_errors = ReadErrors(store, backlog, presence.unreadable)
        self._backlog = backlog
        self._presence = presence
        self._watching = watching
        self._pool = pool
        self._walks: deque[TreeWalk] = deque()
        self._departed: dict[Root, list[Entry]] = {}
        self._names = ListedNames()
        self._walked: tuple[TreeWalk, tuple[int, int, int]] | None = None  # the last walk, and the removals after it

    def is_busy(self, key: Key) -> bool:
        """Return True while the path must not be examined: it is being read, or its removal is not committed."""
        reading = self.readings.get(key)
        if reading is not None:
            reading.marked_again = True
            return True
        covered = self.changes.covers(key)
        self.needs_commit = self.needs_commit or covered
        return covered

    def inspect(self, entry: Entry, root: Root | None) -> None:
        """Examine one entry of the backlog. ``root``: the root that contains it; None when it is no longer watched."""
        if root is not None and not entry.key[1] and (not root.present or entry.key in self.unreadable):
            self._presence.check(root)
        if root is None or not root.present or not root.belongs(entry.key[1]):
            self.finished.append(entry)
            return
        if entry.from_event:
            self._looks.mark_former(entry, self.former_names.inodes_of(entry.key), self.changes)
        try:
            self._inspect_path(root, entry.key[1], entry)
        except tree.ReadFailed as fault:
            self.read_errors.failed(root, entry.key[1], fault.errno, entry, self.changes)
            self.finished.append(entry)

    def _inspect_path(self, root: Root, path: bytes, entry: Entry) -> None:
        folder, _, name = path.rpartition(b"/")
        closed = self.unreadable.closed_above(entry.key)
        if closed is not None:
            self._start_walk(root, closed, entry)  # a file in it may be open to who knows its name
            return
        if rules.is_rule_file(name):
            self._start_walk(root, folder, entry)
            stat = linked(root, path) if entry.from_event else None
            if stat is not None:
                self._mark_twins(root, path, stat, entry)
            return
        if not path:
            self._presence.check(root)
            if root.present:
                self._renew_rules(root, path)
                self._start_walk(root, path, entry)
            else:
                self.finished.append(entry)
            return
        if rules.is_marker_name(name) and came_or_went(self._store, root, path):
            # A marker tells the kind of its folder and of its siblings: ``target`` next to Cargo.toml is ignored.
            entry.tree = True
            self._start_walk(root, folder.rpartition(b"/")[0], entry)
            return
        try:
            stat = self._names.stat(root.path, path, entry.last_at)
        except tree.Denied:
            folder = denied_folder(root, path)
            if not folder:
                self._presence.check(root)
            self._start_walk(root, folder, entry)  # it says so of all that is in the folder
            return
        is_absent_now = stat is None and not self._backlog.is_quiet(entry)
        if is_absent_now and self._backlog.defer(entry, entry.key, quiet_since=entry.last_at):
            self.finished.append(entry)
        elif stat is None:
            self._departed.setdefault(root, []).append(entry)
        elif stat.kind == "folder":
            self._inspect_folder(root, path, entry)
        else:
            self._inspect_file(root, path, stat, entry)

    def _renew_rules(self, root: Root, path: bytes) -> None:
        """Forget the rules at or below ``path`` that depend on a changed file outside the root.

        Such a file is watched before it is looked at.
        """
        for folder in self._watching.watch_outside(root):
            if not is_within(folder, path):
                self._backlog.mark((root.id, folder), Mark(tree=True))
        root.rules.outside_changed(path, doubtful=True)

    def _inspect_folder(self, root: Root, path: bytes, entry: Entry) -> None:
        if entry.tree:
            self._renew_rules(root, path)
        row = self._store.file(root.id, path)
        was_file = self.changes.drop_row((root.id, path)) or row is not None
        if row is not None:
            self._lose(entry, row)
        if root.rules.explain(path, True) is not None:
            self.changes.ignored.append((root.id, path))
            self._drop_tree(root, path)
            self.finished.append(entry)
        elif entry.tree or entry.force or was_file or not may_list(root, path):
            if was_file:
                self.changes.removed.append((root.id, path))
            self._start_walk(root, path, entry)
        else:
            self.finished.append(entry)

    def _inspect_file(self, root: Root, path: bytes, stat: Stat, entry: Entry) -> None:
        row, changes = self._store.file(root.id, path), self.changes
        was_folder = self._store.folders_below(root.id, path)  # even with a row: its commit may precede that of others
        if was_folder or changes.may_have_rows_below((root.id, path)):
            self._drop_tree(root, path)
        if row is not None and row.state.ino != stat.ino:
            self._lose(entry, row)
        root.rules.forget_folder(path)  # it may have had ignore files alone
        rows, removed = len(changes.rows), len(changes.removed)
        if row is not None and (root.id, path) in self.unreadable:
            row = row._replace(settled=False)  # its state may be known: it is the bytes that could not be read
        work = examine(PresentFile(root, path, stat, row), entry, self._pool.policy.max_file_size, changes, time.time())
        if entry.progress is not None:
            entry.progress.scanned += 1
            entry.progress.skipped += len(changes.rows) - rows
            entry.progress.removed += len(changes.removed) - removed
            entry.progress.unchanged += work is None and (rows, removed) == (len(changes.rows), len(changes.removed))
        if work is None:
            self.read_errors.seen(entry, (root.id, path), self.unreadable.failures)
        else:
            entry.works += 1
            self.readings.submit([work], bulk=False)
        # After an event also those of a file that a walk has read meanwhile; but twins do not mark each other for ever.
        of_twins = entry.from_event or (work is not None and not entry.is_twin)
        if of_twins and (stat.links > 1 or (row is not None and row.state.ino == stat.ino)):
            self._mark_twins(root, path, stat, entry)
        if entry.works == 0:
            self.finished.append(entry)

    def _lose(self, entry: Entry, row: FileRow) -> None:
        """Another file has the name now: the former one may have been written by it just before, and is from now on."""
        self.former_names.lost(entry.key, row.state.ino)
        if entry.from_event or not entry.is_twin:  # twins do not mark each other for ever
            self._looks.mark_former(entry, (row.state.ino,), self.changes)

    def _mark_twins(
        self,
        root: Root,
        path: bytes,
        seen: Stat | FileState,
        entry: Entry,
        *,
        rows: bool = True,
        gone: Collection[bytes] = (),
    ) -> None:
        """Examine the hard links of a file that was written in place: the kernel reports only the name in use.

        ``seen``: the file as it is; of one that is gone, as the index has it. ``rows``: whether others may have one.
        ``gone``: paths of the root that were just seen to be gone.
        """
        ino, dev = seen.ino, seen.dev if isinstance(seen, Stat) else None
        of = (root.id, ino, dev, rows, seen.state if isinstance(seen, Stat) else None)
        if self._looks.repeats(of, entry):
            return
        others = self.readings.other_names((root.id, path), seen, self.changes)
        keys = {*self._watching.ignore_files_of(ino, dev), *others}  # which have no row
        keys.update((twin.root_id, twin.path) for twin in (self._store.by_inode(ino) if rows else ()))
        self._looks.mark(of, entry, [key for key in keys if key[0] != root.id or key[1] not in gone])

    def _start_walk(self, root: Root, path: bytes, entry: Entry) -> None:
        tools = WalkTools(self._store, self._watching.watch, self._pool.policy, self.unreadable)
        self._walks.append(TreeWalk(tools, root, path, entry))
        entry.works += 1  # the walk itself
        if not entry.key[1]:
            root.overflows_at_walk = root.overflows

    def walk_on(self) -> bool:
        """Walk for a slice, where a client waits first: a storm makes thousands of walks. False: none can go on."""
        ends, ran = time.monotonic() + WALK_S, False
        for walk in self._next_walks():
            if not self._walk_on(walk, ends):
                break
            ran = True
            if time.monotonic() >= ends or self._pool.outstanding > OUTSTANDING:
                break
        return ran

    def _walk_on(self, walk: TreeWalk, ends: float) -> bool:
        if any(self.changes.removals()) and self._walked != (walk, self.changes.removals()):
            self.needs_commit = True  # this walk may find a path again that was decided to be removed
            return False
        started = time.monotonic()
        files, trees = len(self.changes.removed), len(self.changes.removed_trees)
        self.readings.doubt(walk)
        ended = walk.step(lambda: time.monotonic() > ends, self.changes)
        gone = walk.absent or len(self.changes.removed) > files or len(self.changes.removed_trees) > trees
        if gone and not self._presence.is_same(walk.root):
            del self.changes.removed[files:], self.changes.removed_trees[trees:], walk.absent[:]
            self._presence.check(walk.root)
        dropped = frozenset(path for _, path in self.changes.removed_trees[trees:])
        self._cancel_below(walk.root.id, dropped.union(walk.closed))
        walk.took_s += time.monotonic() - started
        self._backlog.moved(walk.entry)
        works, twins, absent, hidden = walk.take()
        for path in hidden:
            self._backlog.mark_for((walk.root.id, path), walk.entry, tree=True)
        for key in (*twins, *self.readings.other_names_of(works)):
            self._backlog.mark_twin(key, walk.entry)
        self.changes.removed += [key for key in absent if not self._backlog.defer(walk.entry, key)]
        walk.entry.works += len(works)
        if walk.entry.progress is not None:
            walk.entry.progress.expected += len(works)
            walk.entry.progress.expected_bytes += sum(work.size for work in works)
        self.readings.submit(works, bulk=len(works) > 4 or not ended)
        self._walked = (walk, self.changes.removals())
        if ended:
            self._end_walk(walk)
        return True

    def _next_walks(self) -> list[TreeWalk]:
        """Return the walks to go on with, in order: those that a client waits for if there are any."""
        outstanding = self._pool.outstanding
        if outstanding > OUTSTANDING and self._pool.is_paused:
            # Files that wait for mains power must not keep a walk waiting that someone asked for.
            return [walk for walk in self._walks if walk.is_wanted] if outstanding <= 2 * OUTSTANDING else []
        if outstanding > OUTSTANDING:
            return []
        return [walk for walk in self._walks if walk.entry.is_awaited] or list(self._walks)

    def _end_walk(self, walk: TreeWalk) -> None:
        self._walks.remove(walk)
        self.read_errors.walked(walk, self.changes)
        if walk.emptied:
            self._presence.emptied(walk.root)
        elif not walk.path:
            walk.root.planned = walk.policy.chunking
            walk.root.walk_s = walk.took_s
        try:
            self._stop_following(walk.root, walk.left_out)
            for folder in self._watching.watch_outside(walk.root):
                self._start_walk(walk.root, folder, walk.entry)  # the rules that it used had changed by then
        except tree.ReadFailed as fault:
            self.read_errors.failed(walk.root, b"", fault.errno, walk.entry, self.changes)
        if all(other.entry is not walk.entry for other in self._walks):
            self.ended_walks.add(walk.entry)
        self.release(walk.entry)

    def _stop_following(self, root: Root, folders: list[bytes]) -> None:
        """Let go of the watches of folders that are not indexed, as far as that is still true."""
        followed = self._watching.followed_of(root, folders)
        gone = [path for path in followed if not is_indexed_folder(root, path)]
        if gone:
            self._watching.let_go(root, gone)

    def depart(self) -> None:
        """Remove missing paths, but not before the walks that may find them under a new name. It ends the turn."""
        self._depart()
        self._looks.end_turn()

    def _depart(self) -> None:
        if any(walk.path and not walk.entry.background for walk in self._walks):
            return
        departed, self._departed = self._departed, {}
        for root, entries in departed.items():
            gone = {entry.key[1]: entry for entry in entries if is_gone(root, entry.key[1])}
            if not self._presence.is_same(root):  # the root itself is gone, or could not be examined for a moment
                self._presence.check(root)
                gone = {}
            for entry in entries:
                if entry.key[1] not in gone:  # it came back, and a walk may have found it
                    if root.present:
                        self._backlog.mark(entry.key, Mark(tree=True, force=entry.force, background=entry.background))
                    self.finished.append(entry)
            self._remove(root, gone)

    def _remove(self, root: Root, gone: dict[bytes, Entry]) -> None:
        rows, folders, shared = self._store.known_paths(root.id, gone)
        for path, entry in gone.items():
            row = rows.get(path)
            if entry.progress is not None:
                states = [self._store.states(root.id, folder) for folder in self._store.folders_below(root.id, path)]
                entry.progress.removed += sum(map(len, states)) + (row is not None)
            if row is not None:  # it may have been written by this name just before
                self._mark_twins(root, path, row.state, entry, rows=row.state.ino in shared, gone=gone)
                if row.state.ino in shared or len(gone) <= FEW_GONE:
                    self.former_names.lost((root.id, path), row.state.ino)
            elif (ino := unnamed_inode(path)) is not None:
                self._mark_twins(root, path, FileState(0, 0, 0, ino), entry)
            self.changes.removed.append((root.id, path))
            if path in folders:
                self.changes.removed_trees.append((root.id, path))
            self._watching.unwatch(root, path)
            if entry.works == 0:
                self.finished.append(entry)
        self._cancel(root.id, partial(is_at_or_below, folders=gone))
        root.rules.invalidate_all(gone)

    def _drop_tree(self, root: Root, path: bytes) -> None:
        if self._store.folders_below(root.id, path):
            self.changes.removed_trees.append((root.id, path))
        self._watching.unwatch(root, path)
        self._cancel_below(root.id, frozenset((path,)))

    def _cancel_below(self, root_id: int, folders: frozenset[bytes]) -> None:
        if folders:
            self._cancel(root_id, lambda other: is_at_or_below(parent(other), folders))

    def _cancel(self, root_id: int, is_gone: Callable[[bytes], bool]) -> None:
        """Drop readings and decisions about paths that are gone: no event would report them again.

        It looks at all of them: call it once for many paths.
        """
        self.changes.drop_rows(lambda row: row.root_id == root_id and is_gone(row.path))
        for work in self.readings.cancel(root_id, is_gone):
            if work.state is not None:
                self.former_names.lost(work.key, work.state.ino)

    def leave(self, root_id: int) -> None:
        """End the walks of a root that is no longer watched: they would go on to place watches for it."""
        for walk in [walk for walk in self._walks if walk.root.id == root_id]:
            self._walks.remove(walk)
            self.release(walk.entry)

    def take_changes(self) -> Changes:
        """Return the changes that were committed, and begin new ones."""
        committed, self.changes = self.changes, Changes()
        self.ended_walks.committed()
        self.needs_commit, self._walked = False, None  # as many removals again would be those of others
        return committed

    def abandon(self) -> None:
        """Forget all work in progress; ignore the outcomes of files that are still being read."""
        self.readings.abandon()
        self.ended_walks.abandon()
        self._walks.clear()
        self._departed.clear()
        self._walked = None
        self.read_errors.abandon()
        self.finished = []
        self.changes = Changes()

    def release(self, entry: Entry) -> None:
        """Count down the entry's works: one of them, or its walk, has ended."""
        self._backlog.moved(entry)
        entry.works -= 1
        if entry.works == 0:
            self.ended_walks.discard(entry)
            self.finished.append(entry)
