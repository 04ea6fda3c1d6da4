"""Agent memory in a plugin's store.

Invariant: whatever the plugin does, each call ends within ``CALL_S``, with a result of the right type or with
Unavailable, which names the plugin; ``report`` hears of each failure and of the first call that works again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from livedex_daemon.knowledge.agent_memory import Counts, FoundEntries, NewEntry, Page, bounded
from livedex_indexing.plugins import KnowledgeBackend
from livedex_indexing.plugins.registry import described
from livedex_indexing.plugins.time_limit import LimitedCalls
from livedex_indexing.search.meaning import Meaning
from livedex_ipc.errors import Unavailable
from livedex_ipc.memory_entry import EntryFields, EntryKind

CALL_S: Final = 10.0

T = TypeVar("T")


class _Nonsense(Exception):
    """What the store returned is not what its Protocol says; the message says how."""


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
            number = self._call(lambda: self._store.add_finding(entry.content, **_of_finding(entry)))
        else:
            given = _given({"heading": entry.heading, "source": entry.source, "metadata": entry.metadata})
            number = self._call(lambda: self._store.add_chunk(entry.content, entry.domain, **given))
        if isinstance(number, bool) or not isinstance(number, int):
            raise self._unusable("it stored the entry nowhere")
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
        entries = self._call(lambda: _entry_list(self._store.list_chunks()))
        wanted = [entry for entry in entries if domain in (None, entry["domain"]) and kind in (None, entry["kind"])]
        return Page(bounded(wanted[offset : offset + limit]), len(wanted))

    def hot(self, max_chars: int) -> str:
        def text() -> str:
            found = self._store.get_hot_memory(max_chars)
            if not isinstance(found, str):
                raise _Nonsense("get_hot_memory does not return text")
            return str(found)[:max_chars]

        return self._call(text)

    def remove(self, entry_id: int) -> bool:
        return self._call(lambda: bool(self._store.delete_by_id(entry_id)))

    def counts(self) -> Counts:
        return self._call(lambda: _counts(self._store.stats()))

    def _found(self, query: str, limit: int, domain: str | None) -> list[EntryFields]:
        return self._call(lambda: _entry_list(self._store.search(query, limit, domain=domain)))[:limit]

    def _call(self, action: Callable[[], T]) -> T:
        try:
            result = self._calls.run(CALL_S, action)
        except _Nonsense as fault:
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


def _counts(stats: object) -> Counts:
    if not isinstance(stats, Mapping) or "entries" not in stats:
        raise _Nonsense("stats lacks entries")
    given = stats.get("domains")
    domains = {str(name): _integer(count) for name, count in given.items()} if isinstance(given, Mapping) else {}
    return Counts(_integer(stats["entries"]), domains, _integer(stats.get("db_bytes")))


def _entry_list(entries: object) -> list[EntryFields]:
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise _Nonsense("it does not return a list of entries")
    return [_fields(entry) for entry in entries]


def _fields(entry: Mapping[str, Any]) -> EntryFields:
    """Return an entry with every field, whatever the plugin gives."""
    metadata = entry.get("metadata")
    return {
        "id": _integer(entry.get("id")),
        "content": str(entry.get("content", "")),
        "domain": str(entry.get("domain") or "general"),
        "heading": _text(entry.get("heading")),
        "kind": "finding" if entry.get("kind") == "finding" else "chunk",
        "source": _text(entry.get("source")),
        "score": _number(entry.get("score")),
        "created_at": _text(entry.get("created_at")),
        "used_at": _text(entry.get("used_at")),
        "uses": _integer(entry.get("uses")),
        "metadata": _json(metadata) if isinstance(metadata, Mapping) else {},
    }


def _json(metadata: Mapping[str, object]) -> dict[str, object]:
    try:
        return dict(json.loads(json.dumps(dict(metadata), allow_nan=False)))
    except (TypeError, ValueError, RecursionError):
        raise _Nonsense("the metadata of an entry is no JSON") from None


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _integer(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0
