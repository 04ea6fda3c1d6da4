"""The types of what the methods of agent memory answer: entries and their counts.

Invariant: as that of ``wire_results``.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from livedex_ipc.memory_entry import EntryFields
from livedex_ipc.wire_results import AnswerWarning


class AddedResult(TypedDict):
    id: int
    created: bool


class EntriesResult(TypedDict):
    entries: list[EntryFields]


class FoundEntriesResult(EntriesResult):
    """``vectors_pending``: entries without a vector yet; only where vectors were compared."""

    mode: Literal["keyword", "hybrid", "semantic"]
    warnings: list[AnswerWarning]
    vectors_pending: NotRequired[int]


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
