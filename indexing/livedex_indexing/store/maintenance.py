"""Keeps the index file small and clean while the daemon is idle: merges postings, frees pages, checks the file.

Invariant: every step is a short transaction of its own, so that a writer waits for one step at most; after the last
step no byte of a forgotten text is left in the file or its log.

FTS5 only marks a row as removed; its words disappear when their segment is rewritten. Rewriting all segments takes time
in proportion to the index, so it happens for forgotten texts, and otherwise only now and then. The remains of edits are
merged with each other, at a cost in proportion to the edits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Final

import apsw

from livedex_indexing.store.contents import LONG_AGO
from livedex_indexing.store.database import BUSY_MS, fetch, varints
from livedex_indexing.store.sql import IN_CONTENT

MERGE_PAGES: Final = 250  # per step: about 12 ms
_VACUUM_PAGES: Final = 1_000
_FRAGMENTS: Final = 12  # segments of one table: with as many, a merge makes searches faster
_TABLES: Final = ("postings", "exact", "paths")

# The number of segments, the pages of the largest, and all pages. Only pages on which a word begins count: nearly all.
_SPREAD = "SELECT count(*), max(pages), total(pages) FROM (SELECT count(*) AS pages FROM {}_idx GROUP BY segid)"
_UNMERGED = "SELECT value FROM state WHERE name = 'unmerged'"
_MERGED = "UPDATE state SET value = 0 WHERE name = 'unmerged'"

# Each query lists rows that must not exist: a word for the fault and the first few ids.
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
    """Run steps until nothing is left (True) or ``budget_s`` is over (False). ``collect`` returns whether it did work.
    Words of rows removed up to ``until`` (seconds since the epoch) are merged away."""
    ends = time.monotonic() + budget_s
    steps = _steps(db, collect, until)
    for _ in steps:
        if time.monotonic() >= ends:
            steps.close()
            return False
    return True


def is_scattered(db: apsw.Connection) -> bool:
    """Whether the words are in so many segments of similar size, as after bulk work, that searches take twice as long
    (measured after a first index: a mean of 9 ms instead of 6, the slowest hundredth 40 ms instead of 17)."""
    segments, largest, pages = db.execute(_SPREAD.format("postings")).get
    return bool(segments >= _FRAGMENTS and 2 * largest < pages)


def merge(db: apsw.Connection, budget_s: float) -> bool:
    """Run the merging steps of `maintain` until each table is one segment (True) or ``budget_s`` is over (False)."""
    ends = time.monotonic() + budget_s
    for table in _TABLES:
        if _segments(db, table) > 1:
            for _ in _merge_all(db, table):
                if time.monotonic() >= ends:
                    return False
    return True


def checkpoint(db: apsw.Connection) -> bool:
    """Return False if a reader still needs the log. Do not wait for it: the busy timeout would block the writer."""
    db.set_busy_timeout(0)
    try:
        return not fetch(db, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
    finally:
        db.set_busy_timeout(BUSY_MS)


def fold(db: apsw.Connection) -> bool:
    """Copy the log into the file as far as readers permit. Return True if that was all of it."""
    _, pages, done = fetch(db, "PRAGMA wal_checkpoint(PASSIVE)")[0]
    return bool(pages == done)


def integrity(db: apsw.Connection) -> list[str]:
    """Return the faults in words, with at most a few ids each; empty if all is sound. Reads all of the file.

    SQLite's own check, with that of FTS5, proves the structure; ours proves that the tables agree.
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
    """Check the sums behind the average length of a table's rows: ranking divides by that average."""
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
        # Freed pages are zeroed already (secure_delete); releasing them keeps the file at the size of the index.
        before = int(db.pragma("page_count"))
        fetch(db, f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")
        yield
        if int(db.pragma("page_count")) == before:
            break
    if not checkpoint(db):
        yield


def _merge_all(db: apsw.Connection, table: str) -> Generator[None]:
    """Merge a table into one segment, without any deleted rows.

    A negative step puts all segments into one level, as 'optimize' would in one go; positive steps continue. Then do it
    once more: rows deleted meanwhile may have been copied into the new segment before their deletion.
    """
    while _merge_step(db, table, -MERGE_PAGES):
        yield
        yield from _merge(db, table)


def _merge(db: apsw.Connection, table: str) -> Generator[None]:
    """Continue a merge that has begun; merge segments of one level if there are several (`usermerge`), and segments
    with many removed rows (`deletemerge`)."""
    while _merge_step(db, table, MERGE_PAGES):
        yield


def _merge_step(db: apsw.Connection, table: str, pages: int) -> bool:
    """Return False if there was nothing to merge: fewer than two rows changed (the FTS5 manual's test)."""
    before = db.total_changes()
    db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))
    return db.total_changes() - before >= 2


def _segments(db: apsw.Connection, table: str) -> int:
    return int(db.execute(f"SELECT count(DISTINCT segid) FROM {table}_idx").get)
