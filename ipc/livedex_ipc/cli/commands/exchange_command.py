"""``livedex exchange …``: calls the methods of the exchange, in the daemon or, if none runs, on the file itself.

Invariant: no daemon is started, and the result is the same either way: without one this process is replaced by the
daemon's own package, which runs the same command.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from livedex_ipc import __version__
from livedex_ipc.cli.context import ANSWER_MS, Context, deadline_s
from livedex_ipc.client import Client, connect
from livedex_ipc.constants import REQUEST_TIMEOUT_MS
from livedex_ipc.errors import InvalidParams, NoDaemon, TimedOut, Unavailable

if TYPE_CHECKING:
    from livedex_ipc.cli.streams import Streams
    from livedex_ipc.exchange_results import (
        CheckResult,
        ExchangeStatsResult,
        InspectResult,
        NotifyResult,
        PublishResult,
        ReadResult,
        RequestResult,
    )

# A request to the daemon has at most 4 MiB; what is larger goes into the file directly.
_MOST_REQUEST_BYTES = 4 * 1024 * 1024 - 1024


def publish(context: Context) -> int:
    """Publish a message and print its id."""
    calls = _Calls(context)
    result: PublishResult = calls.call("exchange/publish", {**context.values, "body": _body(context)})

    def render(answer: PublishResult) -> str:
        from livedex_ipc.cli.render.exchange_text import published_line

        return published_line(answer)

    context.show(result, render)
    return 0


def read(context: Context) -> int:
    """Print messages."""
    result: ReadResult = _Calls(context).call("exchange/read", context.values)

    def render(answer: ReadResult) -> str:
        from livedex_ipc.cli.render.exchange_text import messages_text

        return messages_text(answer["messages"], colour=context.streams.out_colour)

    context.show(result, render)
    return 0


def check(context: Context) -> int:
    """Print what became of a conversation; exit code 1 while it is not finished."""
    result: CheckResult = _Calls(context).call("exchange/check", context.values)

    def render(answer: CheckResult) -> str:
        from livedex_ipc.cli.render.exchange_text import conversation_text

        return conversation_text(answer, colour=context.streams.out_colour)

    context.show(result, render)
    return 0 if result["terminal"] else 1


def request(context: Context) -> int:
    """Publish a message, print its ids on stderr, wait for the reply and print it. Raises TimedOut."""
    calls = _Calls(context)
    key = context.values.get("idempotency_key") or os.urandom(16).hex()
    params = {**context.values, "body": _body(context), "idempotency_key": key}
    try:
        # The key makes the second call go on with the first one: the ids are known before the reply is.
        result: RequestResult = calls.call("exchange/request", {**params, "timeout_ms": 0})
        _show_ids(context.streams, result)
    except TimedOut as error:
        _show_ids(context.streams, error.data or {})
        params.setdefault("timeout_ms", REQUEST_TIMEOUT_MS)
        result = calls.call("exchange/request", params)

    def render(answer: RequestResult) -> str:
        from livedex_ipc.cli.render.exchange_text import body_text

        return body_text(answer["reply"], is_terminal=context.streams.out_is_terminal)

    context.show(result, render)
    return 0


def _show_ids(streams: Streams, published: Mapping[str, Any]) -> None:
    ids = {name: published[name] for name in ("id", "conversation_id")}
    if streams.json:
        from livedex_ipc.cli.streams import harmless_json

        streams.message(harmless_json(json.dumps(ids, separators=(",", ":"))))
    else:
        from livedex_ipc.cli.render.terminal_text import visible

        streams.message(f"message {ids['id']}, conversation {visible(ids['conversation_id'])}")


def notify(context: Context) -> int:
    """Print the tracked conversations that are finished."""
    result: NotifyResult = _Calls(context).call("exchange/notify", context.values)

    def render(answer: NotifyResult) -> str:
        from livedex_ipc.cli.render.exchange_text import conversation_text

        return "".join(conversation_text(each, colour=context.streams.out_colour) for each in answer["conversations"])

    context.show(result, render)
    return 0


def inspect(context: Context) -> int:
    """Print messages with their claims."""
    result: InspectResult = _Calls(context).call("exchange/inspect", context.values)

    def render(answer: InspectResult) -> str:
        from livedex_ipc.cli.render.exchange_text import inspected_text

        return inspected_text(answer, colour=context.streams.out_colour)

    context.show(result, render)
    return 0


def stats(context: Context) -> int:
    """Print how many messages each topic has."""
    result: ExchangeStatsResult = _Calls(context).call("exchange/stats", context.values)

    def render(answer: ExchangeStatsResult) -> str:
        from livedex_ipc.cli.render.exchange_text import stats_text

        return stats_text(answer, colour=context.streams.out_colour)

    context.show(result, render)
    return 0


def run(context: Context) -> int:
    """Run a plugin for each message of a topic, until it is done or stopped."""
    if context.local_exchange is None:
        exec_local(context)
    return context.local_exchange.work(context.values, context.streams)


class _Calls:
    """The way to the exchange: this process's own, a daemon of this version, or a new process that has its own."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._client: Client | None = None
        if context.local_exchange is None:
            self._client = context.client = _running_daemon(context)
            if self._client is None:
                exec_local(context)

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Return the method's result. Raises its errors."""
        if self._context.local_exchange is not None:
            return self._context.local_exchange.call(method, params)
        assert self._client is not None
        body = params.get("body")
        # In JSON a character has at most six times its bytes; what is small enough need not be measured.
        if body is not None and 6 * len(body) > _MOST_REQUEST_BYTES and len(json.dumps(body)) > _MOST_REQUEST_BYTES:
            exec_local(self._context, body)
        default_ms = REQUEST_TIMEOUT_MS if method == "exchange/request" else ANSWER_MS
        return self._client.call(method, params, timeout_s=deadline_s(params, default_ms))


def _running_daemon(context: Context) -> Client | None:
    """Connect to a daemon of this version; None if none runs. Raises TimedOut if it hangs."""
    try:
        client = connect(spawn=False)
    except NoDaemon:
        return None
    if context.who(client).get("version") == __version__:
        return client
    client.close()
    return None


def exec_local(context: Context, body: str | None = None) -> NoReturn:
    """Run this command in the daemon's own package, by name, in this process's place; does not return.

    ``body``: what was read from stdin. Raises Unavailable.
    """
    context.streams.flush()
    if body is not None:
        from livedex_ipc.scratch_file import scratch_file

        with scratch_file(body.encode()) as file:
            os.dup2(file.fileno(), 0)
    command = [sys.executable, "-P", "-m", "livedex_daemon", "exchange", *context.line.arguments]
    try:
        os.execv(sys.executable, command)
    except OSError as error:
        raise Unavailable(f"{sys.executable} cannot be run: {error.strerror}") from error


def _body(context: Context) -> str:
    """Return the message's body: the operand, or stdin. Raises InvalidParams."""
    given: str | None = context.values.get("body")
    return stdin_text() if given in (None, "-") else str(given)


def stdin_text(param: str = "body") -> str:
    """Return all of stdin, the value of ``param``. Raises InvalidParams if it is not text."""
    if sys.stdin is None:
        raise InvalidParams(f"{param} is missing: there is no stdin to read it from", {"field": param})
    try:
        return sys.stdin.buffer.read().decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise InvalidParams(f"{param} must be UTF-8 text: {error}", {"field": param}) from None
