"""The log of messages: publish and read.

Invariant: a message is never changed, ids grow in the order of the log, and a key is published once in a topic.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import apsw

from livedex_daemon.config.settings import ExchangeConfig
from livedex_daemon.exchange.topics import add, check_topic, derived, made_topic_id, topic_id, topic_name
from livedex_daemon.precious.answer_bound import first_ones
from livedex_daemon.precious.precious_database import first_row, rows
from livedex_indexing.hits.answer_json import rfc3339_of_seconds
from livedex_ipc.errors import InvalidParams, NotFound, Unavailable
from livedex_ipc.exchange_results import MessageFields, PublishResult

RETRY_AFTER_MS: Final = 1_000
DEAD: Final = "dead"

_COLUMNS: Final = (
    "m.id, t.name, m.body, m.created_at, m.parent_id, m.conversation_id, m.producer, m.metadata"
    " FROM messages m JOIN topics t ON t.id = m.topic_id"
)
_INSERT: Final = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Draft(NamedTuple):
    """A message to publish. ``conversation_id`` None: the parent's, or a new one."""

    topic: str
    body: str
    parent_id: int | None = None
    conversation_id: str | None = None
    producer: str | None = None
    metadata: Mapping[str, Any] = {}
    idempotency_key: str | None = None


class _Place(NamedTuple):
    """Where a message belongs. ``conversation_id`` None: it begins one."""

    parent_id: int | None
    conversation_id: str | None
    hops: int


def publish(db: apsw.Connection, draft: Draft, limits: ExchangeConfig) -> PublishResult:
    """Add a message, or find the one that was published with the same key.

    Raises InvalidParams (the topic, the body, the chain), NotFound (the parent) or Unavailable (the topic is full).
    """
    check_topic(draft.topic)
    check_body(draft.body, limits)
    topic = made_topic_id(db, draft.topic)
    if draft.idempotency_key is not None:
        sql = "SELECT id, conversation_id FROM messages WHERE topic_id = ? AND idempotency_key = ?"
        known = first_row(db, sql, (topic, draft.idempotency_key))
        if known is not None:
            return {"id": known[0], "conversation_id": known[1], "created": False}
    place = _place(db, draft, limits)
    if db.execute("SELECT waiting FROM topics WHERE id = ?", (topic,)).get >= limits.max_waiting:
        raise Unavailable(
            f"the topic {draft.topic} is full: {limits.max_waiting} messages wait in it; publish again later",
            {"retry_after_ms": RETRY_AFTER_MS},
        )
    return _insert(db, topic, draft, place)


def publish_follow_up(db: apsw.Connection, draft: Draft, limits: ExchangeConfig) -> int:
    """Add the follow-up of a completed message and return its id. Raises InvalidParams.

    A full topic takes it: else its worker could not finish.
    """
    check_topic(draft.topic, "follow_up.topic")
    check_body(draft.body, limits, "follow_up.body")
    return _insert(db, made_topic_id(db, draft.topic), draft, _place(db, draft, limits))["id"]


def publish_dead(db: apsw.Connection, message_id: int, attempts: int, reason: str) -> int:
    """Add the dead letter of a message and return its id. No limit stops it."""
    body, conversation, hops, topic = first_row(
        db, "SELECT body, conversation_id, hops, topic_id FROM messages WHERE id = ?", (message_id,)
    )
    name = derived(topic_name(db, topic), DEAD)
    draft = Draft(name, body, message_id, metadata={"attempts": attempts, "reason": reason})
    return _insert(db, made_topic_id(db, name), draft, _Place(message_id, conversation, hops + 1))["id"]


def check_body(body: str, limits: ExchangeConfig, field: str = "body") -> None:
    """Raises InvalidParams if a body is too large."""
    if len(body) * 4 > limits.max_body and len(body.encode()) > limits.max_body:
        raise InvalidParams(f"{field} must have at most {limits.max_body} bytes (max_body)", {"field": field})


def _place(db: apsw.Connection, draft: Draft, limits: ExchangeConfig) -> _Place:
    given = draft.conversation_id
    if draft.parent_id is None:
        if given is not None and given.isdecimal() and _first(db, given) is None:
            message = "conversation_id must not be a number, unless it is that of a conversation"
            raise InvalidParams(message, {"field": "conversation_id"})
        return _Place(None, given, 0)
    parent = first_row(db, "SELECT conversation_id, hops FROM messages WHERE id = ?", (draft.parent_id,))
    if parent is None:
        raise NotFound(f"no message has the id {draft.parent_id}", {"field": "parent_id"})
    conversation, hops = parent
    if given not in (None, conversation):
        message = f"conversation_id must be that of the parent, {conversation!a}"
        raise InvalidParams(message, {"field": "conversation_id"})
    if hops + 1 > limits.max_hops:
        message = f"parent_id must not continue a chain of {limits.max_hops} follow-ups (max_hops)"
        raise InvalidParams(message, {"field": "parent_id"})
    return _Place(draft.parent_id, conversation, hops + 1)


def _first(db: apsw.Connection, conversation_id: str) -> int | None:
    found: int | None = db.execute("SELECT min(id) FROM messages WHERE conversation_id = ?", (conversation_id,)).get
    return found


def _insert(db: apsw.Connection, topic: int, draft: Draft, place: _Place) -> PublishResult:
    last = first_row(db, "SELECT seq FROM sqlite_sequence WHERE name = 'messages'")
    number = (last[0] if last else 0) + 1
    conversation = str(number) if place.conversation_id is None else place.conversation_id
    metadata = json.dumps(draft.metadata, ensure_ascii=False, separators=(",", ":"))
    values = (number, topic, draft.body, time.time(), place.parent_id, conversation, draft.producer, metadata)
    db.execute(_INSERT, (*values, draft.idempotency_key, place.hops))
    db.execute("INSERT INTO waiting VALUES (?, ?)", (topic, number))
    add(db, topic, messages=1, waiting=1)
    return {"id": number, "conversation_id": conversation, "created": True}


def read(
    db: apsw.Connection, topic: str | None, conversation_id: str | None, after_id: int, limit: int
) -> list[MessageFields]:
    """Return messages in the order of the log, those after ``after_id``, at most ``limit``.

    Fewer come if their bodies have more than ``MOST_BYTES``; one always comes if there is one.
    """
    conditions: list[str] = ["m.id > ?"]
    values: list[Any] = [after_id]
    if topic is not None:
        conditions.append("m.topic_id = ?")
        values.append(topic_id(db, topic))
    if conversation_id is not None:
        conditions.append("m.conversation_id = ?")
        values.append(conversation_id)
    sql = f"SELECT {_COLUMNS} WHERE {' AND '.join(conditions)} ORDER BY m.id LIMIT ?"
    return _first_ones(db.execute(sql, (*values, limit)))


def newest(db: apsw.Connection, topic: str | None, limit: int) -> list[MessageFields]:
    """Return the newest messages of a topic, or of all, in the order of the log, as many as ``read`` would."""
    where = "" if topic is None else "WHERE m.topic_id = ?"
    values = () if topic is None else (topic_id(db, topic),)
    return _first_ones(db.execute(f"SELECT {_COLUMNS} {where} ORDER BY m.id DESC LIMIT ?", (*values, limit)))[::-1]


def _first_ones(cursor: apsw.Cursor) -> list[MessageFields]:
    """Return the messages of the first rows whose bodies have at most ``MOST_BYTES``, or the first row's."""
    found = first_ones(cursor, lambda row: len(row[2].encode()))
    cursor.close(True)
    return [_fields(row) for row in found]


def newest_id(db: apsw.Connection, topic: str | None, conversation_id: str | None) -> int:
    """Return the id of the newest message of a topic or a conversation, or of both; 0 if there is none."""
    conditions: list[str] = []
    values: list[Any] = []
    if topic is not None:
        conditions.append("topic_id = ?")
        values.append(topic_id(db, topic))
    if conversation_id is not None:
        conditions.append("conversation_id = ?")
        values.append(conversation_id)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    found: int | None = db.execute(f"SELECT max(id) FROM messages {where}", values).get
    return found or 0


def message(db: apsw.Connection, message_id: int) -> MessageFields | None:
    row = first_row(db, f"SELECT {_COLUMNS} WHERE m.id = ?", (message_id,))
    return None if row is None else _fields(row)


def first_message_id(db: apsw.Connection, conversation_id: str) -> int:
    """Return the id of a conversation's first message. Raises NotFound."""
    found = _first(db, conversation_id)
    if found is None:
        raise NotFound(f"no message is of the conversation {conversation_id!a}", {"field": "conversation_id"})
    return found


def replies(db: apsw.Connection, message_id: int) -> list[tuple[int, str]]:
    """Return the ids and topics of the messages that follow a message, in the order of the log; at most 1,000."""
    return rows(
        db,
        "SELECT m.id, t.name FROM messages m JOIN topics t ON t.id = m.topic_id WHERE m.parent_id = ?"
        " ORDER BY m.id LIMIT 1000",
        (message_id,),
    )


def _fields(row: tuple[Any, ...]) -> MessageFields:
    number, topic, body, created_at, parent_id, conversation_id, producer, metadata = row
    return {
        "id": number,
        "topic": topic,
        "body": body,
        "created_at": rfc3339_of_seconds(created_at),
        "parent_id": parent_id,
        "conversation_id": conversation_id,
        "producer": producer,
        "metadata": json.loads(metadata),
    }
