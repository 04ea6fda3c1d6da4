"""A folder with its own inotify watcher."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.watched_folder import Sink

if TYPE_CHECKING:
    from livedex_daemon.watch.inotify import InotifyWatcher


@pytest.fixture
def sink() -> Sink:
    return Sink()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def watcher(sink: Sink, tmp_path: Path, root: Path) -> Iterator[InotifyWatcher]:
    from livedex_daemon.watch.inotify import InotifyWatcher  # Linux only

    watcher = InotifyWatcher(sink, str(tmp_path / "cookies"))
    watcher.start()
    assert watcher.watch_folder(1, b"", os.fsencode(root))
    yield watcher
    watcher.stop()
