"""The watched folders while the daemon runs: their state, their rules, and which of them contains a path.

Invariant: a path belongs to the innermost root that contains it, and to no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from livedex_daemon.config.settings import RootConfig
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import RootRow, RootUpdate
from livedex_indexing.relpath import absolute, few_at_or_above, is_at_or_below, is_within

RootState = Literal["online", "indexing", "recovering", "missing", "denied"]
WatchKind = Literal["native", "polling", "mixed", "none"]
PRESENT: frozenset[RootState] = frozenset(("online", "indexing", "recovering"))
MOST_POLLED: Final = 100  # folders of a root
PATH_MAX: Final = 4096  # bytes of a path for a system call of Linux, with the NUL at its end


class Root:
    """One watched folder. Written by the worker's thread only; others read single attributes."""

    def __init__(self, row: RootRow, config: RootConfig, rules: RuleTree) -> None:
        self.id = row.id
        self.path = row.path
        self.config = config
        self.rules = rules
        self.dev = row.dev
        self.ino = row.ino
        self.first_indexed = row.first_indexed
        self.last_reconciled = row.last_reconciled
        self.state: RootState = "missing"
        self.missing_since = row.missing_since
        self.taken_by = ""  # while ``missing``: what is in its place
        self.leads_elsewhere = False  # the links that led here lead to another folder now
        self.nested: frozenset[bytes] = frozenset()  # folders below that are roots of their own
        self.refused: set[bytes] = set()  # folders for which no watch could be placed
        self.remote: set[bytes] = set()  # folders where the kernel does not see every change
        self._choices = 0  # how often one of these two sets has changed
        self._polled: tuple[int, frozenset[bytes]] = (0, frozenset())  # the topmost of them after so many changes
        self.planned: ChunkSettings | None = None  # the settings that every content of this root was chunked with
        self.unsaved: RootUpdate = {}  # the part of its state that is not yet in the index
        self.overflows = 0
        self.overflows_at_walk = 0  # value of ``overflows`` when the last walk of the whole root began
        self.walk_s = 0.0  # length of the last walk of the whole root
        self.walked_at = 0.0  # when it ended, on the monotonic clock

    def absolute(self, path: bytes) -> bytes:
        return absolute(self.path, path)

    def is_too_long(self, path: bytes) -> bool:
        """Return True if the path is longer than a system call takes: no watch can ever be placed there."""
        return len(self.absolute(path)) >= PATH_MAX

    def poll(self, path: bytes, *, remote: bool = False) -> None:
        """From now on, walk ``path`` and everything below it instead of watching it."""
        folders = self.remote if remote else self.refused
        if path in folders:
            return  # each walk of it asks for a watch again
        folders.add(path)
        self._choices += 1

    def is_remote(self, path: bytes) -> bool:
        """Return True if ``path`` lies on a file system where the kernel does not see every change."""
        return any(is_within(path, remote) for remote in self.remote)

    def watch_again(self, path: bytes) -> None:
        """Stop polling ``path``: a watch could be placed after all."""
        if path in self.refused:
            self.refused.discard(path)
            self._choices += 1

    def stop_polling(self, folders: Iterable[bytes]) -> None:
        """Poll nothing at or below these folders: a rule shuts them out, or they are gone."""
        gone = frozenset(folders)
        kept = [{p for p in paths if not is_at_or_below(p, gone)} for paths in (self.refused, self.remote)]
        if kept != [self.refused, self.remote]:
            self.refused, self.remote = kept
            self._choices += 1

    def forget_polled(self) -> None:
        self.refused.clear()
        self.remote.clear()
        self._choices += 1

    @property
    def polled(self) -> frozenset[bytes]:
        """The folders that are polled, with everything below them. From any thread.

        Chosen when it is wanted: a limit of watches refuses a hundred thousand folders one after the other. Few folders
        that contain them are polled instead: as many walks of one folder each would take a minute.
        """
        choices, polled = self._polled
        if choices != self._choices:
            choices = self._choices  # read before the sets: what changes meanwhile is chosen from the next time
            wanted = self.refused | self.remote
            polled = few_at_or_above(wanted, MOST_POLLED)
            self._polled = choices, polled
        return polled

    def was_polled(self, path: bytes) -> bool:
        """Return whether this folder was among ``polled`` when that was last chosen, which costs nothing."""
        return path in self._polled[1]

    @property
    def reported_state(self) -> RootState:
        """``state`` for other threads: ``recovering`` as soon as a loss of events is counted, and before the first look
        at the root, which may take long on a mount that does not answer."""
        if self.is_unseen:
            return "recovering"
        lost = self.overflows_at_walk != self.overflows
        return "recovering" if lost and self.state == "online" else self.state

    @property
    def is_unseen(self) -> bool:
        """Return True until there was an answer to whether the root is there."""
        return self.state == "missing" and self.missing_since is None

    @property
    def present(self) -> bool:
        return self.state in PRESENT

    @property
    def watching(self) -> WatchKind:
        if not self.present:
            return "none"
        if not self.refused and not self.remote:
            return "native"
        return "polling" if b"" in self.refused or b"" in self.remote else "mixed"

    def belongs(self, path: bytes) -> bool:
        """Return False if ``path`` lies inside a nested root."""
        return not any(is_within(path, nested) for nested in self.nested)


class RootTable:
    """All watched folders. Replaced as a whole on a reload, so that readers never see half of a change."""

    def __init__(self, roots: Iterable[Root] = ()) -> None:
        self._by_id = {root.id: root for root in roots}
        for root in self:
            prefix = root.path.rstrip(b"/") + b"/"
            root.nested = frozenset(
                other.path[len(prefix) :] for other in self if other is not root and other.path.startswith(prefix)
            )
        self._innermost_first = sorted(self, key=lambda root: -len(root.path))

    def __iter__(self) -> Iterator[Root]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, root_id: int) -> Root | None:
        return self._by_id.get(root_id)

    def by_path(self, path: bytes) -> Root | None:
        return next((root for root in self if root.path == path), None)

    def locate(self, absolute: bytes) -> tuple[Root, bytes] | None:
        """Return the innermost root that contains ``absolute``, and the path relative to it; None if no root does."""
        for root in self._innermost_first:
            if absolute == root.path:
                return root, b""
            prefix = root.path.rstrip(b"/") + b"/"
            if absolute.startswith(prefix):
                return root, absolute[len(prefix) :]
        return None

    def inside(self, absolute: bytes) -> list[Root]:
        """Return the roots below ``absolute``."""
        prefix = absolute.rstrip(b"/") + b"/"
        return [root for root in self if root.path.startswith(prefix)]


class Roots:
    """The current `RootTable`. The object stays the same across reloads, so it can be shared before any root is known.

    Read it from any thread; take ``table`` once where two lookups must agree.
    """

    def __init__(self, roots: Iterable[Root] = ()) -> None:
        self.table = RootTable(roots)

    def replace(self, table: RootTable) -> None:
        """Switch to ``table`` at once: no reader sees half of the change. For the worker's thread only."""
        self.table = table

    def __iter__(self) -> Iterator[Root]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def get(self, root_id: int) -> Root | None:
        return self.table.get(root_id)

    def by_path(self, path: bytes) -> Root | None:
        return self.table.by_path(path)

    def paths(self) -> dict[int, bytes]:
        """Return the paths by id, absent roots included: the index itself serves nothing from them."""
        return {root.id: root.path for root in self}

    def absolute(self, root_id: int, path: bytes) -> bytes:
        """Return the absolute path of a place; the path relative to its root if that is no longer watched."""
        root = self.get(root_id)
        return root.absolute(path) if root is not None else path

    def locate(self, absolute: bytes) -> tuple[Root, bytes] | None:
        return self.table.locate(absolute)

    def inside(self, absolute: bytes) -> list[Root]:
        return self.table.inside(absolute)
