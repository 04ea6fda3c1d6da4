"""An answer that was read while its freshness was waited for: it counts only if nothing was marked meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from livedex_daemon.answering import Answering
from livedex_daemon.backlog import Backlog
from livedex_daemon.freshness import FreshState
from livedex_indexing.live import Stale

FRESH = FreshState(True, 0, None)
FILE = (1, b"a.txt")


class World:
    """A daemon of which all but the answering is made up. ``read`` is what the index holds, at each asking."""

    def __init__(self) -> None:
        self.backlog = Backlog(lambda: 0.0, lambda: None)
        self.root = SimpleNamespace(polled=frozenset())
        self.state = FRESH
        self.holds = "old"
        self.read: list[str] = []
        self.while_waiting: Callable[[], Awaitable[object]] = self.until_read
        freshness = SimpleNamespace(ensure=self.ensure, pending=self.backlog.pending)
        worker = SimpleNamespace(roots=[self.root])
        app: Any = SimpleNamespace(backlog=self.backlog, freshness=freshness, worker=worker)
        self.answering = Answering(app)

    async def until_read(self) -> None:
        """The usual: the index is read sooner than the wait ends."""
        while not self.read:
            await asyncio.sleep(0)

    async def ensure(self, _scope: object, _deadline: float) -> FreshState:
        await self.while_waiting()
        return self.state

    async def ask(self) -> tuple[str, Stale]:
        self.read.append(self.holds)
        return self.holds, {}

    def settled(self, *, fresh: bool = True) -> tuple[str, FreshState]:
        params = {"fresh": fresh, "timeout_ms": 1_000}
        return asyncio.run(asyncio.wait_for(self.answering.settled(self.ask, params, None, 0.0), 30))


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.answering.close()


async def at_once() -> None:
    pass


def test_what_was_read_meanwhile_is_the_answer_where_nothing_changed(world: World) -> None:
    assert world.settled() == ("old", FRESH)
    assert world.read == ["old"], "asked once"


def test_it_is_read_again_where_something_was_marked_meanwhile(world: World) -> None:
    async def an_edit() -> None:
        await world.until_read()
        world.backlog.mark(FILE)
        world.holds = "new"

    world.while_waiting = an_edit
    assert world.settled() == ("new", FRESH)
    assert world.read == ["old", "new"]


def test_nothing_is_read_before_what_is_pending_is_stored(world: World) -> None:
    async def a_commit() -> None:
        assert world.read == []
        world.holds = "new"

    world.backlog.mark(FILE)
    world.while_waiting = a_commit
    assert world.settled() == ("new", FRESH)


def test_nor_where_roots_are_polled(world: World) -> None:
    world.root.polled = frozenset({b""})
    world.while_waiting = at_once
    world.settled()
    assert world.read == ["old"]


def test_what_did_not_get_fresh_in_time_is_read_at_the_end(world: World) -> None:
    late = FreshState(False, 1, "deadline")
    world.state = late
    assert world.settled() == ("old", late)
    assert len(world.read) == 2


def test_without_fresh_it_is_asked_once(world: World) -> None:
    answer, state = world.settled(fresh=False)
    assert (answer, state.fresh, world.read) == ("old", False, ["old"])


def test_an_error_of_an_answer_that_does_not_count_is_not_heard_of(world: World) -> None:
    async def ask() -> tuple[str, Stale]:
        world.read.append("")
        if len(world.read) == 1:
            raise ValueError("read before the edit")
        return "new", {}

    async def an_edit() -> None:
        await world.until_read()
        world.backlog.mark(FILE)

    world.while_waiting = an_edit
    heard: list[object] = []

    async def settled() -> str:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: heard.append(context))
        answer, _ = await world.answering.settled(ask, {"fresh": True, "timeout_ms": 1_000}, None, 0.0)
        return answer

    assert asyncio.run(settled()) == "new"
    assert heard == []


def test_an_error_of_one_that_counts_is(world: World) -> None:
    async def ask() -> tuple[str, Stale]:
        world.read.append("")
        raise ValueError("no such query")

    params = {"fresh": True, "timeout_ms": 1_000}
    with pytest.raises(ValueError, match="no such query"):
        asyncio.run(world.answering.settled(ask, params, None, 0.0))


def test_a_search_that_is_cancelled_ends_what_it_asked(world: World) -> None:
    ended = asyncio.Event()

    async def ask() -> tuple[str, Stale]:
        world.read.append("")
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError("never")

    async def cancelled() -> None:
        params = {"fresh": True, "timeout_ms": 1_000}
        world.while_waiting = lambda: asyncio.Event().wait()
        search = asyncio.ensure_future(world.answering.settled(ask, params, None, 0.0))
        await world.until_read()
        search.cancel()
        await asyncio.wait_for(ended.wait(), 30)
        with pytest.raises(asyncio.CancelledError):
            await search

    asyncio.run(cancelled())
