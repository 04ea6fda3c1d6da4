"""What a source of file system events offers to the daemon, and what it reports, on every platform.

Invariant: nothing here depends on a platform; this module can be imported where there is no inotify.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, Protocol

Barrier = Literal["exact", "best_effort"]


class Sink(Protocol):
    """Receives the reports, on the watcher's own thread and in the kernel's order. Must be quick and never raise."""

    def path_changed(self, root_id: int, path: bytes, *, tree: bool) -> None: ...

    def root_changed(self, root_id: int) -> None: ...

    def outside_changed(self, path: bytes) -> None: ...

    def events_lost(self) -> None: ...


class Watcher(Protocol):
    """A source of events, such as ``InotifyWatcher``."""

    barrier_kind: Barrier

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def alive(self) -> bool: ...

    def watch_folder(self, root_id: int, path: bytes, absolute: bytes) -> bool: ...

    def watch_outside(self, folder: bytes) -> bool: ...

    def unwatch_outside(self, folder: bytes) -> None: ...

    def unwatch(self, root_id: int, path: bytes) -> None: ...

    def watched_of(self, root_id: int, folders: Collection[bytes]) -> list[bytes]: ...

    def unwatch_all(self, root_id: int, folders: Collection[bytes]) -> None: ...

    def caught_up(self) -> bool: ...

    def barrier(self, on_passed: Callable[[], None]) -> bool: ...
