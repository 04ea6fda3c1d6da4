"""The type of an entry of agent memory, which several results have, and of open JSON.

Invariant: as that of ``wire_results``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

JsonObject = Mapping[str, object]
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


class MemoryFound(TypedDict):
    """What a search has that was asked to search agent memory, too."""

    knowledge: NotRequired[list[EntryFields]]
