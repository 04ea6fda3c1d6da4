"""A folder whose vectors are made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.embedding_world import World
from helpers.indexed_folder import Indexed
from helpers.support import wait_until


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with Indexed(tmp_path) as indexed:
        indexed.write("root/a.txt", "some words\n")
        made = World(indexed)
        made.vectors.start()
        made.use("former")
        wait_until(lambda: made.vectors.source is not None, what="the vectors of the first embedder")
        yield made
        made.stop()
