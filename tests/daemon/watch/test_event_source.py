"""Reports that arrive while the event source is replaced or removed, and when a new source begins to count: not before
changes that happened without it were looked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from helpers.fakes import FakeWatcher, online_root
from livedex_daemon.process.locations import Locations
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.watch.root_table import Root, Roots, RootTable


class Vanishing(EventSource):
    """An event source that is gone at the second access, as when it is stopped between the two."""

    looks = 0

    @property
    def watcher(self) -> Any:
        self.looks += 1
        return self._source if self.looks < 2 else None

    @watcher.setter
    def watcher(self, source: Any) -> None:
        self._source = source


class PolledRoot:
    """A root with some polled folders; it notes what was marked when a folder is no longer polled."""

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

    def is_too_long(self, path: bytes) -> bool:
        return path == b"0 too long"

    def watch_again(self, path: bytes) -> None:
        self.marked_before[path] = self._backlog.pending([(self.id, path)]) > 0
        self.refused.discard(path)


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def backlog() -> Backlog:
    return Backlog(lambda: 0.0, lambda: None)


def watching(
    kind: type[EventSource],
    folder: Path,
    heard: list[str],
    *,
    backlog: Backlog | None = None,
    roots: Roots | None = None,
) -> EventSource:
    config, other = str(folder / "config.toml"), str(folder / "other")
    locations = Locations(config, other, other, other, other)
    return kind(
        backlog or Backlog(lambda: 0.0, lambda: None), locations, roots or Roots(), lambda: heard.append("config")
    )


def test_the_configuration_is_read_though_nothing_is_watched_any_more(tmp_path: Path, heard: list[str]) -> None:
    watching(EventSource, tmp_path, heard).outside_changed(os.fsencode(tmp_path / "config.toml"))
    assert heard == ["config"]


def test_and_though_the_source_is_stopped_meanwhile(tmp_path: Path, heard: list[str]) -> None:
    changing = watching(Vanishing, tmp_path, heard)
    source = FakeWatcher()
    changing.watcher = cast("Any", source)
    changing.outside_changed(os.fsencode(tmp_path / "config.toml"))
    assert heard == ["config"]
    assert set(source.watched) == {os.fsencode(folder) for folder in (tmp_path, *tmp_path.parents)}


def test_a_folder_is_watched_by_the_source_that_was_there(tmp_path: Path, heard: list[str]) -> None:
    root = online_root()
    for act in (lambda w: w.watch(root, b"d"), lambda w: w.unwatch(root, b"d")):
        changing = watching(Vanishing, tmp_path, heard)
        source = FakeWatcher()
        changing.watcher = cast("Any", source)
        act(changing)
        assert source.watched == [b"d"]


def test_what_lies_on_a_remote_file_system_gets_no_watch(tmp_path: Path, heard: list[str]) -> None:
    """It is polled; where polling hangs, placing a watch hangs too."""
    root, source = online_root(), FakeWatcher()
    root.poll(b"share", remote=True)
    changing = watching(EventSource, tmp_path, heard)
    changing.watcher = cast("Any", source)
    for path in (b"share", b"share/deep", b"shared"):
        changing.watch(root, path)
    assert source.watched == [b"shared"]


def test_what_can_be_watched_again_is_marked_before_it_is_no_longer_polled(
    tmp_path: Path, heard: list[str], backlog: Backlog
) -> None:
    root: Any = PolledRoot({b"0 too long", b"a", b"b", b"c"}, backlog)
    retrying = watching(EventSource, tmp_path, heard, backlog=backlog)
    retrying.watcher = cast("Any", FakeWatcher(room=2))
    retrying.retry(root)
    assert root.marked_before == {b"a": True, b"b": True}
    assert root.refused == {b"0 too long", b"c"}
    assert not backlog.pending([(1, b"0 too long"), (1, b"c")])


def test_all_roots_are_marked_before_another_source_is_there(
    tmp_path: Path, heard: list[str], backlog: Backlog, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Asked(Roots):
        def __iter__(self) -> Iterator[Root]:
            assert starting.watcher is None, "nobody believes it yet"
            return super().__iter__()

    roots = Asked()
    roots.replace(RootTable([online_root()]))
    starting = watching(EventSource, tmp_path, heard, backlog=backlog, roots=roots)
    monkeypatch.setattr("livedex_daemon.watch.event_source.make_watcher", lambda *_: FakeWatcher())
    starting.start("native")
    assert starting.watcher is not None
    assert backlog.pending([(1, b"")]) == 1
