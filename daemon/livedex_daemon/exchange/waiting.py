"""Waits for a message without a daemon, and what all who wait have in common.

Invariant: a message is found at the latest ``RECHECK_S`` after it was published, by whatever process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.exchange.log_watch import RECHECK_S
from livedex_daemon.exchange.topics import check_topic
from livedex_ipc.errors import InvalidParams, TimedOut
from livedex_ipc.exchange_results import PublishResult, RequestResult, WaitResult
from livedex_ipc.request_params import ExchangeRequestParams, ExchangeWaitParams

T = TypeVar("T")


def check_wait(params: ExchangeWaitParams) -> tuple[str | None, str | None, int | None]:
    """Return topic, conversation and message of a wait. Raises InvalidParams if neither of the first two is given."""
    topic, conversation_id = params["topic"], params["conversation_id"]
    if topic is not None:
        check_topic(topic)
    elif conversation_id is None:
        raise InvalidParams("exchange/wait needs a topic or a conversation_id", {"field": "topic"})
    return topic, conversation_id, params["after_id"]


def request_timed_out(published: PublishResult) -> TimedOut:
    """Return the error of a request whose reply did not come in time; ``notify`` reports the conversation later."""
    ids = {"id": published["id"], "conversation_id": published["conversation_id"]}
    message = f"no reply came in time in the conversation {published['conversation_id']}"
    return TimedOut(message, {**ids, "remedy": "`livedex exchange notify` reports it once it is finished"})


def wait(exchange: Exchange, params: ExchangeWaitParams) -> WaitResult:
    """Answer ``exchange/wait``."""
    topic, conversation_id, after_id = check_wait(params)

    def look() -> bool | None:
        return exchange.is_ready(topic, conversation_id, after_id) or None

    return {"ready": _until(look, params["timeout_ms"] / 1000) is not None}


def request(exchange: Exchange, params: ExchangeRequestParams) -> RequestResult:
    """Answer ``exchange/request``. Raises TimedOut."""
    published = exchange.begin_request(params)
    found = None
    try:
        found = _until(lambda: exchange.reply(params, published["id"]), params["timeout_ms"] / 1000)
    finally:
        if found is None:
            exchange.end_request(published["id"])
    if found is None:
        raise request_timed_out(published)
    return {"id": published["id"], "conversation_id": published["conversation_id"], "reply": found}


def _until(look: Callable[[], T | None], timeout_s: float) -> T | None:
    """Return what ``look`` finds, None if the time runs out. Leases that end change nothing in the file: look often."""
    deadline = time.monotonic() + timeout_s
    while True:
        found = look()
        left = deadline - time.monotonic()
        if found is not None or left <= 0:
            return found
        time.sleep(min(left, RECHECK_S))
