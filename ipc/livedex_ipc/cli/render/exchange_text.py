"""Formats messages, conversations, claims and topics of the exchange for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from livedex_ipc.cli.render.terminal_text import Style, size_text, table, visible

if TYPE_CHECKING:
    from livedex_ipc.exchange_results import (
        ClaimState,
        ConversationFields,
        ExchangeStatsResult,
        InspectResult,
        MessageFields,
        PublishResult,
    )


def published_line(answer: PublishResult) -> str:
    """Format the ids of a published message on one line."""
    verb = "is published" if answer["created"] else "was published before"
    return f"message {answer['id']} {verb} in conversation {visible(answer['conversation_id'])}\n"


def body_text(message: MessageFields, *, is_terminal: bool) -> str:
    """Return a message's body, unchanged unless a terminal shows it."""
    body = message["body"]
    if is_terminal:
        body = visible(body.replace("\r\n", "\n"), "\t\n")
    return body if body.endswith("\n") or not body else body + "\n"


def messages_text(messages: Iterable[MessageFields], *, colour: bool) -> str:
    """Format each message: a line that describes it, then its body."""
    return "".join(_message_text(message, Style(colour)) for message in messages)


def _message_text(message: MessageFields, style: Style) -> str:
    words = [f"#{message['id']}", visible(message["topic"]), message["created_at"]]
    words.append(f"conversation {visible(message['conversation_id'])}")
    if message["parent_id"] is not None:
        words.append(f"follows {message['parent_id']}")
    if message["producer"] is not None:
        words.append(f"by {visible(message['producer'])}")
    return style.dim(" · ".join(words)) + "\n" + body_text(message, is_terminal=True)


def conversation_text(answer: ConversationFields, *, colour: bool) -> str:
    """Format the state of a conversation, and its reply."""
    style = Style(colour)
    line = f"conversation {visible(answer['conversation_id'])}: {style.strong(answer['state'])}\n"
    return line + (messages_text([answer["reply"]], colour=colour) if answer["reply"] is not None else "")


def inspected_text(answer: InspectResult, *, colour: bool) -> str:
    """Format each message, each with its claims below it."""
    parts = []
    for message in answer["messages"]:
        parts.append(messages_text([message], colour=colour))
        parts += [_claim_line(claim) for claim in answer["claims"] if claim["message_id"] == message["id"]]
    return "".join(parts)


def _claim_line(claim: ClaimState) -> str:
    words = [f"  claim {claim['id']}: {claim['status']}, attempt {claim['attempt']}, {claim['claimed_at']}"]
    if claim["completed_at"] is not None:
        words.append(f"completed {claim['completed_at']}")
    elif claim["status"] == "active":
        words.append(f"lease until {claim['lease_until']}")
    else:
        words.append("lost")
    workers = [visible(label) for label in (claim["worker_group"], claim["worker_instance_id"]) if label is not None]
    return ", ".join(words + workers) + "\n"


def stats_text(answer: ExchangeStatsResult, *, colour: bool) -> str:
    """Format a table of topics, and the size of the file."""
    rows = [("MESSAGES", "WAITING", "ACTIVE", "DEAD", "TOPIC")]
    for each in answer["topics"]:
        counts = (each["messages"], each["waiting"], each["active"], each["dead"])
        rows.append((*(f"{count:,}" for count in counts), visible(each["topic"])))  # type: ignore[arg-type]
    head, *body = table(rows, right=frozenset((0, 1, 2, 3)))
    return "\n".join([Style(colour).dim(head), *body, size_text(answer["db_bytes"])]) + "\n"
