"""The exchange as its callers use it: each method of the socket as one call on the file, with checked params.

Invariant: what is acknowledged as published or completed survives a power loss. A claim, a renewal and a report need
not: after a power loss every worker is gone, and the message is claimed again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw

from livedex_daemon.config.settings import ExchangeConfig
from livedex_daemon.exchange import claims, conversations, messages, retention
from livedex_daemon.exchange.claims import Completion, Worker
from livedex_daemon.exchange.dead_letters import DeadLetters, dead_letters
from livedex_daemon.exchange.lease_clock import LeaseClock, lease_clock
from livedex_daemon.exchange.messages import Draft
from livedex_daemon.exchange.retention import Old
from livedex_daemon.exchange.topics import check_topic
from livedex_daemon.precious.precious_database import PreciousDatabase, Schema, rows
from livedex_ipc.exchange_results import (
    CheckResult,
    ClaimResult,
    CompleteResult,
    ExchangeStatsResult,
    InspectResult,
    MessageFields,
    NotifyResult,
    PublishResult,
    ReadResult,
    RenewResult,
    TopicFields,
)
from livedex_ipc.request_params import (
    ExchangeClaimParams,
    ExchangeCompleteParams,
    ExchangeInspectParams,
    ExchangePublishParams,
    ExchangeReadParams,
    ExchangeRenewParams,
    ExchangeRequestParams,
)

SCHEMA: Final = Schema(  # index.db has the number before
    "the exchange", 0x4C444558 + 1, 2, Path(__file__).with_name("exchange.sql")
)
MOST_INSPECTED: Final = 1_000  # messages and claims of one answer
AWAITED_GRACE_S: Final = 5.0  # after the time of a request, for its answer


class Exchange:
    """One connection to ``exchange.db``. For one thread at a time.

    Every method raises DatabaseUnusable if the file cannot be used.
    """

    def __init__(self, path: str, limits: ExchangeConfig, clock: LeaseClock | None = None) -> None:
        self.limits = limits
        self._clock = lease_clock() if clock is None else clock
        self._database = PreciousDatabase(path, SCHEMA)

    @property
    def path(self) -> str:
        return self._database.path

    def wait_from(self, moment: float | None) -> None:
        """Count what the next calls wait for a lock from this moment on; None: from each call."""
        self._database.waits_from = moment

    def close(self) -> None:
        self._database.close()

    def check_writable(self) -> None:
        """Write what the file says already. Raises DatabaseUnusable."""
        self._database.check_writable()

    def publish(self, params: ExchangePublishParams) -> PublishResult:
        """Raises InvalidParams, NotFound (the parent) or Unavailable (the topic is full)."""
        with self._database.transaction(durable=True) as db:
            return self._publish(db, params)

    def _publish(self, db: apsw.Connection, params: ExchangePublishParams | ExchangeRequestParams) -> PublishResult:
        draft = Draft(
            params["topic"],
            params["body"],
            params["parent_id"],
            params["conversation_id"],
            params["producer"],
            params["metadata"] or {},
            params["idempotency_key"],
        )
        return conversations.publish(db, draft, self.limits)

    def read(self, params: ExchangeReadParams) -> ReadResult:
        topic, conversation = params["topic"], params["conversation_id"]
        if topic is not None:
            check_topic(topic)
        with self._database.reading() as db:
            return {"messages": messages.read(db, topic, conversation, params["after_id"], params["limit"])}

    def claim(self, params: ExchangeClaimParams) -> ClaimResult:
        topic = check_topic(params["topic"])
        with self._database.reading() as db:
            if not claims.can_claim(db, topic, self._clock) and not claims.has_expired(db, self._clock):
                return {"claim": None, "message": None}
        worker = Worker(params["worker_group"], params["worker_instance_id"])
        with self._database.transaction(durable=False) as db:
            claims.reap(db, self._clock, self.limits)
            made = claims.claim(db, topic, worker, params["lease_s"], self._clock)
            if made is None:
                return {"claim": None, "message": None}
            return {"claim": made[0], "message": messages.message(db, made[1])}

    def renew(self, params: ExchangeRenewParams) -> RenewResult:
        """Raises Conflict."""
        with self._database.transaction(durable=False) as db:
            until = claims.renew(db, params["claim_id"], params["token"], params["lease_s"], self._clock)
            return {"lease_until": until}

    def withdraw(self, claim_id: int, token: str) -> None:
        """Undo a claim before any work was done. Raises Conflict."""
        with self._database.transaction(durable=False) as db:
            claims.withdraw(db, claim_id, token, self._clock)

    def complete(self, params: ExchangeCompleteParams) -> CompleteResult:
        """Raises Conflict, or InvalidParams for the follow-up."""
        follow_up = params["follow_up"]
        draft = None
        if follow_up is not None:
            draft = Draft(follow_up["topic"], follow_up["body"], metadata=follow_up.get("metadata") or {})
        completion = Completion(params["claim_id"], params["token"], params["status"], draft)
        with self._database.transaction(durable=True) as db:
            return claims.complete(db, completion, self._clock, self.limits)

    def check(self, conversation_id: str) -> CheckResult:
        """Raises NotFound."""
        self._reap()
        with self._database.reading() as db:
            return conversations.check(db, conversation_id, self._clock)

    def notify(self) -> NotifyResult:
        self._reap()
        with self._database.reading() as db:
            if not conversations.has_news(db, self._clock):
                return {"conversations": []}
        with self._database.transaction(durable=True) as db:
            return {"conversations": conversations.notify(db, self._clock)}

    def begin_request(self, params: ExchangeRequestParams) -> PublishResult:
        """Publish, and let ``notify`` report the conversation if this request does not. Raises as ``publish``."""
        wait_s = params["timeout_ms"] / 1000 + AWAITED_GRACE_S if params["timeout_ms"] else 0.0
        with self._database.transaction(durable=True) as db:
            result = self._publish(db, params)
            if messages.first_message_id(db, result["conversation_id"]) == result["id"]:
                conversations.await_reply(db, result["id"], wait_s, self._clock)
                if conversations.check(db, result["conversation_id"], self._clock)["terminal"]:
                    claims.finish_tracked(db, result["id"])
            return result

    def reply(self, params: ExchangeRequestParams, message_id: int) -> MessageFields | None:
        """Return the reply to a request's message; None if there is none yet. ``notify`` reports it no more."""
        self._reap()
        wanted = tuple(topic for topic in (params["success_topic"], params["failure_topic"]) if topic is not None)
        with self._database.reading() as db:
            found = conversations.reply_to(db, message_id, params["topic"], wanted)
        if found is not None:
            with self._database.transaction(durable=True) as db:
                conversations.has_reported(db, message_id)
        return found

    def end_request(self, message_id: int) -> None:
        """Let ``notify`` report the conversation of a request whose time ran out, from now on."""
        with self._database.transaction(durable=False) as db:
            db.execute("UPDATE tracked SET boot_id = NULL WHERE message_id = ?", (message_id,))

    def inspect(self, params: ExchangeInspectParams) -> InspectResult:
        """Return one message, those of a conversation, or the newest of a topic or of all, with their claims."""
        number, conversation, topic = params["id"], params["conversation_id"], params["topic"]
        with self._database.reading() as db:
            if number is not None:
                one = messages.message(db, number)
                found = [] if one is None else [one]
            elif conversation is not None:
                found = messages.read(db, topic, conversation, 0, MOST_INSPECTED)
            else:
                found = messages.newest(db, None if topic is None else check_topic(topic), MOST_INSPECTED)
            return {"messages": found, "claims": claims.claims_of(db, [each["id"] for each in found], MOST_INSPECTED)}

    def stats(self) -> ExchangeStatsResult:
        with self._database.reading() as db:
            found = rows(db, "SELECT name, messages, waiting, active, dead FROM topics WHERE messages ORDER BY name")
        topics: list[TopicFields] = [
            {"topic": name, "messages": count, "waiting": waiting, "active": active, "dead": dead}
            for name, count, waiting, active, dead in found
        ]
        return {"topics": topics, "db_bytes": self._database.bytes_on_disk()}

    def dead_letters(self) -> list[DeadLetters]:
        """Return the topics with messages that no worker finished and nobody has looked after."""
        with self._database.reading() as db:
            return dead_letters(db)

    def is_ready(self, topic: str | None, conversation_id: str | None, after_id: int | None) -> bool:
        """Whether a message came after ``after_id``; without it, whether the topic has a message to claim."""
        with self._database.reading() as db:
            if conversation_id is None and after_id is None and topic is not None:
                return claims.can_claim(db, topic, self._clock)
            return bool(messages.newest_id(db, topic, conversation_id) > (after_id or 0))

    def next_expiry_s(self, topic: str | None) -> float | None:
        """Return in how many seconds a lease in the topic ends, so that ``is_ready`` may change; None if none is."""
        if topic is None:
            return None
        with self._database.reading() as db:
            return claims.next_expiry_s(db, topic, self._clock)

    def remove_old(self, may_go_on: Callable[[], bool] = lambda: True) -> None:
        """Remove finished conversations that are old, if it is time to. ``may_go_on``: asked after each small step."""
        with self._database.reading() as db:
            if not retention.is_due(db, self._clock):
                return
        self._reap()
        with self._database.transaction(durable=False) as db:
            old = retention.mark(db, self._clock, self.limits.retention_s)
        if old is not None:
            self._remove_steps(old, may_go_on)

    def _remove_steps(self, old: Old, may_go_on: Callable[[], bool]) -> None:
        after = 0
        while may_go_on():
            with self._database.reading() as db:
                end = retention.step_end(db, old, after)
                if end is None:
                    return
                is_wanted = retention.has_old(db, old, after, end)
            if is_wanted:
                with self._database.transaction(durable=False) as db:
                    retention.remove_old(db, old, after, end)
            after = end

    def _reap(self) -> None:
        with self._database.reading() as db:
            if not claims.has_expired(db, self._clock):
                return
        with self._database.transaction(durable=False) as db:
            claims.reap(db, self._clock, self.limits)
