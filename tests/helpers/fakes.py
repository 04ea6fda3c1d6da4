"""Typed stand-ins for parts of the daemon, for tests of one part alone.

Invariant: each has only the members that its tests use, with the names of the real part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast

from livedex_daemon.config.settings import RootConfig
from livedex_daemon.documents.conversions import Conversions
from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Root
from livedex_daemon.watch.unreadable import UnreadablePaths
from livedex_daemon.write.chunk_health import WorkerFault
from livedex_daemon.write.outcomes import Outcome
from livedex_daemon.write.pipeline_faults import PipelineFaults
from livedex_daemon.write.policy import Policy
from livedex_daemon.write.unsettled import UnsettledFiles
from livedex_daemon.write.walk import Work
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import FileRow, KnownState, RootRow

if TYPE_CHECKING:
    from livedex_daemon.index_file.rebuild import IndexFile
    from livedex_daemon.watch.event_source import EventSource
    from livedex_daemon.watch.root_presence import Presence
    from livedex_daemon.write.chunk_pool import Pool
    from livedex_daemon.write.worker import Worker
    from livedex_indexing.store.forgotten_files import ForgottenFiles
    from livedex_indexing.store.index_store import Store


def online_root(path: bytes = b"/r", root_id: int = 1) -> Root:
    """Return a watched root that was indexed before; only the default rules exclude files in it."""
    text = path.decode()
    root = Root(RootRow(root_id, path, 1, 1, None, True, None), RootConfig(text, text, (), 1), RuleTree(path))
    root.state = "online"
    return root


class FakeWatcher:
    """A source of events that has caught up, or else whose barrier is passed at once.

    ``room``: how many folders can be watched; ``watched``: the watched folders, in order.
    """

    def __init__(self, room: int = 9) -> None:
        self.up_to_date = False
        self.lives = True
        self.barriers = 0
        self.watched: list[bytes] = []
        self._room = room

    def start(self) -> None: ...

    def alive(self) -> bool:
        return self.lives

    def caught_up(self) -> bool:
        return self.up_to_date

    def barrier(self, on_passed: Callable[[], None]) -> bool:
        self.barriers += 1
        on_passed()
        return True

    def watch_folder(self, _root_id: int, path: bytes, _absolute: bytes) -> bool:
        if len(self.watched) == self._room:
            return False
        self.watched.append(path)
        return True

    def unwatch(self, _root_id: int, path: bytes) -> None:
        self.watched.append(path)

    def watch_outside(self, folder: bytes) -> bool:
        self.watched.append(folder)
        return True

    def unwatch_outside(self, folder: bytes) -> None:
        self.watched.remove(folder)


class FakeWatching:
    """``unwatched``: the folders whose watches were removed; ``on_unwatch`` is called with each before.

    ``followed``: the folders that have a watch; ``on_end_of_walk`` is called before they are queried. ``on_watch`` is
    called for each folder that is watched.
    """

    is_forbidden = False

    def __init__(self, watcher: object | None = None, on_unwatch: Callable[[Key], None] = lambda _key: None) -> None:
        self.watcher = watcher
        self.unwatched: list[bytes] = []
        self.followed: set[bytes] = set()
        self.on_end_of_walk: Callable[[], None] = lambda: None
        self.on_watch: Callable[[Root, bytes], None] = lambda _root, _path: None
        self._on_unwatch = on_unwatch

    def watch(self, root: Root, path: bytes) -> None:
        self.on_watch(root, path)

    def ignore_files_of(self, _ino: int, _dev: int | None) -> list[Key]:
        return []

    def watch_outside(self, root: Root) -> set[bytes]:
        return set()

    def followed_of(self, _root: Root, folders: Sequence[bytes]) -> list[bytes]:
        self.on_end_of_walk()
        return [path for path in folders if path in self.followed]

    def let_go(self, _root: Root, folders: Sequence[bytes]) -> None:
        self.unwatched += folders

    def unwatch(self, root: Root, path: bytes) -> None:
        self._on_unwatch((root.id, path))
        self.unwatched.append(path)

    @property
    def real(self) -> EventSource:
        return cast("EventSource", self)


class FakePresence:
    """Every root is still the same folder, unless it is not ``same``."""

    def __init__(self) -> None:
        self.unreadable = UnreadablePaths()
        self.same = True

    def check(self, _root: Root) -> None: ...

    def is_same(self, _root: Root) -> bool:
        return self.same

    @property
    def real(self) -> Presence:
        return cast("Presence", self)


class FakePool:
    """``submitted``: the works that were submitted; none of them is ever read."""

    def __init__(self, *, outstanding: int = 0) -> None:
        self.outstanding = outstanding
        self.files_read = self.files_chunked = 0
        self.is_paused = False
        self.worker_fault: WorkerFault | None = None
        self.pipelines = PipelineFaults()
        self.retry_at = 0.0
        self.policy = Policy(ChunkSettings(), 1 << 20, True)
        self.submitted: list[Work] = []

    def submit(self, works: list[Work], *, bulk: bool) -> None:
        self.submitted += works

    def reconsider(self) -> None: ...

    def sizes(self) -> tuple[int, int]:
        return 0, sum(work.size for work in self.submitted)

    def collect(self, _limit: int) -> list[Outcome]:
        return []

    @property
    def real(self) -> Pool:
        return cast("Pool", self)


class FakeWorker:
    """Carries out each order at once."""

    def __init__(self) -> None:
        self.files = UnsettledFiles()
        self.unreadable = UnreadablePaths()
        self.conversions = Conversions()
        self.turn_fault: str | None = None
        self.lives = True

    def alive(self) -> bool:
        return self.lives

    def submit(self, action: Callable[[], Any]) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(action())
        return done

    @property
    def real(self) -> Worker:
        return cast("Worker", self)


class FakeStore:
    """A store without files that accepts every state of a root."""

    def set_root(self, _root_id: int, **_state: object) -> None: ...

    def folders_below(self, _root_id: int, _path: bytes) -> list[bytes]:
        return []

    @property
    def real(self) -> Store:
        return cast("Store", self)


class FakeRows:
    """The rows that a walk reads: ``states`` belong to one folder; everything else is empty."""

    def __init__(self, folder: bytes = b"", states: dict[bytes, KnownState] | None = None) -> None:
        self.generation = 0
        self._folder = folder
        self._states = states

    def file(self, _root_id: int, _path: bytes) -> FileRow | None:
        return None

    def states(self, _root_id: int, path: bytes) -> dict[bytes, KnownState]:
        return dict(self._states or {}) if path == self._folder else {}

    def all_states(self, _root_id: int, _limit: int) -> dict[bytes, dict[bytes, KnownState]] | None:
        return None

    def folders_below(self, _root_id: int, _path: bytes) -> list[bytes]:
        return [] if self._states is None else [self._folder]

    def by_inode(self, _ino: int) -> list[FileRow]:
        return []


class FakeForgottenFiles:
    """No file is forgotten."""

    def has_path(self, _root: bytes, _path: bytes) -> bool:
        return False

    def is_forgotten(self, _root: bytes, _path: bytes, _content_hash: bytes) -> bool:
        return False

    def add(self, _root: bytes, _files: Iterable[tuple[bytes, bytes]]) -> None: ...

    def clear_files(self, _files: Iterable[tuple[bytes, bytes]]) -> int:
        return 0

    @property
    def real(self) -> ForgottenFiles:
        return cast("ForgottenFiles", self)


def unused_index() -> IndexFile:
    """Return an index file for parts that store it and do not use it in the test."""
    from livedex_daemon.index_file.rebuild import IndexFile
    from livedex_daemon.watch.store_health import StoreHealth

    nothing: Any = None
    return IndexFile(nothing, nothing, nothing, StoreHealth())
