"""Reports that come while the source of events is being changed for another, or for none."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from livedex_daemon.backlog import Backlog
from livedex_daemon.locations import Locations
from livedex_daemon.roots import RootTable
from livedex_daemon.watching import Watching


class Vanishing(Watching):
    """One whose source is gone at the second look, as when it is stopped between the two."""

    looks = 0

    @property
    def watcher(self) -> Any:
        self.looks += 1
        return self._source if self.looks < 2 else None

    @watcher.setter
    def watcher(self, source: Any) -> None:
        self._source = source


class Source:
    def __init__(self) -> None:
        self.watched: list[bytes] = []

    def watch_folder(self, _root_id: int, path: bytes, _absolute: bytes) -> bool:
        self.watched.append(path)
        return True

    def unwatch(self, _root_id: int, path: bytes) -> None:
        self.watched.append(path)

    def watch_outside(self, folder: bytes) -> bool:
        self.watched.append(folder)
        return True


@pytest.fixture
def heard() -> list[str]:
    return []


def watching(kind: type[Watching], folder: Path, heard: list[str]) -> Watching:
    config, other = str(folder / "config.toml"), str(folder / "other")
    backlog = Backlog(lambda: 0.0, lambda: None)
    locations = Locations(config, other, other, other, other)
    return kind(backlog, locations, lambda: RootTable([]), lambda: heard.append("config"))


def test_the_configuration_is_read_though_nothing_is_watched_any_more(tmp_path: Path, heard: list[str]) -> None:
    watching(Watching, tmp_path, heard).outside_changed(os.fsencode(tmp_path / "config.toml"))
    assert heard == ["config"]


def test_and_though_the_source_is_stopped_meanwhile(tmp_path: Path, heard: list[str]) -> None:
    changing = watching(Vanishing, tmp_path, heard)
    source = Source()
    changing.watcher = cast("Any", source)
    changing.outside_changed(os.fsencode(tmp_path / "config.toml"))
    assert heard == ["config"]
    assert source.watched == [os.fsencode(tmp_path)]


def test_a_folder_is_watched_by_the_source_that_was_there(tmp_path: Path, heard: list[str]) -> None:
    root: Any = SimpleNamespace(id=1, absolute=lambda path: path, watch_again=lambda _path: None)
    for act in (lambda w: w.watch(root, b"d"), lambda w: w.unwatch(1, b"d")):
        changing = watching(Vanishing, tmp_path, heard)
        source = Source()
        changing.watcher = cast("Any", source)
        act(changing)
        assert source.watched == [b"d"]
