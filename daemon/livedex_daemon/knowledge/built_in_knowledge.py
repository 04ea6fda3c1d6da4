"""The built-in store with the methods of the plugins' Protocol, for plugins that build on it.

Invariant: it passes ``check_knowledge``, and what it stores is what the daemon's own methods store.
"""

from __future__ import annotations

from typing import cast

from livedex_daemon.knowledge.agent_memory import NewEntry
from livedex_daemon.knowledge.knowledge_store import KnowledgeStore
from livedex_ipc.memory_entry import EntryKind

_ALL = 1_000_000


class BuiltInKnowledge:
    """A ``KnowledgeBackend`` over one file. For one thread at a time. Every method raises DatabaseUnusable."""

    def __init__(self, path: str) -> None:
        self._store = KnowledgeStore(path)

    def close(self) -> None:
        self._store.close()

    def add_chunk(self, content: str, domain: str = "general", **kw: object) -> int | None:
        """Return the id of the entry. ``kw`` may have ``heading``, ``source`` and ``metadata``."""
        return self._store.add(_entry(content, domain, "chunk", kw))[0]

    def add_finding(self, *a: object, **kw: object) -> object:
        """Return the id of the entry. Words: ``content``, ``source``, ``confidence``; also ``domain`` (findings),
        ``heading`` and ``metadata``."""
        words = {**dict(zip(("content", "source", "confidence"), a, strict=False)), **kw}
        metadata = {**cast(dict[str, object], words.get("metadata") or {})}
        if words.get("confidence") is not None:
            metadata["confidence"] = words["confidence"]
        given = {**words, "metadata": metadata}
        domain = str(words.get("domain", "findings"))
        return self._store.add(_entry(str(words["content"]), domain, "finding", given))[0]

    def search(self, query: str, k: int = 5, *, domain: str | None = None) -> list[dict[str, object]]:
        found = self._store.search(query, k, None if domain is None else (domain,))
        return [dict(entry) for entry in found]

    def get_hot_memory(self, max_chars: int = 6000) -> str:
        return self._store.hot(max_chars)

    def list_chunks(self, *a: object, **kw: object) -> list[dict[str, object]]:
        """Return the entries, newest last; ``domain``, the first word, limits them to one domain."""
        domain = a[0] if a else kw.get("domain")
        found: list[dict[str, object]] = []
        while page := self._store.page(None if domain is None else str(domain), None, _ALL, len(found)).entries:
            found += map(dict, page)
        return found

    def stats(self) -> dict[str, object]:
        return dict(self._store.counts()._asdict())

    def delete_by_id(self, chunk_id: int) -> bool:
        return self._store.remove(chunk_id)


def _entry(content: str, domain: str, kind: EntryKind, given: dict[str, object]) -> NewEntry:
    heading, source = given.get("heading"), given.get("source")
    return NewEntry(
        content,
        domain,
        kind,
        None if heading is None else str(heading),
        None if source is None else str(source),
        cast(dict[str, object], given.get("metadata") or {}),
    )
