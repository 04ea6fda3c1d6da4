"""Works out for one standing query what came and what went since it was last told, and tells it.

Invariant: what is remembered as told is what was sent; a file that is not as it was indexed is not shown, and what was
told of its former state is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from livedex_daemon.subscriptions.delivered import Entry, Told
from livedex_daemon.subscriptions.subscription import Dirty, Subscription
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.live_files import LiveFiles
from livedex_indexing.search.standing_hits import StandingHits, removed_hit
from livedex_indexing.search.standing_query import FileKey, Found, Part, part_of, parts_of_all
from livedex_indexing.store.read_pool import Reader
from livedex_ipc.server import message_json

MESSAGE_CHARS: Final = 1 << 20  # about so much is told at once; the rest follows in the next round
_OF_A_HIT: Final = 800  # characters beside its texts
_OF_A_REMOVED: Final = 300


class Look:
    """The files that some standing queries have to be told about, as they are indexed now and as they were told."""

    def __init__(self, reader: Reader, told: Told, dirty: Dirty) -> None:
        self.dirty = dirty
        self._reader = reader
        self._told = told
        self._files = {key for key in dirty.files if key[0] not in dirty.roots}

    def parts(self) -> Iterator[Part]:
        if self._files:
            yield self._part
        if self.dirty.roots:
            yield from parts_of_all(self._reader, self.dirty.roots)

    def told(self, subscription: int) -> dict[FileKey, Entry]:
        """What one query was told of these files."""
        return {**self._of_files.get(subscription, {}), **self._told.of_roots(subscription, self.dirty.roots)}

    @cached_property
    def _part(self) -> Part:
        return part_of(self._reader, self._files)

    @cached_property
    def _of_files(self) -> dict[int, dict[FileKey, Entry]]:
        return self._told.of_files(self._files)


class Looks:
    """The looks of one round: who is owed the same shares one."""

    def __init__(self, reader: Reader, told: Told) -> None:
        self._reader = reader
        self._told = told
        self._made: dict[tuple[frozenset[FileKey], frozenset[int]], Look] = {}

    def at(self, dirty: Dirty) -> Look:
        key = frozenset(dirty.files), frozenset(dirty.roots)
        if key not in self._made:
            self._made[key] = Look(self._reader, self._told, dirty)
        return self._made[key]


class Telling:
    """One round: all queries are told of one state of the index. ``paths``: of roots that are served no more too."""

    def __init__(
        self, reader: Reader, told: Told, roots: Mapping[int, bytes], paths: Mapping[int, bytes], generation: int
    ) -> None:
        self._reader = reader
        self._told = told
        self._roots = roots
        self._paths = paths
        self._generation = generation

    def tell(self, subscription: Subscription, look: Look) -> tuple[set[FileKey], set[FileKey]]:
        """Sends what changed. Returns the files that did not fit into the message, and those that have changed on
        disk meanwhile."""
        told = look.told(subscription.id)
        unsure: set[FileKey] = set()
        seen, new = self._came(subscription, look, told, unsure)
        gone = told.keys() - seen - unsure
        if not (new or gone):
            return set(), unsure
        maker = StandingHits(self._reader, subscription.query, self._roots, subscription.style)
        added: list[Hit] = []
        removed: list[dict[str, Any]] = []
        noted: dict[FileKey, Entry | None] = {}
        left = sorted(new.keys() | gone, reverse=True)
        size = 0
        while left and size < MESSAGE_CHARS:
            key = left.pop()
            hits = maker.of(new[key]) if key in new else None
            noted[key] = Entry.of(new[key]) if hits is not None else None
            before = self._removed(key, told[key]) if key in told else []
            added += hits or []
            removed += before
            size += sum(map(_size, hits or [])) + len(before) * _OF_A_REMOVED
        self._told.put(subscription.id, noted)
        if added or removed:
            self._send(subscription, added, removed)
        return set(left), unsure | maker.stale

    def _came(
        self, subscription: Subscription, look: Look, told: Mapping[FileKey, Entry], unsure: set[FileKey]
    ) -> tuple[set[FileKey], dict[FileKey, Found]]:
        """The files that are in the query, and those of them that are in it otherwise than was told."""
        seen: set[FileKey] = set()
        new: dict[FileKey, Found] = {}
        for part in look.parts():
            live = LiveFiles(self._roots)
            for found in subscription.query.found(self._reader, part, self._roots, live, unsure):
                seen.add(found.key)
                if told.get(found.key) != Entry.of(found):
                    new[found.key] = found
        return seen, new

    def _removed(self, key: FileKey, entry: Entry) -> list[dict[str, Any]]:
        root_id, path = key
        root = self._paths[root_id]
        return [
            removed_hit(root, path, entry.content_hash, place.kind, place.start_line, place.end_line)
            for place in entry.places()
        ]

    def _send(self, subscription: Subscription, added: list[Hit], removed: list[dict[str, Any]]) -> None:
        params = {
            "subscription": subscription.id,
            "added": added,
            "removed": removed,
            "generation": self._generation,
        }
        subscription.call.send_from_thread(message_json.notification("search/changed", params))


def _size(hit: Hit) -> int:
    return _OF_A_HIT + hit.text_chars
