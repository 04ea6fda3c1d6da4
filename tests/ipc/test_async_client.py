"""The asyncio client against a real server: many calls at once, errors, cancellation, and a daemon that goes away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from helpers.support import Daemon, Tree, add_root
from helpers.threaded_server import Serving, serving
from livedex_ipc.async_client import AsyncClient, connect_async
from livedex_ipc.errors import InvalidParams, MethodNotFound, NoDaemon, NotFound, ParseError, TimedOut, Unavailable


@pytest.fixture
def server() -> Iterator[Serving]:
    with serving() as made:
        yield made


def with_client(path: object, body: Callable[[AsyncClient], Awaitable[object]]) -> None:
    """Runs ``body`` with a connected client."""

    async def run() -> None:
        async with await connect_async(spawn=False, path=str(path)) as client:
            await asyncio.wait_for(body(client), 60)

    asyncio.run(run())


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0)


def test_calls_run_at_the_same_time(server: Serving) -> None:
    async def body(client: AsyncClient) -> None:
        waits = [asyncio.create_task(client.call("test/wait", {"key": str(number)})) for number in range(3)]
        await until(lambda: server.running == 3)
        answers = await asyncio.gather(*(client.call("test/echo", {"text": str(number)}) for number in range(50)))
        assert [answer["text"] for answer in answers] == [str(number) for number in range(50)]
        assert len((await client.call("test/big", {"bytes": 9_000_000}))["text"]) == 9_000_000
        for wait in waits:
            wait.cancel()

    with_client(server.path, body)


def test_an_error_is_raised_as_its_class(server: Serving) -> None:
    async def body(client: AsyncClient) -> None:
        with pytest.raises(NotFound, match="no such thing"):
            await client.call("test/fail", {"how": "known"})
        with pytest.raises(MethodNotFound):
            await client.call("no/such")
        with pytest.raises(InvalidParams):
            await client.call("test/echo", {"txt": "x"})

    with_client(server.path, body)


def test_a_request_that_the_daemon_cannot_read_ends_and_the_connection_stays(server: Serving) -> None:
    async def body(client: AsyncClient) -> None:
        for number in (float("nan"), 10**30):
            with pytest.raises(ParseError, match=r"number|digits"):
                await client.call("test/echo", {"text": number})
            assert await client.call("test/echo", {"text": "x"}) == {"text": "x"}

    with_client(server.path, body)


def test_a_closed_client_says_so(server: Serving) -> None:
    async def body(client: AsyncClient) -> None:
        await client.close()
        with pytest.raises(Unavailable, match="this connection was closed: connect again"):
            await client.call("server/ping")

    with_client(server.path, body)


def test_progress_comes_before_the_result(server: Serving) -> None:
    async def body(client: AsyncClient) -> None:
        values: list[Any] = []
        await client.call("test/progress", on_progress=values.append)
        assert [value["kind"] for value in values] == ["begin", "report", "end"]

    with_client(server.path, body)


@pytest.mark.parametrize("kind", [KeyError, ValueError, OSError, TimeoutError])
def test_a_report_that_raises_ends_its_own_call_alone(server: Serving, kind: type[Exception]) -> None:
    def report(value: object) -> None:
        raise kind("of the caller's own")

    async def body(client: AsyncClient) -> None:
        other = asyncio.create_task(client.call("test/wait", {"key": "other"}))
        await until(lambda: server.running == 1)
        with pytest.raises(kind, match="of the caller's own"):
            await client.call("test/progress", on_progress=report)
        assert await client.call("test/echo", {"text": "on it goes"}) == {"text": "on it goes"}
        assert not other.done() and not client.is_lost
        other.cancel()

    with_client(server.path, body)


def test_a_cancelled_task_ends_its_request(server: Serving) -> None:
    async def body(client: AsyncClient) -> None:
        task = asyncio.create_task(client.call("test/wait"))
        await until(lambda: server.running == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: server.running == 0)
        with pytest.raises(TimedOut, match=r"test/wait was not answered in 0\.05 s"):
            await client.call("test/wait", timeout_s=0.05)
        await until(lambda: server.running == 0)
        assert await client.call("test/echo", {"text": "x"}) == {"text": "x"}

    with_client(server.path, body)


def test_a_daemon_that_goes_away_ends_every_call(daemon: Daemon) -> None:
    async def body(client: AsyncClient) -> None:
        daemon.pause()
        calls = [asyncio.create_task(client.status()) for _ in range(3)]
        await asyncio.sleep(0)
        daemon.kill()
        for ended in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(ended, Unavailable)
        with pytest.raises(Unavailable):
            await client.status()
        with pytest.raises(Unavailable):
            await client.notification()
        with pytest.raises(Unavailable):
            await client.notification()

    with_client(daemon.home.socket, body)


def test_where_none_runs_it_is_said(server: Serving) -> None:
    with pytest.raises(NoDaemon):
        asyncio.run(connect_async(spawn=False, path=f"{server.path}.none"))


def test_an_error_of_connecting_is_no_lack_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(**_: object) -> None:
        raise RuntimeError("a fault of livedex itself")

    monkeypatch.setattr("livedex_ipc.async_client.connect", connect)
    with pytest.raises(RuntimeError, match="itself"):
        asyncio.run(connect_async())


def test_a_standing_query(daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        add_root(client, tree)

    async def body(client: AsyncClient) -> None:
        subscribed = await client.search_subscribe(query="zither")
        assert subscribed["hits"] == []
        tree.write("a.txt", "zither\n")
        method, params = await client.notification(timeout_s=30)
        assert method == "search/changed"
        assert [hit["relative_path"] for hit in params["added"]] == ["a.txt"]
        await client.search_unsubscribe(subscription=subscribed["subscription"])
        with pytest.raises(TimedOut):
            await client.notification(timeout_s=0.05)

    with_client(daemon.home.socket, body)
