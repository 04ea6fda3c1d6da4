"""A folder that is a root, the marks of forgotten files, and pools that read its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.inspection_desk import Desk
from helpers.pool_parts import POLICY, real_root
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.file_reading import FileReader
from livedex_daemon.write.search_priority import SearchPriority
from livedex_indexing.store.forgotten_files import ForgottenFiles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


@pytest.fixture
def root(folder: Path) -> Root:
    return real_root(folder)


@pytest.fixture
def marks(tmp_path: Path) -> Iterator[ForgottenFiles]:
    made = ForgottenFiles(str(tmp_path / "forgotten.db"))
    yield made
    made.close()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """Its walks end in one slice, also while the machine is busy."""
    monkeypatch.setattr("livedex_daemon.write.inspector.WALK_S", 60.0)
    made = Desk(tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def make(marks: ForgottenFiles) -> Iterator[Callable[..., Pool]]:
    made: list[Pool] = []

    def make(known: Callable[[bytes, bytes], bool] = lambda *_: False, **options: object) -> Pool:
        reader = FileReader(known, marks)
        made.append(Pool(POLICY, reader, lambda: None, SearchPriority(), **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for pool in made:
        pool.stop()
