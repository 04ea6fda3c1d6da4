"""What the daemon needs of a store of agent memory, be it livedex's own or a plugin's.

Invariant: data alone; the built-in store and the one around a plugin's store have the same methods.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from livedex_daemon.precious.answer_bound import first_ones
from livedex_indexing.search.meaning import Meaning
from livedex_ipc.memory_entry import EntryFields, EntryKind
from livedex_ipc.server import message_json


class NewEntry(NamedTuple):
    """An entry to remember. ``metadata`` is a JSON object."""

    content: str
    domain: str = "general"
    kind: EntryKind = "chunk"
    heading: str | None = None
    source: str | None = None
    metadata: dict[str, object] | None = None


class Page(NamedTuple):
    """Some entries, and how many there are in all."""

    entries: list[EntryFields]
    total: int


def bounded(entries: Iterable[EntryFields]) -> list[EntryFields]:
    """Return the entries of one page: the first that fit into an answer as JSON, or the first one."""
    return first_ones(entries, lambda entry: len(message_json.text(entry).encode()))


class FoundEntries(NamedTuple):
    """Some entries, best first, and how many of those that were compared have no vector yet."""

    entries: list[EntryFields]
    pending: int


class Counts(NamedTuple):
    """Entries in all, entries of each domain, and bytes on disk."""

    entries: int
    domains: dict[str, int]
    db_bytes: int


class AgentMemory(Protocol):
    """A store of entries. For one thread at a time. Every method raises Unavailable."""

    @property
    def name(self) -> str:
        """Return what the configuration calls it."""

    @property
    def ranks_by_meaning(self) -> bool:
        """Whether vectors of the daemon can rank the entries, too."""

    def add(self, entry: NewEntry) -> tuple[int, bool]:
        """Return the id of the entry and True, or that of the same content in the domain and False."""

    def search(self, query: str, limit: int, domains: tuple[str, ...] | None = None) -> list[EntryFields]:
        """Return at most ``limit`` entries of some domains (None: of all), best first."""

    def search_by_meaning(
        self, query: str, limit: int, domains: tuple[str, ...] | None, meaning: Meaning
    ) -> FoundEntries | None:
        """Return entries as `search` does, ranked by the vectors of ``meaning``, too; None if others took the place of
        these meanwhile. Call it only if the store ``ranks_by_meaning``."""

    def page(self, domain: str | None, kind: EntryKind | None, limit: int, offset: int) -> Page:
        """Return entries in the order in which they were added."""

    def hot(self, max_chars: int) -> str:
        """Return the entries used last and most as one text of at most ``max_chars`` characters."""

    def remove(self, entry_id: int) -> bool:
        """Delete one entry. Return True if there was one."""

    def counts(self) -> Counts:
        """Return how many entries there are."""

    def close(self) -> None:
        """Release what is open."""
