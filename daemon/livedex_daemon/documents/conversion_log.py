"""The daemon's own topic of the exchange: a message for each document to convert, claimed by a lane.

Invariant: a message names a content and a parser, no path and no text. A conversion that used up its worker ends its
message as failed, with a follow-up that counts the tries and waits behind all others.
"""

from __future__ import annotations

import json
import os
from typing import Final, NamedTuple

from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.documents.conversions import Content
from livedex_daemon.exchange.exchange_store import Exchange
from livedex_ipc.errors import Conflict
from livedex_ipc.request_params import FollowUp

TOPIC: Final = "livedex.parse"
GROUP: Final = "livedex"


class Task(NamedTuple):
    """A content to convert. ``tries``: how many workers it has used up. ``claim``: None without an exchange."""

    content: Content
    tries: int = 0
    claim: tuple[int, str] | None = None
    parser: str = ""


class ConversionLog:
    """One lane's connection. For its thread alone. Every method raises DatabaseUnusable."""

    def __init__(self, path: str, current: CurrentConfig) -> None:
        self._path = path
        self._current = current
        self._exchange: Exchange | None = None

    def _open(self) -> Exchange:
        if self._exchange is None:
            self._exchange = Exchange(self._path, self._current.config.exchange)
        return self._exchange

    def close(self) -> None:
        if self._exchange is not None:
            self._exchange.close()
            self._exchange = None

    def publish(self, content: Content, parser: str) -> None:
        self._open().publish(
            {
                "topic": TOPIC,
                "body": _body(content, parser, 0),
                "parent_id": None,
                "conversation_id": None,
                "producer": "livedex",
                "metadata": None,
                "idempotency_key": None,
            }
        )

    def claim(self, lease_s: int) -> Task | None:
        """Return the oldest conversion that waits; None if none does. Other people's messages are failed at once."""
        while True:
            result = self._open().claim(
                {"topic": TOPIC, "worker_group": GROUP, "worker_instance_id": str(os.getpid()), "lease_s": lease_s}
            )
            claim, message = result["claim"], result["message"]
            if claim is None or message is None:
                return None
            task = _task(message["body"], (claim["id"], claim["token"]))
            if task.content[0]:
                return task
            self.end(task, "failed")

    def end(self, task: Task, status: str, *, again: bool = False) -> None:
        """End the claim; ``again``: with a follow-up, for another try after all that wait now."""
        if task.claim is None:
            return
        follow_up: FollowUp | None = None
        if again:
            body = _body(task.content, task.parser, task.tries + 1)
            follow_up = {"topic": TOPIC, "body": body, "metadata": None}
        number, token = task.claim
        try:
            self._open().complete(
                {"claim_id": number, "token": token, "status": status, "follow_up": follow_up}  # type: ignore[typeddict-item]
            )
        except Conflict:
            return  # its lease ran out: the message is tried again, and nobody waits for it then

    def is_empty(self) -> bool:
        """Whether no message of the topic waits or is claimed."""
        topics = {each["topic"]: each for each in self._open().stats()["topics"]}
        own = topics.get(TOPIC)
        return own is None or not (own["waiting"] or own["active"])


def _body(content: Content, parser: str, tries: int) -> str:
    return json.dumps({"content": content[0].hex(), "plan": content[1].hex(), "parser": parser, "tries": tries})


def _task(body: str, claim: tuple[int, str]) -> Task:
    try:
        found = json.loads(body)
        content = (bytes.fromhex(found["content"]), bytes.fromhex(found["plan"]))
        return Task(content, int(found["tries"]), claim, str(found["parser"]))
    except (ValueError, TypeError, KeyError):
        return Task((b"", b""), 0, claim)
