"""The types of what the methods of the exchange answer: messages, claims, conversations.

Invariant: as that of ``wire_results``.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from livedex_ipc.memory_entry import JsonObject


class PublishResult(TypedDict):
    id: int
    conversation_id: str
    created: bool


class MessageFields(TypedDict):
    """A message of the exchange."""

    id: int
    topic: str
    body: str
    created_at: str
    parent_id: int | None
    conversation_id: str
    producer: str | None
    metadata: JsonObject


class ClaimState(TypedDict):
    """A claim, as everybody may see it. ``lease_until`` is by the wall clock; ``completed_at`` None: the worker did
    not."""

    id: int
    message_id: int
    worker_group: str | None
    worker_instance_id: str | None
    claimed_at: str
    lease_until: str
    status: str
    completed_at: str | None
    attempt: int


class ClaimFields(ClaimState):
    """A claim, as its worker gets it."""

    token: str


class ReadResult(TypedDict):
    messages: list[MessageFields]


class ClaimResult(TypedDict):
    claim: ClaimFields | None
    message: MessageFields | None


class RenewResult(TypedDict):
    lease_until: str


class CompleteResult(TypedDict):
    status: str
    message_id: int | None


class WaitResult(TypedDict):
    ready: bool


class ConversationFields(TypedDict):
    """What became of a conversation's first message; ``reply``: the first message that follows it."""

    conversation_id: str
    state: Literal["pending", "claimed", "completed", "failed", "timed_out", "dead"]
    reply: MessageFields | None


class CheckResult(ConversationFields):
    terminal: bool


class RequestResult(TypedDict):
    id: int
    conversation_id: str
    reply: MessageFields


class NotifyResult(TypedDict):
    conversations: list[ConversationFields]


class InspectResult(TypedDict):
    messages: list[MessageFields]
    claims: list[ClaimState]


class TopicFields(TypedDict):
    topic: str
    messages: int
    waiting: int
    active: int
    dead: int


class ExchangeStatsResult(TypedDict):
    topics: list[TopicFields]
    db_bytes: int
