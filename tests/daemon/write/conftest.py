"""A folder that is a root, and the marks of forgotten files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.inspection_desk import Desk
from helpers.pool_parts import real_root
from livedex_daemon.watch.root_table import Root
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
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.store.close()
