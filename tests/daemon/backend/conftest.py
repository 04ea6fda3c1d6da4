"""Two backends to keep an index in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.backend_world import World
from helpers.indexed_folder import Indexed


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with Indexed(tmp_path) as indexed:
        made = World(indexed)
        yield made
        made.readers.close()
