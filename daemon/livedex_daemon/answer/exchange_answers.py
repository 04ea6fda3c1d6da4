"""Answer the methods of the exchange: each is one call on the file, and two of them wait for a change of it.

Invariant: an answer is the same as that of the command without a daemon, which makes the same calls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from livedex_daemon.answer.exchange_thread import ExchangeThread
from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.exchange.waiting import check_wait, request_timed_out
from livedex_ipc.exchange_results import (
    CheckResult,
    ClaimResult,
    CompleteResult,
    ExchangeStatsResult,
    InspectResult,
    NotifyResult,
    PublishResult,
    ReadResult,
    RenewResult,
    RequestResult,
    WaitResult,
)
from livedex_ipc.request_params import (
    ExchangeCheckParams,
    ExchangeClaimParams,
    ExchangeCompleteParams,
    ExchangeInspectParams,
    ExchangePublishParams,
    ExchangeReadParams,
    ExchangeRenewParams,
    ExchangeRequestParams,
    ExchangeWaitParams,
    NoParams,
)
from livedex_ipc.server.rpc_server import Call, Handler

T = TypeVar("T")


class ExchangeMethods:
    """The methods of the exchange."""

    def __init__(self, thread: ExchangeThread) -> None:
        self._thread = thread

    def table(self) -> dict[str, Handler]:
        return {
            "exchange/publish": self.publish,
            "exchange/read": self.read,
            "exchange/claim": self.claim,
            "exchange/renew": self.renew,
            "exchange/complete": self.complete,
            "exchange/wait": self.wait,
            "exchange/check": self.check,
            "exchange/request": self.request,
            "exchange/notify": self.notify,
            "exchange/inspect": self.inspect,
            "exchange/stats": self.stats,
        }

    async def publish(self, _call: Call, params: ExchangePublishParams) -> PublishResult:
        result = await self._write(lambda exchange: exchange.publish(params))
        self._thread.tidy()
        return result

    async def read(self, _call: Call, params: ExchangeReadParams) -> ReadResult:
        return await self._thread.run(lambda exchange: exchange.read(params))

    async def claim(self, _call: Call, params: ExchangeClaimParams) -> ClaimResult:
        return await self._thread.run(lambda exchange: exchange.claim(params))

    async def renew(self, _call: Call, params: ExchangeRenewParams) -> RenewResult:
        result = await self._thread.run(lambda exchange: exchange.renew(params))
        if not params["lease_s"]:
            self._thread.waiters.wake()
        return result

    async def complete(self, _call: Call, params: ExchangeCompleteParams) -> CompleteResult:
        return await self._write(lambda exchange: exchange.complete(params))

    async def check(self, _call: Call, params: ExchangeCheckParams) -> CheckResult:
        return await self._thread.run(lambda exchange: exchange.check(params["conversation_id"]))

    async def notify(self, _call: Call, _params: NoParams) -> NotifyResult:
        return await self._thread.run(lambda exchange: exchange.notify())

    async def inspect(self, _call: Call, params: ExchangeInspectParams) -> InspectResult:
        return await self._thread.run(lambda exchange: exchange.inspect(params))

    async def stats(self, _call: Call, _params: NoParams) -> ExchangeStatsResult:
        return await self._thread.run(lambda exchange: exchange.stats())

    async def wait(self, _call: Call, params: ExchangeWaitParams) -> WaitResult:
        topic, conversation_id, after_id = check_wait(params)

        def look(exchange: Exchange) -> tuple[bool | None, float | None]:
            ready = exchange.is_ready(topic, conversation_id, after_id)
            return ready or None, exchange.next_expiry_s(topic)

        return {"ready": await self._until(look, params["timeout_ms"]) is not None}

    async def request(self, _call: Call, params: ExchangeRequestParams) -> RequestResult:
        published = await self._write(lambda exchange: exchange.begin_request(params))
        number = published["id"]

        def look(exchange: Exchange) -> tuple[RequestResult | None, float | None]:
            reply = exchange.reply(params, number)
            if reply is None:
                return None, exchange.next_expiry_s(params["topic"])
            return {"id": number, "conversation_id": published["conversation_id"], "reply": reply}, None

        result = None
        try:
            result = await self._until(look, params["timeout_ms"])
        finally:
            if result is None:
                await asyncio.shield(self._thread.run(lambda exchange: exchange.end_request(number)))
        if result is None:
            raise request_timed_out(published)
        return result

    async def _write(self, action: Callable[[Exchange], T]) -> T:
        result = await self._thread.run(action)
        self._thread.waiters.wake()
        return result

    async def _until(self, look: Callable[[Exchange], tuple[T | None, float | None]], timeout_ms: int) -> T | None:
        """Return what ``look`` finds, None if the time runs out. It also says in how many seconds to look again."""
        deadline = time.monotonic() + timeout_ms / 1000
        waiters = self._thread.waiters
        changed = waiters.add()
        try:
            while True:
                changed.clear()
                found, again_s = await self._thread.run(look)
                left = deadline - time.monotonic()
                if found is not None or left <= 0:
                    return found
                try:
                    async with asyncio.timeout(left if again_s is None else min(left, again_s)):
                        await changed.wait()
                except TimeoutError:
                    continue
        finally:
            waiters.remove(changed)
