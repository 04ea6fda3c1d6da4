"""The rows of the table of methods for the exchange: messages, claims, conversations.

Invariant: as that of the table; the daemon and the command answer these methods from the same file, and alike.
"""

from __future__ import annotations

from livedex_ipc.common_params import MAX_WAIT_MS
from livedex_ipc.constants import LEASE_S, OUTCOMES, REQUEST_TIMEOUT_MS
from livedex_ipc.method_types import Field, Method
from livedex_ipc.params import MAX_INTEGER, Param

MAX_NAME = 200  # characters of a label, a key or the id of a conversation
MAX_LEASE_S = 24 * 60 * 60

_MESSAGE = "{id, topic, body, created_at, parent_id, conversation_id, producer, metadata}"
_STATE = "id, message_id, worker_group, worker_instance_id, claimed_at, lease_until, status, completed_at, attempt"


def _id(name: str, doc: str, *, required: bool = False) -> Param:
    return Param(name, "integer", doc, required=required, minimum=1, maximum=MAX_INTEGER)


def _name(name: str, doc: str, *, required: bool = False) -> Param:
    return Param(name, "string", doc, required=required, minimum=1, maximum=MAX_NAME)


_TOPIC = _name("topic", "letters, digits, underscores, dots and dashes", required=True)
_ANY_TOPIC = _TOPIC._replace(required=False)
_CONVERSATION = _name("conversation_id", "as it was answered or given")
_AFTER = Param("after_id", "integer", "only messages after this one", default=0, minimum=0, maximum=MAX_INTEGER)
_LEASE = Param("lease_s", "integer", "seconds until the claim ends", default=LEASE_S, minimum=0, maximum=MAX_LEASE_S)
_TIMEOUT = Param(
    "timeout_ms", "integer", "milliseconds to wait", default=REQUEST_TIMEOUT_MS, minimum=0, maximum=MAX_WAIT_MS
)
_CLAIMED = (
    _id("claim_id", "as it was answered", required=True),
    _name("token", "as it was answered with the claim", required=True),
)
_DRAFT = (
    _TOPIC,
    Param("body", "string", "text; its size is limited by max_body", required=True),
    _id("parent_id", "the message that this one follows"),
    _name("conversation_id", "of the parent, or of your own; none: a new conversation"),
    _name("producer", "who publishes: a label"),
    Param("metadata", "object", "anything that is not the body"),
    _name("idempotency_key", "a second message of the topic with this key is the first one"),
)
_PUBLISHED = (
    Field("id", "integer", "of the message"),
    Field("conversation_id", "string", "of the message"),
)

EXCHANGE = (
    Method(
        "exchange/publish",
        "Adds a message to a topic; when it is answered, the message survives a power loss.",
        _DRAFT,
        (*_PUBLISHED, Field("created", "boolean", "false: its key was published before")),
    ),
    Method(
        "exchange/read",
        "Messages in the order of the log.",
        (
            _ANY_TOPIC,
            _CONVERSATION,
            _AFTER,
            Param("limit", "integer", "how many at most", default=100, minimum=1, maximum=1000),
        ),
        (Field("messages", "array", _MESSAGE),),
    ),
    Method(
        "exchange/claim",
        "Gives the oldest message that waits in a topic to one worker, until its lease ends.",
        (
            _TOPIC,
            _name("worker_group", "a label"),
            _name("worker_instance_id", "a label"),
            _LEASE._replace(minimum=1),
        ),
        (Field("claim", "object?", f"{{{_STATE}, token}}"), Field("message", "object?", _MESSAGE)),
    ),
    Method(
        "exchange/renew",
        "Begins the lease of a claim again; 0 seconds give the message back.",
        (*_CLAIMED, _LEASE),
        (Field("lease_until", "string", "RFC 3339, by the wall clock"),),
    ),
    Method(
        "exchange/complete",
        "Ends a claim and publishes its follow-up, both or neither.",
        (
            *_CLAIMED,
            Param("status", "string", "what became of the message", required=True, choices=OUTCOMES),
            Param("follow_up", "follow_up", "{topic, body, metadata?} of the message to publish"),
        ),
        (
            Field("status", "string", "as it was given"),
            Field("message_id", "integer?", "of the follow-up"),
        ),
    ),
    Method(
        "exchange/wait",
        "Returns once a topic has a message to claim, or a message came after `after_id`.",
        (_ANY_TOPIC, _CONVERSATION, _AFTER._replace(default=None), _TIMEOUT),
        (Field("ready", "boolean", "false: the time ran out"),),
        cancel_on_close=True,
        waits=True,
    ),
    Method(
        "exchange/check",
        "What became of a conversation's first message.",
        (_CONVERSATION._replace(required=True),),
        (
            Field("conversation_id", "string", "as it was given"),
            Field("state", "string", "pending, claimed, completed, failed, timed_out or dead"),
            Field("terminal", "boolean", "whether the state stays"),
            Field("reply", "object?", _MESSAGE),
        ),
    ),
    Method(
        "exchange/request",
        "Publishes a message and waits for the first reply to it.",
        (
            *_DRAFT,
            _name("success_topic", "only a reply in this topic, or in that of failures, counts"),
            _name("failure_topic", "only a reply in this topic, or in that of successes, counts"),
            _TIMEOUT,
        ),
        (*_PUBLISHED, Field("reply", "object", _MESSAGE)),
        cancel_on_close=True,
    ),
    Method(
        "exchange/notify",
        "The tracked conversations that are finished, each once.",
        (),
        (Field("conversations", "array", "{conversation_id, state, reply}"),),
    ),
    Method(
        "exchange/inspect",
        "Messages with their claims, as they are stored.",
        (_id("id", "of one message"), _CONVERSATION, _ANY_TOPIC),
        (Field("messages", "array", _MESSAGE), Field("claims", "array", f"{{{_STATE}}}")),
    ),
    Method(
        "exchange/stats",
        "How many messages each topic has.",
        (),
        (
            Field("topics", "array", "{topic, messages, waiting, active, dead}"),
            Field("db_bytes", "integer", "size on disk"),
        ),
    ),
)
