"""The switch from one backend to the next, while several threads ask for the one that ranks."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.backend_world import World
from helpers.support import wait_until
from livedex_daemon.backend.backend_switch import BUILT_IN, BackendSwitch
from livedex_daemon.backend.mirror import Mirror

PATIENCE_S = 0.5


def test_a_backend_that_is_begun_as_another_takes_its_place_is_not_lost(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search finds the first one complete while the second one is begun: that may wait for it, or be first."""
    looks, begun = threading.Event(), threading.Event()
    complete: set[Mirror] = set()

    def is_ready(mirror: Mirror) -> bool:
        """The search is the first that finds a mirror ready."""
        if threading.current_thread() is search:
            looks.set()
            begun.wait(PATIENCE_S)
        return mirror in complete and looks.is_set()

    def note_ready(mirror: Mirror, ready: bool) -> None:
        if ready:
            complete.add(mirror)

    switch = BackendSwitch(world.host, world.origin, str(world.indexed.folder / "mark"))
    search = threading.Thread(target=lambda: switch.name)

    def begin() -> None:
        switch.begin("second")
        begun.set()

    monkeypatch.setattr(Mirror, "ready", property(is_ready, note_ready), raising=False)
    first = switch.begin("first")
    wait_until(lambda: first in complete, what="a complete backend")
    search.start()
    wait_until(looks.is_set, what="the look of the search")
    beginning = threading.Thread(target=begin)
    beginning.start()
    for thread in (search, beginning):
        thread.join()
    wait_until(lambda: switch.name == "second", what="the second backend in use")
    switch.stop()


@pytest.mark.parametrize("configured", [BUILT_IN, "first"])
def test_a_backend_that_is_given_up_as_it_takes_its_place_leaves_the_former_one(world: World, configured: str) -> None:
    """A search may find it complete, and use it, before who waits for it is cancelled."""
    switch = BackendSwitch(world.host, world.origin, str(world.indexed.folder / "mark"))
    switch.use(configured)
    wait_until(lambda: switch.name == configured, what="the configured backend")
    second = switch.begin("second")
    wait_until(lambda: switch.name == "second", what="the second backend in use")
    switch.give_up(second)
    wait_until(lambda: switch.name == configured, what="the configured backend again")
    assert (switch.ranker(time.monotonic()) is None) == (configured == BUILT_IN)
    assert switch.filling is None
    switch.stop()


@pytest.mark.parametrize("put", [os.mkfifo, Path.mkdir, lambda mark: mark.write_bytes(b"\xff\n\xff")])
def test_a_backend_is_filled_whatever_lies_in_the_place_of_its_mark(
    world: World, put: Callable[[Path], object]
) -> None:
    mark = world.indexed.folder / "mark"
    put(mark)
    switch = BackendSwitch(world.host, world.origin, str(mark))
    switch.use("first")
    wait_until(lambda: switch.name == "first", what="the configured backend")
    switch.stop()
