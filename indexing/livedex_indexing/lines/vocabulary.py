"""Keeps the words of the index in memory, to find those that contain a piece: FTS5 only finds words by their beginning.

Invariant: the words are those of every content up to ``newest``. Ids are never reused and contents never change
(rewriting a possibly damaged one increments ``rewritten``). So nothing is known about later contents, and everything
about earlier ones.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Final, NamedTuple

from livedex_indexing.store.read_pool import DeadlinePassed, Reader
from livedex_indexing.store.sql import REWRITTEN

_STEP: Final = 20_000  # words read at once
_POLL_S: Final = 0.02
_LATER: Final = 256  # unknown contents: with as many, the words are read again …
_LATER_SHARE: Final = 8  # … unless they are fewer than one in this many
_CUT: Final = 32_000  # bytes: FTS5 cuts a longer word at 32,768
_BEGINNING: Final = 200  # letters by which a truncated word is found

_NEWEST = f"SELECT (SELECT coalesce(max(id), 0) FROM contents), ({REWRITTEN})"
_LATER_THAN = f"SELECT (SELECT count(*) FROM contents WHERE id > ?), ({REWRITTEN})"
_COUNT = "SELECT count(*) FROM contents"
# A chunk begins in the line in which the previous chunk ends.
_TORN = """SELECT b.id FROM chunks b JOIN chunks a ON a.id = b.id - 1 AND a.content_id = b.content_id
           WHERE b.start_line = a.end_line"""
_WORDS = "SELECT CAST(term AS BLOB) FROM temp.written WHERE term > CAST(? AS TEXT) ORDER BY term LIMIT ?"
_ROWS_WITH = "SELECT rowid FROM exact WHERE exact MATCH ?"


class Words(NamedTuple):
    """``text`` has a line feed before and after each word. ``cut``: contents with a word that FTS5 truncated, which are
    unknown too. ``torn``: chunks that begin inside a line."""

    text: bytes
    newest: int
    cut: frozenset[int]
    rewritten: int
    torn: frozenset[int] = frozenset()

    def containing(self, piece: bytes, *, begins: bool, ends: bool) -> Iterator[str]:
        """Yield the words that contain a piece, begin with it, end with it, or equal it."""
        text, wanted = self.text, b"\n" * begins + piece + b"\n" * ends
        at = text.find(wanted)
        while at >= 0:
            start = at + 1 if begins else text.rfind(b"\n", 0, at) + 1
            end = text.index(b"\n", at + len(wanted) - ends)
            yield text[start:end].decode()
            at = text.find(wanted, end)


class Vocabulary:
    """Reads the words when they are first needed, and again once the index has grown much. Safe to use from several
    threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._words: Words | None = None
        # (newest, rewritten) of a load in progress: one that a deadline stopped goes on with the next search.
        self._began: tuple[int, int] | None = None
        self._read: list[bytes] = []
        self._last = b""
        self._cut: list[bytes] = []

    def words(self, reader: Reader) -> Words:
        """Return the words. Raises DeadlinePassed and Cancelled; words read until then are kept for the next call."""
        while not self._lock.acquire(timeout=_POLL_S):
            reader.one(_NEWEST)  # raises Cancelled once the client has given up
            if reader.is_past_deadline():
                raise DeadlinePassed("the words of the index were being read until the deadline")
        try:
            if self._words is None or _outgrown(reader, self._words):
                self._words = self._load(reader)
            return self._words
        finally:
            self._lock.release()

    def release_memory(self) -> None:
        with self._lock:
            self._words = None

    def _load(self, reader: Reader) -> Words:
        newest, rewritten = reader.rows(_NEWEST)[0]
        if self._began is None or self._began[1] != rewritten:
            self._began, self._read, self._last, self._cut = (newest, rewritten), [], b"", []
            self._words = None  # never two at once in memory
        while found := [word for (word,) in reader.rows(_WORDS, (self._last, _STEP))]:
            self._cut += [word for word in found if len(word) >= _CUT]
            self._read.append(b"".join([word + b"\n" for word in found if len(word) < _CUT]))
            self._last = found[-1]
        cut = {row[0] for word in self._cut for row in reader.rows(_ROWS_WITH, (_beginning(word),))}
        torn = frozenset(row for (row,) in reader.rows(_TORN))
        words = Words(b"\n" + b"".join(self._read), self._began[0], frozenset(cut), rewritten, torn)
        self._began, self._read, self._last, self._cut = None, [], b"", []
        return words


def _outgrown(reader: Reader, words: Words) -> bool:
    later, rewritten = reader.rows(_LATER_THAN, (words.newest,))[0]
    if rewritten != words.rewritten:
        return True
    return bool(later > _LATER and later > int(reader.one(_COUNT)) // _LATER_SHARE)


def _beginning(word: bytes) -> str:
    return f'"{word.decode("utf-8", "ignore")[:_BEGINNING]}" *'
