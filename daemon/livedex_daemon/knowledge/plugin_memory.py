"""Agent memory in a plugin's store.

Invariant: whatever the plugin does, each call ends within ``CALL_S``, with a result of the right type or with
Unavailable, which names the plugin; ``report`` hears of each failure and of the first call that works again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, TypeVar

from livedex_daemon.knowledge.agent_memory import Counts, FoundEntries, NewEntry, Page, bounded
from livedex_indexing.conformance import (
    EntryId,
    KnowledgeEntry,
    KnowledgeStats,
    Nonsense,
    knowledge_answer,
    knowledge_entries,
)
from livedex_indexing.hits.answer_json import rfc3339_of_seconds
from livedex_indexing.plugins import KnowledgeBackend
from livedex_indexing.plugins.registry import described
from livedex_indexing.plugins.time_limit import LimitedCalls
from livedex_indexing.search.meaning import Meaning
from livedex_ipc.errors import Unavailable
from livedex_ipc.memory_entry import EntryFields, EntryKind

CALL_S: Final = 10.0

T = TypeVar("T")


class PluginMemory:
    """``report`` gets the reason why the store failed, None when it works."""

    ranks_by_meaning = False

    def __init__(
        self, name: str, store: KnowledgeBackend, report: Callable[[str | None], None], calls: LimitedCalls
    ) -> None:
        self.name = name
        self._store = store
        self._report = report
        self._calls = calls

    def close(self) -> None:
        """Close the store if it can be closed."""
        self._calls.close(CALL_S, self._store)

    def add(self, entry: NewEntry) -> tuple[int, bool]:
        """Raise Unavailable also if the store keeps the entry nowhere."""
        before = self.counts().entries
        if entry.kind == "finding":
            number = self._answer("add_finding", EntryId, entry.content, **_of_finding(entry))
        else:
            given = _given({"heading": entry.heading, "source": entry.source, "metadata": entry.metadata})
            number = self._answer("add_chunk", EntryId, entry.content, entry.domain, **given)
        return number, self.counts().entries > before

    def search(self, query: str, limit: int, domains: tuple[str, ...] | None = None) -> list[EntryFields]:
        if domains is None:
            return self._found(query, limit, None)
        found = [entry for domain in domains for entry in self._found(query, limit, domain)]
        return sorted(found, key=lambda entry: -entry["score"])[:limit]

    def search_by_meaning(
        self, query: str, limit: int, domains: tuple[str, ...] | None, meaning: Meaning
    ) -> FoundEntries:
        """Return what the store finds by itself."""
        return FoundEntries(self.search(query, limit, domains), 0)

    def page(self, domain: str | None, kind: EntryKind | None, limit: int, offset: int) -> Page:
        entries = self._call(lambda: _fields(knowledge_entries("list_chunks", self._store.list_chunks())))
        wanted = [entry for entry in entries if domain in (None, entry["domain"]) and kind in (None, entry["kind"])]
        return Page(bounded(wanted[offset : offset + limit]), len(wanted))

    def hot(self, max_chars: int) -> str:
        return self._answer("get_hot_memory", str, max_chars)[:max_chars]

    def remove(self, entry_id: int) -> bool:
        return self._answer("delete_by_id", bool, entry_id)

    def counts(self) -> Counts:
        found = self._answer("stats", KnowledgeStats)
        return Counts(found.entries, found.domains or {}, found.db_bytes or 0)

    def _found(self, query: str, limit: int, domain: str | None) -> list[EntryFields]:
        def found() -> list[EntryFields]:
            return _fields(knowledge_entries("search", self._store.search(query, limit, domain=domain), domain))

        return self._call(found)[:limit]

    def _answer(self, method: str, kind: type[T], *words: object, **more: object) -> T:
        return self._call(lambda: knowledge_answer(method, getattr(self._store, method)(*words, **more), kind))

    def _call(self, action: Callable[[], T]) -> T:
        try:
            result = self._calls.run(CALL_S, action)
        except Nonsense as fault:
            raise self._unusable(str(fault)) from None
        except Exception as fault:  # a plugin may raise anything
            raise self._unusable(described(fault)) from fault
        self._report(None)
        return result

    def _unusable(self, reason: str) -> Unavailable:
        message = f"the knowledge store {self.name!r} failed: {reason}"
        self._report(f"{message}; it is tried again by each call")
        return Unavailable(
            f"{message}; `livedex plugins check` says what it lacks, and"
            ' knowledge.backend = "" goes back to the built-in store',
            {"backend": self.name},
        )


def _of_finding(entry: NewEntry) -> dict[str, object]:
    """Return the arguments of a finding. Its usual domain is not named: a store may have its own word for it."""
    metadata = dict(entry.metadata or {})
    confidence = metadata.pop("confidence", None)
    domain = None if entry.domain == "findings" else entry.domain
    return _given({"source": entry.source, "confidence": confidence, "metadata": metadata, "domain": domain})


def _given(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value}


def _fields(entries: list[KnowledgeEntry]) -> list[EntryFields]:
    """Return the entries with every field."""
    return [
        {
            "id": entry.id,
            "content": entry.content,
            "domain": entry.domain,
            "heading": entry.heading,
            "kind": entry.kind or "chunk",
            "source": entry.source,
            "score": entry.score or 0.0,
            "created_at": _time(entry.created_at),
            "used_at": _time(entry.used_at),
            "uses": entry.uses or 0,
            "metadata": entry.metadata or {},
        }
        for entry in entries
    ]


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339_of_seconds(moment.timestamp())
