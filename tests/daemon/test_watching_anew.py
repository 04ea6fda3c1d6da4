"""When the word of a source of events begins to count: not before what happened without it is looked for."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from livedex_daemon import watching
from livedex_daemon.backlog import Backlog
from livedex_daemon.locations import Locations, locate
from livedex_daemon.watching import Watching


class Source:
    """A watcher that watches folders until it has no room."""

    def __init__(self, room: int) -> None:
        self.room = room

    def start(self) -> None: ...

    def watch_folder(self, *_: object) -> bool:
        self.room -= 1
        return self.room >= 0

    def watch_outside(self, _folder: bytes) -> bool:
        return True


class PolledRoot:
    """A root of which some folders are polled; it notes what was marked when one no longer is."""

    id = 1

    def __init__(self, refused: set[bytes], backlog: Backlog) -> None:
        self.refused = refused
        self.marked_before: dict[bytes, bool] = {}
        self._backlog = backlog

    @property
    def polled(self) -> frozenset[bytes]:
        return frozenset(self.refused)

    def absolute(self, path: bytes) -> bytes:
        return b"/root/" + path

    def watch_again(self, path: bytes) -> None:
        self.marked_before[path] = self._backlog.pending([(self.id, path)]) > 0
        self.refused.discard(path)


@pytest.fixture
def backlog() -> Backlog:
    return Backlog(time.monotonic, lambda: None)


@pytest.fixture
def locations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Locations:
    monkeypatch.setenv("LIVEDEX_HOME", str(tmp_path))
    return locate()


def test_what_can_be_watched_again_is_marked_before_it_is_no_longer_polled(
    backlog: Backlog, locations: Locations
) -> None:
    root: Any = PolledRoot({b"a", b"b", b"c"}, backlog)
    made = Watching(backlog, locations, lambda: [root], lambda: None)  # type: ignore[arg-type, return-value]
    made.watcher = Source(room=2)  # type: ignore[assignment]
    made.retry(root)
    assert root.marked_before == {b"a": True, b"b": True}
    assert root.refused == {b"c"}
    assert not backlog.pending([(1, b"c")])


def test_all_roots_are_marked_before_another_source_is_there(
    backlog: Backlog, locations: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def roots() -> Any:
        assert made.watcher is None, "nobody believes it yet"
        return [PolledRoot(set(), backlog)]

    made = Watching(backlog, locations, roots, lambda: None)
    monkeypatch.setattr(watching, "_native", lambda *_: Source(room=0))
    made.start("native")
    assert made.watcher is not None
    assert backlog.pending([(1, b"")]) == 1
