"""Reads take turns: no client waits for the long reads of another, and a client in arrears gets no extra turns."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from helpers.support import wait_until
from livedex_daemon.answer import reader_threads
from livedex_daemon.answer.reader_threads import LONG_PLACES, PER_CLIENT, PLACES, ReaderThreads
from livedex_ipc.errors import Unavailable

WAIT_S = 10.0
NEVER_S = 1000.0


class Client:
    def __init__(self) -> None:
        self.behind = False


class World:
    """``begin`` starts a read that lasts until ``release``."""

    def __init__(self, *, long_s: float) -> None:
        self.threads = ReaderThreads(long_s=long_s)
        self.release = threading.Event()
        self.began: list[str] = []

    def begin(self, client: Client, name: str, *, lasts: bool = True, due_s: float = NEVER_S) -> asyncio.Task[str]:
        def action() -> str:
            self.began.append(name)
            if lasts:
                self.release.wait(WAIT_S)
            return name

        return asyncio.create_task(self.threads.run(client, time.monotonic() + due_s, action))

    async def until(self, condition: Callable[[], bool]) -> None:
        await asyncio.to_thread(wait_until, condition, WAIT_S, what="the reads")


def run(main: Callable[[World], Coroutine[Any, Any, None]], *, long_s: float) -> None:
    async def in_world() -> None:
        world = World(long_s=long_s)
        try:
            await asyncio.wait_for(main(world), WAIT_S)
        finally:
            world.release.set()
            world.threads.close()

    asyncio.run(in_world())


def test_a_read_for_which_no_thread_starts_keeps_no_place() -> None:
    async def main(world: World) -> None:
        world.threads.close()  # without any thread
        for _ in range(PLACES + LONG_PLACES + 1):
            with pytest.raises(Unavailable):
                await world.begin(Client(), "refused", lasts=False)
        busy = [world.begin(Client(), str(number)) for number in range(PLACES)]
        for refused in busy:
            with pytest.raises(Unavailable):
                await refused

    run(main, long_s=NEVER_S)


def test_a_read_whose_end_was_not_heard_of_keeps_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks_memory(*_arguments: object) -> Callable[[], None]:
        raise MemoryError

    async def main(world: World) -> None:
        with monkeypatch.context() as lacking:
            lacking.setattr(reader_threads, "on_loop", lacks_memory)
            unheard = [world.begin(Client(), str(number), lasts=False) for number in range(PLACES)]
            assert await asyncio.gather(*unheard) == [str(number) for number in range(PLACES)]

    run(main, long_s=0.05)


def test_a_client_has_two_threads_and_the_next_one_is_served() -> None:
    async def main(world: World) -> None:
        busy, other = Client(), Client()
        reads = [world.begin(busy, f"busy{number}") for number in range(5)]
        await world.until(lambda: len(world.began) == PER_CLIENT)
        assert await world.begin(other, "other", lasts=False) == "other"
        assert world.began == ["busy0", "busy1", "other"]
        world.release.set()
        assert await asyncio.gather(*reads) == [f"busy{number}" for number in range(5)]

    run(main, long_s=NEVER_S)


def test_reads_that_last_give_up_their_places() -> None:
    """Eight clients run two long reads each; a ninth client is answered at once."""

    async def main(world: World) -> None:
        busy = [Client() for _ in range(LONG_PLACES // PER_CLIENT)]
        reads = [world.begin(client, "long") for client in busy for _ in range(PER_CLIENT)]
        await world.until(lambda: len(world.began) == LONG_PLACES)
        for _ in range(10):
            assert await world.begin(Client(), "quick", lasts=False) == "quick"
        world.release.set()
        await asyncio.gather(*reads)

    run(main, long_s=0.01)


def test_one_place_is_for_reads_that_must_end_soon() -> None:
    async def main(world: World) -> None:
        reads = [world.begin(Client(), "long") for _ in range(PLACES + 1)]
        await world.until(lambda: len(world.began) == PLACES - 1)
        assert await world.begin(Client(), "short", lasts=False, due_s=0.5) == "short"
        assert world.began.count("long") == PLACES - 1
        world.release.set()
        await asyncio.gather(*reads)

    run(main, long_s=NEVER_S)


def test_waiting_clients_take_turns() -> None:
    async def main(world: World) -> None:
        ends = threading.Event()
        first = asyncio.create_task(world.threads.run(Client(), NEVER_S + time.monotonic(), lambda: ends.wait(WAIT_S)))
        busy = [world.begin(Client(), "busy") for _ in range(PLACES - 2)]
        await world.until(lambda: len(world.began) == PLACES - 2)
        clients = [Client(), Client()]
        reads = [world.begin(client, f"{at}", lasts=False) for at, client in enumerate(clients) for _ in range(3)]
        await world.until(lambda: True)
        ends.set()  # from now on there is one place for all of them
        await asyncio.gather(first, *reads)
        assert world.began[PLACES - 2 :] == ["0", "1", "0", "1", "0", "1"]
        world.release.set()
        await asyncio.gather(*busy)

    run(main, long_s=NEVER_S)


def test_a_turn_costs_the_same_however_many_reads_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    class Result(asyncio.Future[Any]):
        def done(self) -> bool:
            nonlocal looks
            looks += 1
            return super().done()

    async def main(world: World) -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "create_future", lambda: Result(loop=loop))
        clients = [Client() for _ in range(10)]
        reads = [world.begin(client, "read", lasts=False) for client in clients for _ in range(30)]
        await asyncio.gather(*reads)
        assert looks < 20 * len(reads)

    run(main, long_s=NEVER_S)


def test_a_client_that_is_behind_gets_no_more_until_it_has_read() -> None:
    async def main(world: World) -> None:
        slow = Client()
        slow.behind = True
        read = world.begin(slow, "slow", lasts=False)
        assert await world.begin(Client(), "other", lasts=False) == "other"
        assert world.began == ["other"]
        slow.behind = False
        assert await read == "slow"

    run(main, long_s=NEVER_S)


def test_a_cancelled_read_that_has_not_begun_never_runs() -> None:
    async def main(world: World) -> None:
        client = Client()
        reads = [world.begin(client, f"read{number}") for number in range(PER_CLIENT + 1)]
        await world.until(lambda: len(world.began) == PER_CLIENT)
        reads[-1].cancel()
        world.release.set()
        await asyncio.gather(*reads[:-1])
        assert await world.begin(client, "next", lasts=False) == "next"
        assert f"read{PER_CLIENT}" not in world.began

    run(main, long_s=NEVER_S)


def test_a_failed_read_raises_what_it_raised_and_frees_its_thread() -> None:
    async def main(world: World) -> None:
        def fail() -> None:
            raise ValueError("unreadable")

        client = Client()
        for _ in range(2 * PER_CLIENT):
            with pytest.raises(ValueError, match="unreadable"):
                await world.threads.run(client, time.monotonic() + 1, fail)
        assert await world.begin(client, "next", lasts=False) == "next"

    run(main, long_s=NEVER_S)


def test_the_daemons_state_waits_for_no_read() -> None:
    async def main(world: World) -> None:
        reads = [world.begin(Client(), "long") for _ in range(PLACES + LONG_PLACES)]
        await world.until(lambda: len(world.began) == PLACES - 1)
        assert await world.threads.run_status(lambda: "state") == "state"
        world.release.set()
        await asyncio.gather(*reads)

    run(main, long_s=NEVER_S)


def test_an_answer_is_freed_without_a_garbage_collection() -> None:
    class Answer:
        pass

    async def main(world: World) -> None:
        answer = await world.threads.run(Client(), time.monotonic() + NEVER_S, Answer)
        kept = weakref.ref(answer)
        del answer
        await world.until(lambda: kept() is None)

    gc.disable()
    try:
        run(main, long_s=NEVER_S)
    finally:
        gc.enable()
