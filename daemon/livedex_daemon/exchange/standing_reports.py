"""What the standing queries of the configuration have published: each content once, and none that was there before.

Invariant: a content is noted in the transaction that publishes its message, so that a kill leaves both or neither.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import apsw

from livedex_daemon.config.settings import ExchangeConfig, StandingConfig
from livedex_daemon.exchange import conversations
from livedex_daemon.exchange.exchange_store import SCHEMA
from livedex_daemon.exchange.messages import Draft
from livedex_daemon.precious.precious_database import PreciousDatabase, first_row, rows
from livedex_ipc.errors import Unavailable

PRODUCER: Final = "livedex"
LEAST_BODY: Final = 1 << 20  # bytes: a hit is never refused as too large, whatever `max_body` is
MOST_PUBLISHED: Final = 100  # messages of one transaction, so that others may write in between

_KEEP: Final = "INSERT OR IGNORE INTO standing_queries (query, topic) VALUES (?, ?)"
_FORGET: Final = ("standing_contents WHERE query_id", "standing_roots WHERE query_id", "standing_queries WHERE id")
_NOTE: Final = "INSERT OR IGNORE INTO standing_contents VALUES (?, ?)"
_IS_NOTED: Final = "SELECT 1 FROM standing_contents WHERE query_id = ? AND content_hash = ?"


class Report(NamedTuple):
    """The message of one content: a hit as JSON, and the message's metadata."""

    content_hash: bytes
    body: str
    metadata: dict[str, Any]


class Left(NamedTuple):
    """What was taken out of the configuration, and may be in it again."""

    queries: frozenset[StandingConfig] = frozenset()
    roots: frozenset[bytes] = frozenset()

    def without(self, noted: Left) -> Left:
        return Left(self.queries - noted.queries, self.roots - noted.roots)


class StandingReports:
    """One connection to ``exchange.db``. For one thread at a time. Every method raises DatabaseUnusable."""

    def __init__(self, path: str) -> None:
        self._limits = ExchangeConfig()
        self._database = PreciousDatabase(path, SCHEMA)

    def close(self) -> None:
        self._database.close()

    def use_limits(self, limits: ExchangeConfig) -> None:
        self._limits = replace(limits, max_body=max(limits.max_body, LEAST_BODY))

    def keep(
        self, queries: Collection[StandingConfig], roots: Collection[bytes] | None, left: Left
    ) -> dict[StandingConfig, int]:
        """Return the number of each query. What is noted of others is forgotten, and where news begin in other roots.

        ``roots``: the paths of all roots, None if they are not known now. What ``left`` begins again if it came back.
        """
        with self._database.reading() as db:
            known = _numbers(db)
            if (
                not _gone_queries(known, queries, left)
                and not _gone_roots(db, roots, left)
                and known.keys() >= {*queries}
            ):
                return known
        with self._database.transaction(durable=True) as db:
            for number in _gone_queries(_numbers(db), queries, left):
                for table in _FORGET:
                    db.execute(f"DELETE FROM {table} = ?", (number,))
            gone = [(path,) for path in _gone_roots(db, roots, left)]
            db.executemany("DELETE FROM standing_roots WHERE path = ?", gone)
            db.executemany(_KEEP, [(each.query, each.topic) for each in queries])
            return _numbers(db)

    def numbers(self) -> dict[StandingConfig, int]:
        """Return the number of each query that the exchange knows."""
        with self._database.reading() as db:
            return _numbers(db)

    def known_roots(self, number: int) -> set[bytes]:
        """Return the paths of the roots whose first contents the query has noted."""
        with self._database.reading() as db:
            return {path for (path,) in rows(db, "SELECT path FROM standing_roots WHERE query_id = ?", (number,))}

    def begin(self, number: int, roots: Iterable[bytes], contents: Iterable[bytes]) -> None:
        """Note that these contents were in these roots from the first: they are never published."""
        with self._database.transaction(durable=True) as db:
            db.executemany(_NOTE, [(number, each) for each in contents])
            db.executemany("INSERT OR IGNORE INTO standing_roots VALUES (?, ?)", [(number, path) for path in roots])

    def unpublished(self, number: int, contents: Iterable[bytes]) -> set[bytes]:
        """Return those of the contents that are not noted."""
        with self._database.reading() as db:
            return {each for each in contents if first_row(db, _IS_NOTED, (number, each)) is None}

    def publish(self, number: int, topic: str, reports: Sequence[Report]) -> int:
        """Publish and note the first ``MOST_PUBLISHED`` reports, but no content twice.

        Return how many are done: fewer if the topic is full. Raises Unavailable if it takes none.
        """
        done = 0
        with self._database.transaction(durable=True) as db:
            for report in reports[:MOST_PUBLISHED]:
                if first_row(db, _IS_NOTED, (number, report.content_hash)) is None:
                    draft = Draft(topic, report.body, producer=PRODUCER, metadata=report.metadata)
                    try:
                        conversations.publish(db, draft, self._limits)
                    except Unavailable:
                        if not done:
                            raise
                        break
                    db.execute(_NOTE, (number, report.content_hash))
                done += 1
        return done


def _numbers(db: apsw.Connection) -> dict[StandingConfig, int]:
    found = rows(db, "SELECT id, query, topic FROM standing_queries")
    return {StandingConfig(query, topic): number for number, query, topic in found}


def _gone_queries(known: dict[StandingConfig, int], queries: Collection[StandingConfig], left: Left) -> list[int]:
    return [number for each, number in known.items() if each not in queries or each in left.queries]


def _gone_roots(db: apsw.Connection, roots: Collection[bytes] | None, left: Left) -> list[bytes]:
    known = [path for (path,) in rows(db, "SELECT DISTINCT path FROM standing_roots")]
    return [path for path in known if path in left.roots or (roots is not None and path not in roots)]


def batches(reports: Iterable[Report]) -> Iterator[list[Report]]:
    """Yield as many reports at once as one transaction takes."""
    batch: list[Report] = []
    for report in reports:
        batch.append(report)
        if len(batch) == MOST_PUBLISHED:
            yield batch
            batch = []
    if batch:
        yield batch
