"""Computes which hits of a standing query were added and removed since the last message, and sends them.

Invariant: the delivered state is exactly what was sent. A file that differs from its indexed state is not shown, and
its former hits are removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from livedex_daemon.subscriptions.delivered import DeliveredFile, DeliveredState
from livedex_daemon.subscriptions.subscription import Dirty, Subscription
from livedex_indexing.hits.document_texts import DocumentTexts
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.live_files import LiveFiles, Stale
from livedex_indexing.search.standing_hits import StandingHits, removed_hit
from livedex_indexing.search.standing_query import FileKey, Found, Part, part_of, parts_of_all
from livedex_indexing.store.read_pool import Reader
from livedex_ipc.server import message_json
from livedex_ipc.wire_results import RemovedHit, SearchChanged

MESSAGE_CHARS: Final = 1 << 20  # approximate size of one message, at most one hit more; the rest follows later
_OF_A_HIT: Final = 800  # characters besides its texts
_OF_A_REMOVED: Final = 300


class ChangeSet:
    """A set of changed files: as they are indexed now, and as they were delivered to each query."""

    def __init__(self, reader: Reader, delivered: DeliveredState, dirty: Dirty) -> None:
        self.dirty = dirty
        self._reader = reader
        self._delivered = delivered
        self._files = {key for key in dirty.files if key[0] not in dirty.roots}

    def parts(self) -> Iterator[Part]:
        if self._files:
            yield self._part
        if self.dirty.roots:
            yield from parts_of_all(self._reader, self.dirty.roots)

    def delivered(self, subscription: int) -> dict[FileKey, DeliveredFile]:
        """Return the delivered state of these files for one query."""
        return {**self._of_files.get(subscription, {}), **self._delivered.of_roots(subscription, self.dirty.roots)}

    @cached_property
    def _part(self) -> Part:
        return part_of(self._reader, self._files)

    @cached_property
    def _of_files(self) -> dict[int, dict[FileKey, DeliveredFile]]:
        return self._delivered.of_files(self._files)


class ChangeSets:
    """The change sets of one round: queries with the same pending files share one."""

    def __init__(self, reader: Reader, delivered: DeliveredState) -> None:
        self._reader = reader
        self._delivered = delivered
        self._made: dict[tuple[frozenset[FileKey], frozenset[int]], ChangeSet] = {}

    def at(self, dirty: Dirty) -> ChangeSet:
        key = frozenset(dirty.files), frozenset(dirty.roots)
        if key not in self._made:
            self._made[key] = ChangeSet(self._reader, self._delivered, dirty)
        return self._made[key]


class AnswerDiff:
    """One round, in which all queries see one state of the index.

    ``paths``: root id to path, including roots that are no longer served.
    """

    def __init__(
        self,
        reader: Reader,
        delivered: DeliveredState,
        roots: Mapping[int, bytes],
        paths: Mapping[int, bytes],
        generation: int,
    ) -> None:
        self._reader = reader
        self._delivered = delivered
        self._roots = roots
        self._known_paths = paths
        self._generation = generation

    def notify(self, subscription: Subscription, changes: ChangeSet) -> tuple[set[FileKey], Stale]:
        """Send the changes.

        Return the files that did not fit into the message, and those that changed on disk or could not be read.
        """
        delivered = changes.delivered(subscription.id)
        stale = Stale()
        seen, new = self._find_changed(subscription, changes, delivered, stale)
        gone = delivered.keys() - seen - stale.keys()
        if not (new or gone):
            return set(), stale
        maker = StandingHits(self._reader, subscription.query, self._roots, subscription.style)
        message = _Message(maker, self._known_paths)
        recorded: dict[FileKey, DeliveredFile | None] = {}
        left = sorted(new.keys() | gone, reverse=True)
        while left and not message.is_full:
            key = left.pop()
            recorded[key], is_done = message.take(key, delivered.get(key), new.get(key))
            if not is_done:
                left.append(key)
        self._delivered.put(subscription.id, recorded)
        if message.added or message.removed:
            self._send(subscription, message.added, message.removed)
        stale.merge(maker.stale)
        return set(left), stale

    def notify_fresh(self, subscription: Subscription) -> None:
        """Tell the client that all that its first answer lacked was sent."""
        self._send(subscription, [], [], fresh=True)

    def _find_changed(
        self,
        subscription: Subscription,
        changes: ChangeSet,
        delivered: Mapping[FileKey, DeliveredFile],
        stale: Stale,
    ) -> tuple[set[FileKey], dict[FileKey, Found]]:
        """Return the files that match the query, and those of them that differ from the delivered state.

        ``stale`` gets the files whose matches are unknown, and the errors of those that could not be read.
        """
        unsure: set[FileKey] = set()
        seen: set[FileKey] = set()
        new: dict[FileKey, Found] = {}
        for part in changes.parts():
            live = LiveFiles(self._roots, DocumentTexts(self._reader))
            for found in subscription.query.found(self._reader, part, self._roots, live, unsure):
                seen.add(found.key)
                if delivered.get(found.key) != DeliveredFile.of(found):
                    new[found.key] = found
            stale.unreadable |= live.stale.unreadable
        stale.update(dict.fromkeys(unsure, False))
        return seen, new

    def _send(
        self, subscription: Subscription, added: list[Hit], removed: list[RemovedHit], *, fresh: bool = False
    ) -> None:
        params: SearchChanged[Hit] = {
            "subscription": subscription.id,
            "added": added,
            "removed": removed,
            "generation": self._generation,
        }
        if fresh:
            params["fresh"] = True
        subscription.call.send_from_thread(message_json.notification("search/changed", params))


class _Message:
    """One message: the changes of whole files and, where it gets full, of a part of one."""

    def __init__(self, maker: StandingHits, paths: Mapping[int, bytes]) -> None:
        self._maker = maker
        self._paths = paths
        self._left = MESSAGE_CHARS
        self.added: list[Hit] = []
        self.removed: list[RemovedHit] = []

    @property
    def is_full(self) -> bool:
        return self._left <= 0

    def take(
        self, key: FileKey, before: DeliveredFile | None, found: Found | None
    ) -> tuple[DeliveredFile | None, bool]:
        """Add what leads from one delivered state of a file to that of ``found``; None: it has no hits any more.

        Return the state that is delivered with this message, and whether nothing is left to be sent.
        """
        if before is not None and found is not None and before.begins(DeliveredFile.of(found)):
            hits = self._hits(found, before.chunks)
            if hits is not None:
                return self._add(found, before.chunks, hits)
            found = None
        if before is not None:
            rest = self._remove(key, before)
            if rest is not None or (self.is_full and found is not None):
                return rest, False
        hits = self._hits(found, 0) if found is not None else None
        return self._add(found, 0, hits) if found is not None and hits is not None else (None, True)

    def _hits(self, found: Found, skipped: int) -> list[Hit] | None:
        return self._maker.of(found, skipped, self._is_enough)

    def _is_enough(self, hit: Hit) -> bool:
        self._left -= _OF_A_HIT + hit.text_chars
        return self.is_full

    def _add(self, found: Found, skipped: int, hits: list[Hit]) -> tuple[DeliveredFile | None, bool]:
        self.added += hits
        whole = DeliveredFile.of(found)
        return whole.first(skipped + len(hits)), skipped + len(hits) == whole.chunks

    def _remove(self, key: FileKey, entry: DeliveredFile) -> DeliveredFile | None:
        """Remove the last hits, as many as fit, at least one. Return what rest, None for nothing."""
        root, path = self._paths[key[0]], key[1]
        kept = max(entry.chunks - max(self._left // _OF_A_REMOVED, 1), 0)
        places = list(entry.places())[kept:]
        self.removed += [
            removed_hit(root, path, entry.content_hash, place.kind, place.start_line, place.end_line)
            for place in places
        ]
        self._left -= len(places) * _OF_A_REMOVED
        return entry.first(kept)
