"""A backend that is stopped and made again: it gets all that it was not given, and the former one says nothing more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from helpers.backend_world import World
from helpers.support import wait_until
from livedex_daemon.backend.mirror import Mirror, Stored


class Plans:
    """The plan that a backend remembers over a restart."""

    def __init__(self) -> None:
        self.kept: str | None = None

    def save(self, plan: str | None) -> None:
        self.kept = plan


@contextmanager
def running(world: World, plans: Plans) -> Iterator[Mirror]:
    """Keep the first backend equal to the index until the end of the block; then wait for its thread."""
    mirror = Mirror("first", world.host, world.origin, Stored(lambda: plans.kept, plans.save), lambda: False)
    mirror.start()
    try:
        yield mirror
    finally:
        mirror.stop()
        world.first.takes.set()
        wait_until(lambda: not mirror.thread.is_alive(), what="the end of the thread")


def given_at_a_start(world: World, plans: Plans) -> int:
    """How many documents the backend gets when it is made again."""
    before = world.first.got
    with running(world, plans) as mirror:
        wait_until(lambda: mirror.ready, what="a complete backend")
    return world.first.got - before


def test_one_that_has_all_gets_nothing(world: World) -> None:
    plans = Plans()
    assert given_at_a_start(world, plans) == 1
    assert given_at_a_start(world, plans) == 0


@pytest.mark.parametrize("all_at_once", [False, True], ids=["a-commit", "all"])
def test_one_that_is_stopped_with_files_left_gets_them_after_a_start(world: World, all_at_once: bool) -> None:
    plans = Plans()
    changed = world.write("b.txt")
    with running(world, plans) as mirror:
        wait_until(lambda: mirror.ready, what="a complete backend")
        world.plan = "another plan"
        world.first.takes.clear()
        before = world.first.got
        if all_at_once:
            mirror.compare()
        else:
            mirror.changed(*changed)  # the same text, cut anew
        wait_until(lambda: world.first.got > before, what="a document that is not taken yet")
    assert given_at_a_start(world, plans) == 2


def test_one_that_is_given_each_file_as_the_plan_changes_gets_all_once_more(world: World) -> None:
    plans = Plans()
    changed = world.write("b.txt")
    with running(world, plans) as mirror:
        wait_until(lambda: mirror.ready, what="a complete backend")
        world.plan = "another plan"
        mirror.changed(*changed)
        wait_until(lambda: mirror.behind == 0, what="all sent")
        world.plan = "a plan"
        mirror.changed(*changed)
        wait_until(lambda: mirror.behind == 0, what="all sent again")
    assert given_at_a_start(world, plans) == 2
    assert given_at_a_start(world, plans) == 0


def test_one_that_was_stopped_reports_no_fault(world: World) -> None:
    """Its name may be another object's by then, which works."""
    world.first.takes.clear()
    with running(world, Plans()):
        wait_until(lambda: world.first.got, what="a call that takes long")
    assert world.host.faults() == []


def test_one_that_is_stopped_while_it_is_made_is_closed(world: World) -> None:
    made, may_go_on = threading.Event(), threading.Event()

    def make() -> None:
        made.set()
        may_go_on.wait()

    world.on_make = make
    mirror = Mirror("first", world.host, world.origin, Stored(lambda: None, lambda _plan: None), lambda: False)
    mirror.start()
    wait_until(made.is_set, what="the factory's call")
    mirror.stop()
    may_go_on.set()
    wait_until(lambda: not mirror.thread.is_alive(), what="the end of the thread")
    wait_until(world.first.closed.is_set, what="the end of the object")
