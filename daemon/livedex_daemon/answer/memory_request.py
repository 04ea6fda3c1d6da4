"""Searches a store of agent memory: by words, by meaning, or both, as far as the store and the embedder can.

Invariant: a search without vectors is the keyword search that it would have been, and says so if they were asked for.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from livedex_daemon.knowledge.agent_memory import AgentMemory
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.hits.answer_json import warning
from livedex_indexing.search.meaning import Semantics, WithoutVectors, meaning_in_mode
from livedex_ipc.memory_entry import EntryFields
from livedex_ipc.wire_results import AnswerWarning

_EXPLICIT: Final = ("hybrid", "semantic")


class MemoryRequest(NamedTuple):
    """What is searched for. ``domains``: None for all; ``mode``: ``auto``, ``keyword``, ``semantic`` or ``hybrid``."""

    query: str
    limit: int
    domains: tuple[str, ...] | None
    mode: str = "auto"


class MemoryAnswer(NamedTuple):
    """Entries, best first. ``mode``: the one that was used; ``pending``: how many of the entries that were compared
    have no vector yet, None if none were."""

    entries: list[EntryFields]
    mode: Literal["keyword", "hybrid", "semantic"] = "keyword"
    warnings: tuple[AnswerWarning, ...] = ()
    pending: int | None = None


def searched(store: AgentMemory, request: MemoryRequest, semantics: Semantics, seconds: float) -> MemoryAnswer:
    """Search. The vector of the query comes within ``seconds``, or words alone count. Raises Unavailable."""
    query, limit, domains, mode = request
    if not store.ranks_by_meaning:
        warnings = (_by_itself(store.name),) if mode in _EXPLICIT else ()
        return MemoryAnswer(store.search(query, limit, domains), warnings=warnings)
    meaning = meaning_in_mode(query, mode, semantics, seconds)
    if meaning.vectors is None:
        return MemoryAnswer(store.search(query, limit, domains), warnings=meaning.warnings)
    try:
        found = store.search_by_meaning(query, limit, domains, meaning)
    except EmbedderUnavailable as fault:
        return searched(store, request, WithoutVectors(meaning.pending, str(fault)), seconds)
    if found is None:
        return searched(store, request, semantics, seconds)
    return MemoryAnswer(found.entries, meaning.mode, meaning.warnings, found.pending)


def _by_itself(store: str) -> AnswerWarning:
    message = f"the store {store!r} ranks by itself: its entries have no vectors here"
    return warning("embedder_unavailable", message, "use mode `keyword` or `auto`")
