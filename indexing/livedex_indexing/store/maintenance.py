"""Keeps the index file small and clean while nobody waits: merges postings, gives pages back, checks itself.

Invariant: every step is a short transaction of its own, so that a writer waits for one step at most; after the last
one no byte of a forgotten text is left in the file or its log.

FTS5 removes a row by a mark; its words go when the segment that holds them is written anew. To write all of them takes
as long as the index is large, so it is done for what is to be forgotten and else once in a while; what edits leave
behind is merged among itself, which costs what was edited.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Final

import apsw

from livedex_indexing.store.contents import LONG_AGO
from livedex_indexing.store.database import BUSY_MS, fetch, varints
from livedex_indexing.store.sql import IN_CONTENT

_MERGE_PAGES: Final = 250  # of one step: about 12 ms
_VACUUM_PAGES: Final = 1_000
_FRAGMENTS: Final = 12  # segments of one table from which a merge pays for searches
_TABLES: Final = ("postings", "exact", "paths")

# Of each segment the pages it begins words on, which is nearly all of its pages: how many segments, the largest, all.
_SPREAD = "SELECT count(*), max(pages), total(pages) FROM (SELECT count(*) AS pages FROM {}_idx GROUP BY segid)"
_UNMERGED = "SELECT value FROM state WHERE name = 'unmerged'"
_MERGED = "UPDATE state SET value = 0 WHERE name = 'unmerged'"

# Each query lists what must not be: a word for it and the first few ids.
_CHECKS: Final = {
    "files that point at no content": """SELECT id FROM files
        WHERE content_id IS NOT NULL AND content_id NOT IN (SELECT id FROM contents)""",
    "indexed files without a content": "SELECT id FROM files WHERE status = 0 AND content_id IS NULL",
    "files of other status with a content": "SELECT id FROM files WHERE status <> 0 AND content_id IS NOT NULL",
    "files in no root": "SELECT id FROM files WHERE root_id NOT IN (SELECT id FROM roots)",
    "files without words of their path": "SELECT id FROM files EXCEPT SELECT id FROM paths_docsize",
    "words of paths without a file": "SELECT id FROM paths_docsize EXCEPT SELECT id FROM files",
    "chunks without postings": "SELECT id FROM chunks EXCEPT SELECT id FROM postings_docsize",
    "postings without a chunk": "SELECT id FROM postings_docsize EXCEPT SELECT id FROM chunks",
    "contents without their words": "SELECT id FROM contents WHERE chunks > 0 EXCEPT SELECT id FROM exact_docsize",
    "words without a content": "SELECT id FROM exact_docsize EXCEPT SELECT id FROM contents WHERE chunks > 0",
    "frontmatter without a content": "SELECT content_id FROM properties EXCEPT SELECT id FROM contents",
    "chunks outside their content": f"""SELECT c.id FROM chunks c LEFT JOIN contents t ON t.id = c.content_id
        WHERE t.id IS NULL OR NOT {IN_CONTENT}""",
    "contents whose chunks are not there": f"""SELECT id FROM contents t WHERE chunks <>
        (SELECT count(*) FROM chunks c WHERE {IN_CONTENT})""",
    "unused contents not marked so": """SELECT id FROM contents t WHERE unused_since IS NULL
        AND NOT EXISTS (SELECT 1 FROM files WHERE content_id = t.id)""",
    "contents in use marked unused": """SELECT id FROM contents t WHERE unused_since IS NOT NULL
        AND EXISTS (SELECT 1 FROM files WHERE content_id = t.id)""",
    "chunks wrongly alive or dead": """SELECT c.id FROM chunks c JOIN contents t ON t.id = c.content_id
        WHERE (t.unused_since IS NOT NULL) <> (c.id IN (SELECT id FROM dead))""",
    "dead marks without a chunk": "SELECT id FROM dead EXCEPT SELECT id FROM chunks",
}


def maintain(db: apsw.Connection, collect: Callable[[], bool], until: float, budget_s: float) -> bool:
    """Runs steps until nothing is left (True) or ``budget_s`` is over (False). ``collect`` says whether it did work;
    no word is kept of what was removed up to ``until``, seconds since the epoch."""
    ends = time.monotonic() + budget_s
    steps = _steps(db, collect, until)
    for _ in steps:
        if time.monotonic() >= ends:
            steps.close()
            return False
    return True


def is_scattered(db: apsw.Connection) -> bool:
    """Whether words stand in so many segments of like size, as bulk work leaves them, that searches take twice as long
    (measured after a first index: a mean of 9 ms by 6, of the slowest hundredth 40 by 17)."""
    segments, largest, pages = db.execute(_SPREAD.format("postings")).get
    return bool(segments >= _FRAGMENTS and 2 * largest < pages)


def merge(db: apsw.Connection, budget_s: float) -> bool:
    """Runs steps of `maintain` that merge postings until each table is one segment (True) or ``budget_s`` is over."""
    ends = time.monotonic() + budget_s
    for table in _TABLES:
        if _segments(db, table) > 1:
            for _ in _merge_all(db, table):
                if time.monotonic() >= ends:
                    return False
    return True


def checkpoint(db: apsw.Connection) -> bool:
    """False where a reader still needs the log. Does not wait for it: the busy timeout would hold the writer up."""
    db.set_busy_timeout(0)
    try:
        return not fetch(db, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
    finally:
        db.set_busy_timeout(BUSY_MS)


def fold(db: apsw.Connection) -> bool:
    """Copies the log into the file as far as readers let it; True when that was all of it."""
    _, pages, done = fetch(db, "PRAGMA wal_checkpoint(PASSIVE)")[0]
    return bool(pages == done)


def integrity(db: apsw.Connection) -> list[str]:
    """What is wrong, in words, empty when all is sound; at most a few ids each. Reads all of the file.

    SQLite's own check (which FTS5 joins) proves the structure, ours that the tables agree.
    """
    try:
        faults = [str(row[0]) for row in fetch(db, "PRAGMA integrity_check(20)") if row[0] != "ok"]
        for what, query in _CHECKS.items():
            ids = [row[0] for row in fetch(db, f"{query} LIMIT 5")]
            if ids:
                faults.append(f"{what}: {', '.join(map(str, ids))}")
        for table in _TABLES:
            faults += _wrong_totals(db, table)
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return [f"damaged: {error}"]
    return faults


def _wrong_totals(db: apsw.Connection, table: str) -> list[str]:
    """Ranking divides by how long the rows of a table are on average: the sums that it takes that from."""
    kept = fetch(db, f"SELECT block FROM {table}_data WHERE id = 1")
    rows = 0
    sums: list[int] = []
    for (sizes,) in db.execute(f"SELECT sz FROM {table}_docsize"):
        counts = varints(sizes)
        sums = [have + more for have, more in zip(sums, counts, strict=True)] if rows else counts
        rows += 1
    totals = varints(kept[0][0]) if kept else []
    return [] if totals == [rows, *sums] or not (rows or any(totals)) else [f"the totals of {table} are wrong"]


def _steps(db: apsw.Connection, collect: Callable[[], bool], until: float) -> Generator[None]:
    while collect():
        yield
    unmerged_since = int(db.execute(_UNMERGED).get)
    if 0 < unmerged_since <= max(LONG_AGO, until):
        for table in _TABLES:
            yield from _merge_all(db, table)
        db.execute(_MERGED)
    else:
        for table in _TABLES:
            yield from _merge(db, table)
    while int(db.pragma("freelist_count")):
        # Freed pages are zeroed already (secure_delete); giving them back keeps the file at the size of the index.
        before = int(db.pragma("page_count"))
        fetch(db, f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")
        yield
        if int(db.pragma("page_count")) == before:
            break
    if not checkpoint(db):
        yield


def _merge_all(db: apsw.Connection, table: str) -> Generator[None]:
    """Brings a table to one segment, which holds nothing of what was deleted.

    A negative step makes one level of all segments, as 'optimize' would at one go; positive steps carry on. Once more
    then: what was deleted meanwhile may have been written into the new segment before.
    """
    while _merge_step(db, table, -_MERGE_PAGES):
        yield
        yield from _merge(db, table)


def _merge(db: apsw.Connection, table: str) -> Generator[None]:
    """Goes on with a merge that has begun; merges segments of one level where there are several (`usermerge`), and
    those with many rows removed (`deletemerge`)."""
    while _merge_step(db, table, _MERGE_PAGES):
        yield


def _merge_step(db: apsw.Connection, table: str, pages: int) -> bool:
    """False when there was nothing to merge: less than two rows were changed (the FTS5 manual's test)."""
    before = db.total_changes()
    db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))
    return db.total_changes() - before >= 2


def _segments(db: apsw.Connection, table: str) -> int:
    return int(db.execute(f"SELECT count(DISTINCT segid) FROM {table}_idx").get)
