"""A file of vectors that is damaged, removed or replaced under the thread: made or opened again, and searched again."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

from helpers.embedding_world import World
from helpers.support import wait_until
from livedex_indexing.vectors import vector_database


def path_of(world: World) -> Path:
    (path,) = (world.indexed.folder / "vectors").glob("*.vectors.db")
    return path


def test_one_that_was_removed_is_made_again(world: World) -> None:
    path = path_of(world)
    vector_database.remove(str(path))
    world.vectors.changed()
    wait_until(path.exists, what="a new file")
    wait_until(lambda: world.chunks_found() == 1, what="its vectors")
    assert world.former.batches == 2


def test_one_that_a_search_finds_damaged_is_made_again_without_another_search(world: World) -> None:
    found = world.vectors.vectors("words", 60.0)
    assert found is not None
    found.of_chunks.damaged = True
    found.of_chunks.on_fault()
    wait_until(lambda: world.former.batches == 2, what="the vectors made again")


def test_one_that_another_took_the_place_of_is_opened_again(world: World) -> None:
    path, found = path_of(world), world.vectors.vectors("words", 60.0)
    with closing(vector_database.open_writer(str(path), "former/2", 2)) as db:
        db.pragma("wal_checkpoint(TRUNCATE)")
    kept = path.with_name("kept")
    shutil.copy(path, kept)
    kept.rename(path)
    world.vectors.changed()
    assert found is not None
    wait_until(lambda: found.of_chunks.closed, what="the end of the former file")
    wait_until(lambda: world.chunks_found() == 1 and world.vectors.pending == 0, what="its vectors")
    assert world.former.batches == 1, "nothing was embedded again"


def test_one_that_cannot_be_made_is_named(world: World) -> None:
    path = path_of(world)
    vector_database.remove(str(path))
    path.mkdir()
    world.vectors.changed()
    wait_until(lambda: world.vectors.source is None and world.vectors.fault, what="the fault")
    assert str(path.parent) in str(world.vectors.fault)
