"""The requests of a connection without a socket: what is answered, when, and how often."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from livedex_ipc.errors import Unavailable
from livedex_ipc.limits import Limits
from livedex_ipc.method_types import Method
from livedex_ipc.params import Param
from livedex_ipc.server.calls import Call, Handler, Request
from livedex_ipc.server.requests import Requests

TABLE = {
    "echo": Method("echo", "Answers what it is given.", (Param("text", "string", "any"),)),
    "wait": Method("wait", "Waits to be let go.", (Param("key", "string", "superseded by"),), cancel_on_close=True),
}


class FakeServer:
    """Handlers that the test releases, and the tasks that run them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.closing = False
        self.methods = TABLE
        self.handlers: dict[str, Handler] = {"echo": self._echo, "wait": self._wait}
        self.let_go = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []

    def watch(self, task: asyncio.Task[None], *, waits: bool = False) -> None:
        self.tasks.append(task)

    async def _echo(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        return {"text": params["text"]}

    async def _wait(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        if params["key"] is not None:
            call.supersede(params["key"])
        await self.let_go.wait()
        return {}


class FakeChannel:
    """Keeps what is sent."""

    def __init__(self, limits: Limits) -> None:
        self.closed = asyncio.Event()
        self.behind = False
        self.sent: list[Any] = []
        self.server = FakeServer(limits)
        self.requests = Requests(self.server, self, self._wake)

    def _wake(self) -> None:
        self.requests.start_pending()

    def send(self, message: bytes) -> None:
        self.sent.append(json.loads(message))

    def supersede(self, key: str, request: Request) -> None:
        self.requests.supersede(key, request)

    def take(self, *messages: dict[str, Any], allow_batch: bool = True) -> None:
        """One message, or a batch of several."""
        value = messages[0] if len(messages) == 1 else list(messages)
        self.requests.accept(lambda: value, allow_batch=allow_batch)
        self.requests.start_pending()

    async def settle(self) -> None:
        """Run everything that can run."""
        while self.server.tasks:
            done, _ = await asyncio.wait(self.server.tasks, timeout=10)
            self.server.tasks = [task for task in self.server.tasks if task not in done]

    @property
    def answers(self) -> dict[Any, Any]:
        """Return the result, or the code of the error, by id."""
        return {each["id"]: each["error"]["code"] if "error" in each else each["result"] for each in self.sent}


def run(test: Callable[[FakeChannel], Awaitable[None]], limits: Limits = Limits()) -> None:  # noqa: B008  (immutable)
    async def body() -> None:
        channel = FakeChannel(limits)
        await test(channel)
        channel.server.let_go.set()
        await channel.settle()
        assert not channel.requests.is_busy

    asyncio.run(body())


def request(name: str, id: int | None, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "method": name, "params": params}
    return message if id is None else {**message, "id": id}


def test_a_request_is_answered_once_and_a_notification_never() -> None:
    async def test(channel: FakeChannel) -> None:
        channel.take(request("echo", 1, text="a"))
        channel.take(request("echo", None, text="b"))
        await channel.settle()
        assert channel.sent == [{"jsonrpc": "2.0", "id": 1, "result": {"text": "a"}}]

    run(test)


def test_an_id_is_taken_until_its_request_is_answered() -> None:
    async def test(channel: FakeChannel) -> None:
        channel.take(request("wait", 1))
        channel.take(request("echo", 1, text="a"))
        assert channel.answers == {1: -32600}
        channel.server.let_go.set()
        await channel.settle()
        channel.take(request("echo", 1, text="b"))
        await channel.settle()
        assert [each.get("result") for each in channel.sent] == [None, {}, {"text": "b"}]

    run(test)


def test_no_more_run_than_may_and_none_while_the_client_is_behind() -> None:
    async def test(channel: FakeChannel) -> None:
        for number in range(4):
            channel.take(request("wait", number))
        assert len(channel.server.tasks) == 2
        assert channel.requests.is_full
        channel.behind = True
        channel.server.let_go.set()
        await channel.settle()
        assert sorted(channel.answers) == [0, 1]
        channel.behind = False
        channel.requests.start_pending()
        await channel.settle()
        assert sorted(channel.answers) == [0, 1, 2, 3]

    run(test, Limits(in_flight=2, queued=2))


def test_a_newer_request_with_the_same_key_ends_the_former() -> None:
    async def test(channel: FakeChannel) -> None:
        channel.take(request("wait", 1, key="k"))
        await asyncio.sleep(0)  # one turn of the loop: its handler begins
        channel.take(request("wait", 2, key="k"))
        await asyncio.sleep(0)
        assert channel.answers == {1: -32800}
        channel.server.let_go.set()
        await channel.settle()
        assert channel.answers == {1: -32800, 2: {}}

    run(test)


def test_a_batch_is_answered_as_a_whole_and_refused_where_there_are_none() -> None:
    async def test(channel: FakeChannel) -> None:
        batch = (request("echo", 1, text="a"), request("no/such", 2), request("echo", None, text="c"))
        channel.take(*batch, allow_batch=False)
        assert channel.answers == {None: -32600}
        channel.take(*batch)
        await channel.settle()
        assert sorted(each["id"] for each in channel.sent[1]) == [1, 2]

    run(test)


def test_what_is_unwanted_at_the_end_is_cancelled_and_the_rest_can_be_ended() -> None:
    async def test(channel: FakeChannel) -> None:
        channel.take(request("wait", 1))
        channel.requests.end_unwanted()
        assert channel.answers == {1: -32800}
        channel.behind = True
        channel.take(request("echo", 2, text="a"))
        channel.requests.end_all(Unavailable("stopping"))
        assert channel.answers == {1: -32800, 2: 4}
        channel.behind = False
        channel.requests.start_pending()

    run(test)


def test_a_batch_whose_answers_are_many_bytes_runs_no_further() -> None:
    async def test(channel: FakeChannel) -> None:
        large = "x" * 100_000
        batch = [request("echo", number, text=large) for number in range(10)] + [request("echo", 10, text="small")]
        channel.take(*batch)
        await channel.settle()
        (answers,) = channel.sent
        codes = {answer["id"]: answer.get("error", {}).get("code") for answer in answers}
        assert len(codes) == len(batch) and codes[0] is None
        assert sum(len(json.dumps(answer)) for answer in answers) < 500_000
        assert {code for number, code in codes.items() if number > 4} == {4}
        assert len(channel.server.tasks) <= 5, "the others never ran"

    run(test, Limits(in_flight=2, output_bytes=250_000))


def test_one_request_of_a_connection_starts_in_a_turn() -> None:
    """Else those of a hundred connections, 64 of each, hold up everybody else for seconds."""

    async def test(channel: FakeChannel) -> None:
        turns: list[int] = []
        requests = Requests(channel.server, channel, lambda: turns.append(len(channel.server.tasks)))
        requests.accept(lambda: [request("wait", number) for number in range(5)], allow_batch=True)
        for number in range(5):
            requests.start_pending()
            assert len(channel.server.tasks) == number + 1
        assert turns == [1, 2, 3, 4, 5]

    run(test)


@pytest.mark.parametrize(("error", "code"), [(OverflowError("timestamp too large"), -32603), (MemoryError(), 4)])
def test_a_fault_that_the_log_meets_too_is_answered(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    """As when the clock is set to a time that Python cannot read."""

    def fails(*_: object, **_named: object) -> None:
        raise error

    async def handler(_call: Call, _params: dict[str, Any]) -> dict[str, Any]:
        raise error

    async def test(channel: FakeChannel) -> None:
        channel.server.handlers["echo"] = handler
        channel.take(request("echo", 1, text="a"))
        await channel.settle()
        assert channel.answers == {1: code}

    for name in ("exception", "warning"):
        monkeypatch.setattr(logging.getLogger("livedex_ipc.server.requests"), name, fails)
    run(test)
