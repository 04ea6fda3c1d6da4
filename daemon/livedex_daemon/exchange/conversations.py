"""What became of conversations: the state of the first message, its reply, and what ``notify`` has to report.

Invariant: a tracked conversation is reported once, when its first message is finished, by ``notify`` or by the request
that waits for it.
"""

from __future__ import annotations

from typing import Final

import apsw

from livedex_daemon.config.settings import ExchangeConfig
from livedex_daemon.exchange import messages
from livedex_daemon.exchange.claims import state_of
from livedex_daemon.exchange.lease_clock import LeaseClock
from livedex_daemon.exchange.messages import DEAD, Draft, first_message_id, message, replies
from livedex_daemon.exchange.topics import derived
from livedex_daemon.precious.answer_bound import first_ones
from livedex_daemon.precious.precious_database import rows
from livedex_ipc.exchange_results import CheckResult, ConversationFields, MessageFields, PublishResult

TRACKED_SUFFIX: Final = ".request"
MOST_NOTIFIED: Final = 1_000
TIMED_OUT: Final = "timed_out"
_UNFINISHED: Final = ("pending", "claimed")


def publish(db: apsw.Connection, draft: Draft, limits: ExchangeConfig) -> PublishResult:
    """Add a message, and track its conversation if it is a request that begins one. Raises as ``messages.publish``."""
    result = messages.publish(db, draft, limits)
    is_request = result["created"] and draft.topic.endswith(TRACKED_SUFFIX)
    if is_request and first_message_id(db, result["conversation_id"]) == result["id"]:
        track(db, result["id"])
    return result


def check(db: apsw.Connection, conversation_id: str, clock: LeaseClock) -> CheckResult:
    """Return the state of a conversation's first message, and its first reply. Raises NotFound."""
    first = first_message_id(db, conversation_id)
    state = state_of(db, first, clock)
    found = replies(db, first)
    return {
        "conversation_id": conversation_id,
        "state": state,
        "terminal": state not in _UNFINISHED,
        "reply": message(db, found[0][0]) if found else None,
    }


def reply_to(db: apsw.Connection, message_id: int, topic: str, wanted: tuple[str, ...]) -> MessageFields | None:
    """Return the first reply to a message of ``topic``, None without one.

    ``wanted``: the topics of its success and its failure; empty for any. A dead letter and a reply that says that the
    time ran out are replies always.
    """
    topics = {*wanted, derived(topic, DEAD), derived(topic, TIMED_OUT)}
    for number, name in replies(db, message_id):
        if not wanted or name in topics:
            return message(db, number)
    return None


def track(db: apsw.Connection, message_id: int) -> None:
    """Let ``notify`` report the conversation that begins with this message."""
    db.execute("INSERT OR IGNORE INTO tracked (message_id) VALUES (?)", (message_id,))


def await_reply(db: apsw.Connection, message_id: int, wait_s: float, clock: LeaseClock) -> None:
    """Let ``notify`` report the conversation only if the request that waits for its reply has not, by then."""
    track(db, message_id)
    db.execute(
        "UPDATE tracked SET boot_id = ?, awaited_until_ns = ? WHERE message_id = ?",
        (clock.boot_id, clock.now_ns() + int(wait_s * 1e9), message_id),
    )


def has_reported(db: apsw.Connection, message_id: int) -> None:
    """Let ``notify`` report the conversation no more."""
    db.execute("DELETE FROM tracked WHERE message_id = ?", (message_id,))


def has_news(db: apsw.Connection, clock: LeaseClock) -> bool:
    """Whether ``notify`` has something to report. Only reads."""
    return bool(_finished(db, clock, 1))


def notify(db: apsw.Connection, clock: LeaseClock) -> list[ConversationFields]:
    """Return the tracked conversations that are finished, and report them no more; at most ``MOST_NOTIFIED``.

    Fewer come if their replies have more than ``MOST_BYTES``; one always comes if there is one.
    """
    finished = ((number, _reply(db, number)) for number in _finished(db, clock, MOST_NOTIFIED))
    found: list[ConversationFields] = []
    for number, reply in first_ones(finished, lambda one: 0 if one[1] is None else len(one[1]["body"].encode())):
        has_reported(db, number)
        first = message(db, number)
        if first is not None:
            state = state_of(db, number, clock)
            found.append({"conversation_id": first["conversation_id"], "state": state, "reply": reply})
    return found


def _reply(db: apsw.Connection, number: int) -> MessageFields | None:
    follow = replies(db, number)
    return message(db, follow[0][0]) if follow else None


def _finished(db: apsw.Connection, clock: LeaseClock, limit: int) -> list[int]:
    sql = (
        "SELECT message_id FROM tracked WHERE is_finished"
        " AND (boot_id IS NULL OR boot_id <> ? OR awaited_until_ns <= ?) ORDER BY message_id LIMIT ?"
    )
    return [number for (number,) in rows(db, sql, (clock.boot_id, clock.now_ns(), limit))]
