"""The types of what the methods of agent memory answer: entries and their counts.

Invariant: as that of ``wire_results``.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from livedex_ipc.wire_results import JsonObject

EntryKind = Literal["chunk", "finding"]


class EntryFields(TypedDict):
    """An entry of agent memory. ``used_at`` is null if no search returned it yet; ``score`` is 0 outside a search.

    ``created_at`` is null only where a plugin's store does not know it.
    """

    id: int
    content: str
    domain: str
    heading: str | None
    kind: EntryKind
    source: str | None
    score: float
    created_at: str | None
    used_at: str | None
    uses: int
    metadata: JsonObject


class AddedResult(TypedDict):
    id: int
    created: bool


class EntriesResult(TypedDict):
    entries: list[EntryFields]


class EntryListResult(EntriesResult):
    total: int


class HotResult(TypedDict):
    text: str


class DeletedResult(TypedDict):
    deleted: bool


class KnowledgeStatsResult(TypedDict):
    backend: str
    entries: int
    domains: dict[str, int]
    db_bytes: int
