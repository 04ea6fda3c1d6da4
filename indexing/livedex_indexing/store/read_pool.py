"""Read-only connections to the index, lent to threads one at a time, each use with its own deadline.

Invariant: a connection given back has no open transaction and no statement under way, so that it pins nothing of the
write-ahead log.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import apsw

from livedex_indexing.store.database import fetch, id_list, open_reader, translated
from livedex_indexing.text.letters import fold_bytes
from livedex_ipc.errors import Cancelled, TimedOut, Unavailable

_IDLE: Final = 2  # connections kept for the next search: each caches up to READER_CACHE_KIB of pages
_POLL_S: Final = 0.05
_HAS_CHUNK = "SELECT EXISTS (SELECT 1 FROM postings WHERE postings MATCH ? AND +rowid NOT IN (SELECT id FROM dead))"

# Views of the index's words: stems with the number of chunks that contain them, and words as they are written (without
# case and diacritics) with the number of contents. Temporary, so that they need no write permission.
_VOCABULARY = """
CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'postings', 'row');
CREATE VIRTUAL TABLE temp.written USING fts5vocab('main', 'exact', 'row');
"""


class DeadlinePassed(TimedOut):
    """The deadline ended a statement. Rows that were read before it are valid."""


class PoolClosed(Unavailable):
    """The index is being replaced or the daemon stops."""


class Reader:
    """One read-only connection. ``scratch`` keeps a caller's data for the life of the connection, above all what its
    temporary tables contain."""

    def __init__(self, path: str, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._deadline = float("inf")
        self._cancelled: Callable[[], bool] = bool
        self._path = path
        self._deadline_applies = True
        self._may_end = True
        self.scratch: dict[str, object] = {}
        self.db = open_reader(path, self.ends_statement)
        self.db.execute(_VOCABULARY)
        word = self.db.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        plain = self.db.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
        # (start byte, end byte, token) of each word of UTF-8 bytes, exactly as the postings have them / without stems
        self.stems: Callable[[bytes], list[tuple[int, int, str]]] = lambda text: _tokens(word, text)
        self.words: Callable[[bytes], list[tuple[int, int, str]]] = lambda text: _tokens(plain, text)

    def limit(self, deadline: float, cancelled: Callable[[], bool]) -> None:
        self._deadline, self._cancelled, self._deadline_applies = deadline, cancelled, True

    @contextmanager
    def without_deadline(self) -> Iterator[None]:
        """Inside, the deadline ends no statement; cancelling still does. For the few rows that turn the results found
        in time into an answer."""
        former, self._deadline_applies = self._deadline_applies, False
        try:
            yield
        finally:
            self._deadline_applies = former

    def is_past_deadline(self) -> bool:
        return self._clock() >= self._deadline

    def check(self) -> None:
        """Check between statements. Raises DeadlinePassed or Cancelled if a statement would be ended."""
        if self._cancelled():
            raise Cancelled("the search was cancelled")
        if self._deadline_applies and self.is_past_deadline():
            raise DeadlinePassed("the search ran past its deadline")

    def tokens(self, text: str) -> list[str]:
        """Return the words of a text as the postings have them, without stems."""
        return [token for _, _, token in self.words(text.encode("utf-8", "replace"))]

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement. Raises DeadlinePassed, Cancelled or an error from `translated`."""
        if self._cancelled():  # SQLite does not ask during a short statement, nor FTS5 while it gathers a beginning
            raise Cancelled("the search was cancelled")
        try:
            return fetch(self.db, sql, values)
        except apsw.Error:  # a context manager costs as much as a short statement
            with self._ending():
                raise

    def rows_of(self, sql: str, ids: Collection[int], values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement whose first parameter is a list of ids; none where there are no ids."""
        return self.rows(sql, (id_list(ids), *values)) if ids else []

    def rows_of_each(self, sql: str, values: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Run a statement with each of ``values`` and return all rows: three times as fast as calls of `rows`."""
        with self._ending():
            return self.db.executemany(sql, values).fetchall()

    def fill(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement on a temporary table for each row."""
        with self._ending():
            self.db.executemany(sql, rows)

    def one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, None if there is no row."""
        found = self.rows(sql, values)
        return found[0][0] if found else None

    def has_chunk(self, match: str) -> bool:
        """Return whether a chunk of a content that a file uses matches an FTS5 expression."""
        return bool(self.one(_HAS_CHUNK, (match,)))

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside, all statements see the same state of the index."""
        self._run_to_its_end("BEGIN")
        try:
            yield
        finally:
            if self.db.in_transaction:
                self._run_to_its_end("COMMIT")
            else:  # a statement that filled a temporary table was ended, and SQLite undid the transaction
                self.scratch.clear()

    def _run_to_its_end(self, sql: str) -> None:
        """Run a statement that neither deadline nor cancelling ends. SQLite asks short ones too, once in some hundreds:
        a COMMIT that was ended leaves its snapshot to the next search."""
        self._may_end = False
        try:
            self.db.execute(sql)
        finally:
            self._may_end = True

    @contextmanager
    def _ending(self) -> Iterator[None]:
        try:
            with translated(self._path):
                yield
        except apsw.InterruptError:
            if self._cancelled():
                raise Cancelled("the search was cancelled") from None
            raise DeadlinePassed("the search ran past its deadline") from None

    def ends_statement(self) -> bool:
        """Whether the running statement is to end now. SQLite asks every few thousand steps."""
        return self._may_end and ((self._deadline_applies and self.is_past_deadline()) or self._cancelled())


def _tokens(tokenizer: apsw.FTS5Tokenizer, text: bytes) -> list[tuple[int, int, str]]:
    folded, place_of = fold_bytes(text)
    found: Any = tokenizer(folded, apsw.FTS5_TOKENIZE_DOCUMENT, None)  # declared for all of its options
    tokens = cast("list[tuple[int, int, str]]", found)
    return tokens if place_of is None else [(place_of(start), place_of(end), token) for start, end, token in tokens]


class ReadPool:
    """Lends readers to threads. At most ``size`` are lent at once; another caller waits."""

    def __init__(self, path: str, *, size: int = 24, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self.clock = clock
        self._places = threading.Semaphore(size)
        self._idle: list[Reader] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def connection(self, *, deadline: float = float("inf"), cancelled: Callable[[], bool] = bool) -> Iterator[Reader]:
        """Lend a reader whose statements end at ``deadline`` (on the pool's clock) or once ``cancelled()`` is true.

        Raises DeadlinePassed or Cancelled if no reader is free before then, PoolClosed after `close`.
        """
        self._wait(deadline, cancelled)
        try:
            reader = self._take()
            reader.limit(deadline, cancelled)
            try:
                yield reader
            finally:
                self._give_back(reader)
        finally:
            self._places.release()

    def release_memory(self) -> None:
        """Close the idle readers."""
        with self._lock:
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.db.close()

    def close(self) -> None:
        """Lend no more readers; those lent are closed when they come back. May be called twice."""
        self._closed = True
        self.release_memory()

    def _wait(self, deadline: float, cancelled: Callable[[], bool]) -> None:
        while not self._places.acquire(timeout=_POLL_S):
            if cancelled():
                raise Cancelled("the search was cancelled")
            if self.clock() >= deadline:
                raise DeadlinePassed("all readers of the index were busy until the deadline")

    def _take(self) -> Reader:
        if self._closed:
            raise PoolClosed("the index is closed")
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return Reader(self.path, self.clock)

    def _give_back(self, reader: Reader) -> None:
        reader.limit(float("inf"), bool)
        with self._lock:
            if not self._closed and len(self._idle) < _IDLE:
                self._idle.append(reader)
                return
        reader.db.close()
