"""A client of a standing query that keeps what it was sent: this must add up to the answer of the query.

Invariant: it accepts a removal only of what it has, and an addition only of what it does not have.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from livedex_ipc.client import Client
from livedex_ipc.errors import TimedOut

WAIT_S = 20.0
SPARE_MS = (0, 200, 500, 2_000)


class Place(NamedTuple):
    """Return the identity of a hit."""

    path: str
    kind: str
    start_line: int
    end_line: int
    content_hash: str


def place_of(hit: Mapping[str, Any]) -> Place:
    return Place(hit["path"], hit["kind"], hit["start_line"], hit["end_line"], hit["content_hash"])


def _subscribed(client: Client, params: dict[str, Any]) -> dict[str, Any]:
    """Subscribe, with some time more where a busy machine takes longer even for an answer that waits for nothing."""
    for spare in SPARE_MS:
        with suppress(TimedOut):
            answer: dict[str, Any] = client.call(
                "search/subscribe", {**params, "timeout_ms": params["timeout_ms"] + spare}
            )
            return answer
    raise AssertionError(f"no answer within {SPARE_MS[-1]} ms more than {params['timeout_ms']} ms")


class Following:
    """Subscribes, and takes notifications on demand. One for each connection."""

    def __init__(self, client: Client, query: str, **params: Any) -> None:
        self.client = client
        self.answer = _subscribed(client, {"query": query, "limit": 1000, "timeout_ms": 20_000, **params})
        self.id = self.answer["subscription"]
        self.held = Counter(map(place_of, self.answer["hits"]))
        self.generation = self.answer["generation"]
        self.changes: list[dict[str, Any]] = []
        self.fresh: bool = self.answer["fresh"]

    @property
    def names(self) -> set[str]:
        """Return the last parts of the paths with hits."""
        return {place.path.rpartition("/")[2] for place in self.held}

    def next(self, timeout_s: float = WAIT_S) -> dict[str, Any]:
        """Take the next change."""
        change: dict[str, Any]
        method, change = self.client.notification(timeout_s)
        assert (method, change["subscription"]) == ("search/changed", self.id)
        assert change["generation"] >= self.generation
        assert change["added"] or change["removed"] or change["fresh"]
        assert not (self.fresh and "fresh" in change), "told once"
        self.fresh |= change.get("fresh", False)
        self.generation = change["generation"]
        self._apply(change["removed"], change["added"])
        self.changes.append(change)
        return change

    def last(self, what: str) -> dict[str, Any]:
        """Return the last hit that was ``added`` or ``removed``."""
        hits = [hit for change in self.changes for hit in change[what]]
        found: dict[str, Any] = hits[-1]
        return found

    def _apply(self, removed: Iterable[dict[str, Any]], added: Iterable[dict[str, Any]]) -> None:
        for hit in removed:
            assert self.held[place_of(hit)] > 0, f"never reported: {hit}"
            self.held[place_of(hit)] -= 1
        self.held = +self.held
        for hit in added:
            self.held[place_of(hit)] += 1

    def until(self, wanted: Counter[Place] | set[str]) -> None:
        """Take changes until the hits are ``wanted``: exactly these hits, or hits of files of exactly these names."""
        deadline = time.monotonic() + WAIT_S
        while (self.names if isinstance(wanted, set) else self.held) != wanted:
            try:
                self.next(max(0.001, deadline - time.monotonic()))
            except TimedOut:
                raise AssertionError(self._lacks(wanted)) from None

    def until_fresh(self) -> None:
        """Take changes until the client is told that its answer is fresh."""
        while not self.fresh:
            self.next()

    def _lacks(self, wanted: Counter[Place] | set[str]) -> str:
        if isinstance(wanted, set):
            return f"reported so far: {self.names}; wanted: {wanted}"
        missing, wrong = list(wanted - self.held), list(self.held - wanted)
        return f"{len(missing)} not reported: {missing[:3]}; {len(wrong)} still held: {wrong[:3]}"


def now(client: Client, query: str, **params: Any) -> Counter[Place]:
    """Return the first answer of a new standing query, on its own connection."""
    made = Following(client, query, **params)
    assert made.answer["fresh"], {**made.answer, "hits": len(made.answer["hits"])}
    assert len(made.answer["hits"]) < 1000, "there may be more"
    client.call("search/unsubscribe", {"subscription": made.id})
    return made.held
