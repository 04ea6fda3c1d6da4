"""Publishes a message for each content of changed files that a standing query has not published yet.

Invariant: all is read in one state of the index. What a topic does not take is not noted, so that it is published when
it is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from livedex_daemon.exchange.standing_reports import Report, StandingReports, batches
from livedex_daemon.precious.precious_database import DatabaseUnusable
from livedex_daemon.subscriptions.configured_query import ConfiguredQuery
from livedex_daemon.subscriptions.subscription import Dirty
from livedex_indexing.hits.document_texts import DocumentTexts
from livedex_indexing.hits.live_files import LiveFiles, Stale
from livedex_indexing.search.standing_hits import StandingHits
from livedex_indexing.search.standing_query import FileKey, Found, Part, part_of, parts_of_all
from livedex_indexing.store.read_pool import Reader
from livedex_ipc.errors import Unavailable
from livedex_ipc.server import message_json


class IndexState(NamedTuple):
    """One state of the index. ``roots``: id to path."""

    reader: Reader
    roots: dict[int, bytes]
    generation: int


class NewContents(NamedTuple):
    """``published`` is called after each batch of messages."""

    reports: StandingReports
    state: IndexState
    published: Callable[[], None]

    def publish(self, query: ConfiguredQuery, dirty: Dirty) -> tuple[Stale, str | None]:
        """Return the files that are not as they were indexed, and why the topic does not take all; None if it did.

        Raises what reading and writing raise; call it again then.
        """
        stale = Stale()
        for part in _parts(self.state.reader, dirty):
            fault = self._publish_part(query, part, stale)
            if fault is not None:
                return stale, fault
        return stale, None

    def _publish_part(self, query: ConfiguredQuery, part: Part, stale: Stale) -> str | None:
        number, state = query.number, self.state
        assert number is not None
        unsure: set[FileKey] = set()
        live = LiveFiles(state.roots, DocumentTexts(state.reader))
        copies: dict[bytes, list[Found]] = {}
        for found in query.query.found(state.reader, part, state.roots, live, unsure):
            copies.setdefault(found.content.hash, []).append(found)
        stale.merge(live.stale)
        stale.update(dict.fromkeys(unsure, False))
        new = self.reports.unpublished(number, copies)
        maker = StandingHits(state.reader, query.query, state.roots, query.style)
        made = (_report(maker, query, each, state.generation) for content, each in copies.items() if content in new)
        fault = None
        for batch in batches(report for report in made if report is not None):
            fault = self._publish_batch(number, query.config.topic, batch)
            if fault is not None:
                break
        stale.merge(maker.stale)
        return fault

    def _publish_batch(self, number: int, topic: str, batch: Sequence[Report]) -> str | None:
        left = batch
        try:
            while left:
                left = left[self.reports.publish(number, topic, left) :]
                self.published()
        except DatabaseUnusable:
            raise
        except Unavailable as error:
            return error.message
        return None


def _parts(reader: Reader, dirty: Dirty) -> Iterator[Part]:
    files = {key for key in dirty.files if key[0] not in dirty.roots}
    if files:
        yield part_of(reader, files)
    if dirty.roots:
        yield from parts_of_all(reader, dirty.roots)


def _report(maker: StandingHits, query: ConfiguredQuery, copies: list[Found], generation: int) -> Report | None:
    """Return the message of a content, with the hit of the first file that still has it; None if none has."""
    for found in copies:
        hits = maker.of(found)
        if hits:
            metadata = {"query": query.config.query, "generation": generation}
            return Report(found.content.hash, message_json.text(hits[0]), metadata)
    return None
