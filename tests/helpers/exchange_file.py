"""The exchange without a daemon: its file, and a clock that the test advances.

Invariant: the calls are those of the socket's methods, with the same checks of the params.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, cast

from livedex_daemon.config.settings import ExchangeConfig
from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.exchange.lease_clock import LeaseClock, lease_clock
from livedex_ipc.exchange_results import ClaimFields, MessageFields
from livedex_ipc.methods import check_params


class SteppedClock:
    """A clock of leases that stops until the test advances it."""

    def __init__(self, boot_id: str = "this start", now_s: float = 1_000.0) -> None:
        self.boot_id = boot_id
        self._now_ns = int(now_s * 1e9)

    def now_ns(self) -> int:
        return self._now_ns

    def pass_s(self, seconds: float) -> None:
        self._now_ns += int(seconds * 1e9)


class Claimed(NamedTuple):
    claim: ClaimFields
    message: MessageFields


class Queue:
    """One connection to the file; its methods take the params of the socket's methods by keyword."""

    def __init__(self, path: Path, clock: SteppedClock | None = None, *, real: bool = False, **limits: Any) -> None:
        self.clock = clock or SteppedClock()
        measured = lease_clock() if real else cast(LeaseClock, self.clock)
        self.exchange = Exchange(str(path), ExchangeConfig(**limits), measured)

    def close(self) -> None:
        self.exchange.close()

    def publish(self, topic: str, body: str, **params: Any) -> Any:
        return self.exchange.publish(checked("publish", topic=topic, body=body, **params))

    def read(self, topic: str | None = None, **params: Any) -> list[MessageFields]:
        given = params if topic is None else {"topic": topic, **params}
        return self.exchange.read(checked("read", **given))["messages"]

    def try_claim(self, topic: str, **params: Any) -> Claimed | None:
        found = self.exchange.claim(checked("claim", topic=topic, **params))
        assert (found["claim"] is None) == (found["message"] is None)
        return None if found["claim"] is None or found["message"] is None else Claimed(found["claim"], found["message"])

    def claim(self, topic: str, **params: Any) -> Claimed:
        claimed = self.try_claim(topic, **params)
        assert claimed is not None, f"nothing waits in {topic}"
        return claimed

    def renew(self, claimed: Claimed, **params: Any) -> Any:
        return self.exchange.renew(checked("renew", **_own(claimed), **params))

    def complete(self, claimed: Claimed, status: str = "completed", **params: Any) -> Any:
        return self.exchange.complete(checked("complete", **_own(claimed), status=status, **params))

    def check(self, conversation_id: str) -> Any:
        return self.exchange.check(conversation_id)

    def inspect(self, **params: Any) -> Any:
        return self.exchange.inspect(checked("inspect", **params))

    def stats(self, topic: str) -> Any:
        return next(each for each in self.exchange.stats()["topics"] if each["topic"] == topic)


def checked(method: str, **params: Any) -> Any:
    """Return the params as a handler gets them."""
    return check_params(f"exchange/{method}", params)


def _own(claimed: Claimed) -> dict[str, Any]:
    return {"claim_id": claimed.claim["id"], "token": claimed.claim["token"]}
