"""What a worker does with its claims: on the file, and for completions through the daemon, which wakes who waits.

Invariant: a completion is repeated until it is answered: a repeated one gets the same answer.
"""

from __future__ import annotations

import contextlib
import time
from typing import Final, cast

from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.precious.precious_database import DatabaseUnusable
from livedex_daemon.worker_host.plugin_outcome import PluginAnswer, Status
from livedex_daemon.worker_host.wake_ups import CALL_S, CONNECT_EVERY_S, running_daemon
from livedex_ipc.client import Client
from livedex_ipc.errors import Conflict, InvalidParams, LivedexError
from livedex_ipc.exchange_results import ClaimFields, CompleteResult, MessageFields
from livedex_ipc.request_params import ExchangeCompleteParams

MOST_REQUEST_BYTES: Final = 512 * 1024  # in JSON a byte may become six; a larger body goes into the file directly
AGAIN_S: Final = 0.5
MOST_AGAIN_S: Final = 15.0  # how long a completion is tried that the disk refuses


class ClaimLink:
    """For one thread at a time."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._client: Client | None = None
        self._connect_at = 0.0

    @property
    def max_body(self) -> int:
        return self._exchange.limits.max_body

    def claim(
        self, topic: str, group: str | None, instance_id: str, lease_s: int
    ) -> tuple[ClaimFields, MessageFields] | None:
        """Claim the oldest message of a topic; None if none waits."""
        found = self._exchange.claim(
            {"topic": topic, "worker_group": group, "worker_instance_id": instance_id, "lease_s": lease_s}
        )
        claim, message = found["claim"], found["message"]
        return None if claim is None or message is None else (claim, message)

    def renew(self, claim: ClaimFields, lease_s: int) -> bool:
        """Renew a claim. Return False if it is no longer this worker's; a file that cannot be used now is no reason."""
        try:
            self._exchange.renew({"claim_id": claim["id"], "token": claim["token"], "lease_s": lease_s})
        except Conflict:
            return False
        except DatabaseUnusable:
            return True
        return True

    def give_back(self, claim: ClaimFields, after_s: int) -> None:
        """Let another worker have the message after ``after_s`` seconds."""
        self.renew(claim, after_s)

    def withdraw(self, claim: ClaimFields) -> None:
        """Undo a claim whose plugin could not be started; where the file cannot be used now, its lease ends."""
        with contextlib.suppress(Conflict, DatabaseUnusable):
            self._exchange.withdraw(claim["id"], claim["token"])

    def complete(self, claim: ClaimFields, answer: PluginAnswer, lease_s: int) -> tuple[Status, int | None] | None:
        """Complete a claim. Return its status and the id of the follow-up; None if it is no longer this worker's.

        A follow-up that is refused (its topic, or a chain that is too long) leaves a failure without one. Raises
        DatabaseUnusable if the file refuses it for long.
        """
        params: ExchangeCompleteParams = {
            "claim_id": claim["id"],
            "token": claim["token"],
            "status": answer.status,
            "follow_up": answer.follow_up,
        }
        until = time.monotonic() + min(lease_s, MOST_AGAIN_S)
        while True:
            try:
                done = self._complete(params)
            except Conflict:
                return None
            except InvalidParams:
                params = {**params, "status": "failed", "follow_up": None}
            except DatabaseUnusable:
                if time.monotonic() > until:
                    raise
                time.sleep(AGAIN_S)
            else:
                return cast(Status, done["status"]), done["message_id"]

    def _complete(self, params: ExchangeCompleteParams) -> CompleteResult:
        follow_up = params["follow_up"]
        if follow_up is None or len(follow_up["body"]) < MOST_REQUEST_BYTES:
            client = self._connected()
            if client is not None:
                try:
                    done: CompleteResult = client.call("exchange/complete", params, timeout_s=CALL_S)
                    return done
                except (Conflict, InvalidParams):
                    raise
                except LivedexError:  # the daemon has ended, or is too busy
                    client.close()
                    self._client = None
        return self._exchange.complete(params)

    def _connected(self) -> Client | None:
        if self._client is None and time.monotonic() >= self._connect_at:
            self._client = running_daemon()
            self._connect_at = time.monotonic() + CONNECT_EVERY_S
        return self._client
