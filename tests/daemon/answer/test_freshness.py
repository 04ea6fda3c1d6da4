"""Waiting for freshness: what a search waits for, what it does not wait for, and the reason that it gives."""

from __future__ import annotations

import asyncio
import errno
import time

import pytest

from helpers.fakes import FakePool, FakeWatcher, FakeWatching, FakeWorker, online_root
from livedex_daemon.answer.freshness import Freshness, FreshState, OtherNames, Twins
from livedex_daemon.watch.backlog import Backlog, Entry, Key, Mark, Scope
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_indexing.store.index_store import IndexUnwritable

LONG_S = 30.0  # a deadline that no test reaches


class World:
    def __init__(self) -> None:
        self.roots = Roots([online_root()])
        self.backlog = Backlog(time.monotonic, lambda: None)
        self.worker, self.pool, self.watcher = FakeWorker(), FakePool(), FakeWatcher()
        self.store_health = StoreHealth()

    def freshness(self) -> Freshness:
        return Freshness(
            FakeWatching(self.watcher).real,
            self.backlog,
            self.roots,
            self.worker.real,
            self.pool.real,
            self.store_health,
        )

    def ask(
        self, scope: Scope = None, within_s: float = LONG_S, *, everything: bool = False, twins: Twins | None = None
    ) -> FreshState:
        async def ensure() -> FreshState:
            freshness = self.freshness()
            freshness.begun.set()
            return await freshness.ensure(scope, time.monotonic() + within_s, everything=everything, twins=twins)

        return asyncio.run(asyncio.wait_for(ensure(), LONG_S / 2))


@pytest.fixture
def world() -> World:
    return World()


HOT: Key = (1, b"d/hot.log")


def test_nothing_marked_is_fresh(world: World) -> None:
    assert world.ask() == FreshState(True, 0, None)


def test_it_waits_for_the_barrier_only_where_events_may_be_under_way(world: World) -> None:
    world.ask()
    assert world.watcher.barriers == 1
    world.watcher.up_to_date = True
    assert world.ask() == FreshState(True, 0, None)
    assert world.watcher.barriers == 1


def test_without_any_time_nothing_is_fresh(world: World) -> None:
    world.watcher.up_to_date = True
    assert world.ask(within_s=0.0) == FreshState(False, 0, "deadline")


def test_a_loss_is_the_reason_as_soon_as_status_says_so(world: World) -> None:
    """The watcher counts a loss first, on its own thread, and changes the root's state after that."""
    (root,) = world.roots
    root.overflows += 1
    assert root.reported_state == "recovering"
    assert world.ask(within_s=0.0) == FreshState(False, 0, "recovering")


def test_an_answer_that_could_wait_for_nothing_says_why_too(world: World) -> None:
    """On a busy machine the time of a search may be over before it is even begun."""
    freshness = world.freshness()
    assert freshness.late() == FreshState(False, 0, "recovering")
    freshness.begun.set()
    assert freshness.late() == FreshState(False, 0, "deadline")
    (root,) = world.roots
    root.overflows += 1
    assert freshness.late() == FreshState(False, 0, "recovering")


def test_what_is_marked_is_waited_for_though_every_event_was_passed_on(world: World) -> None:
    world.watcher.up_to_date = True
    world.backlog.mark(HOT)
    assert world.ask(within_s=0.3).reason == "deadline"


def test_a_file_that_will_not_hold_still_is_not_waited_for_to_the_deadline(world: World) -> None:
    world.backlog.mark(HOT)
    world.worker.files.unstable.add(HOT)
    assert world.ask() == FreshState(False, 1, "unsettled")
    assert world.ask([(1, b"d")]).reason == "unsettled"
    assert world.ask([(1, b"elsewhere")]).fresh


def test_a_walk_that_waits_only_for_such_files_is_not_waited_for_either(world: World) -> None:
    world.backlog.mark((1, b"d"), Mark(tree=True, now=True))
    (entry,) = world.backlog.take(10, lambda key: False)
    entry.works = 1
    world.worker.files.unstable.add(HOT)
    assert world.ask().reason == "unsettled"


def test_what_can_be_settled_is_waited_for(world: World) -> None:
    world.backlog.mark(HOT)
    world.backlog.mark((1, b"calm.txt"))
    world.worker.files.unstable.add(HOT)
    assert world.ask(within_s=0.3).reason == "deadline"
    world.backlog.mark((1, b"d"), Mark(tree=True, now=True))
    for entry in world.backlog.take(10, lambda key: False):
        entry.works = 2  # the walk goes on, or another file of it is read
    assert world.ask([(1, b"d")], within_s=0.3).reason == "deadline"


def test_a_name_elsewhere_is_waited_for_only_while_a_file_in_the_scope_is_read(world: World) -> None:
    """The index has no row of that file yet, and cannot say that both names are one file."""
    elsewhere = (1, b"elsewhere.txt")
    asked: list[list[Key]] = []

    async def twins(keys: list[Key], _inside: list[Entry]) -> OtherNames:
        asked.append(keys)
        world.backlog.done(world.backlog.take(10, lambda key: key != HOT))  # meanwhile the file is committed
        return OtherNames([], [elsewhere])

    world.backlog.mark(elsewhere)
    assert world.ask([HOT], twins=twins).fresh
    world.backlog.mark(HOT, Mark(now=True))
    assert world.ask([HOT], within_s=0.3, twins=twins).reason == "deadline"
    assert asked == [[elsewhere]] * 2


def test_what_could_not_be_read_is_not_fresh(world: World) -> None:
    world.worker.files.unsettled.add(HOT)
    assert world.ask() == FreshState(False, 1, "unsettled")
    assert world.ask([(1, b"elsewhere")]).fresh


def test_a_path_that_waits_counts_once(world: World) -> None:
    world.worker.files.unsettled.add(HOT)
    world.worker.unreadable.failed((1, b"d/broken.txt"), errno.EIO)
    world.backlog.mark(HOT, Mark(now=True))  # for its next try
    assert world.ask(within_s=0.0).pending == 2
    world.backlog.take(10, lambda key: False)
    world.backlog.mark(HOT)  # and it changes during that try
    assert [world.ask(scope, within_s=0.0).pending for scope in (None, [HOT], [(1, b"d")])] == [2, 1, 2]


def test_a_rebuild_and_a_store_that_is_down_are_not_waited_for(world: World) -> None:
    world.backlog.mark(HOT)
    world.store_health.rebuilding = True
    assert world.ask().reason == "rebuilding"
    world.store_health.failed(IndexUnwritable("the disk is full"))
    assert world.ask().reason == "store"
