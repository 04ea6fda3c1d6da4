"""When an embedder that failed is asked again."""

from __future__ import annotations

import pytest

from helpers.embedding_world import World
from helpers.support import wait_until
from livedex_daemon.embedding import embedding_thread


def test_changes_of_files_do_not_hurry_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_thread, "AGAIN_S", (1000.0,))
    world.new.fault = "no answer"
    world.use("new")
    wait_until(lambda: world.vectors.fault, what="the fault")
    asked = world.new.batches
    for _ in range(5):
        before = world.turns
        world.vectors.changed()
        wait_until(lambda: world.turns > before, what="a turn")  # noqa: B023
    assert world.new.batches == asked
    world.use("former")
    wait_until(lambda: world.vectors.fault is None, what="another embedder at once")


def test_a_gateway_is_left_alone_for_as_long_as_it_wants(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_thread, "AGAIN_S", (0.0,))
    world.new.fault, world.new.again_s = "busy", 1000.0
    world.use("new")
    wait_until(lambda: world.vectors.fault, what="the fault")
    asked, before = world.new.batches, world.turns
    world.vectors.changed()
    wait_until(lambda: world.turns > before, what="a turn")
    assert world.new.batches == asked
