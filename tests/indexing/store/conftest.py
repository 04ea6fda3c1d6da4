"""The store that the tests of this folder fill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.store_rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path / "index.db")
    yield made
    made.store.close()
