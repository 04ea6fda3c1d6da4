"""Keeps the words of the index in memory, to find those that contain a piece: FTS5 only finds words by their beginning.

Invariant: the words are those of every content up to ``newest``. Ids are never reused and contents never change
(rewriting a possibly damaged one increments ``rewritten``). So nothing is known about later contents, and everything
about earlier ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import re2

from livedex_indexing.store.read_pool import DeadlinePassed, Reader
from livedex_indexing.store.sql import REWRITTEN

_STEP: Final = 20_000  # words read at once
_POLL_S: Final = 0.02
_LATER: Final = 256  # unknown contents: with as many, the words are read again …
_LATER_SHARE: Final = 8  # … unless they are fewer than one in this many
_CUT: Final = 32_000  # bytes: FTS5 cuts a longer word at 32,768
_NEAR: Final = 4_096  # bytes: so far the next word is looked for with `bytes.find`
_BEGINNING: Final = 200  # letters by which a truncated word is found

_NEWEST = f"SELECT (SELECT coalesce(max(id), 0) FROM contents), ({REWRITTEN})"
_LATER_THAN = f"SELECT (SELECT count(*) FROM contents WHERE id > ?), ({REWRITTEN})"
_COUNT = "SELECT count(*) FROM contents"
# A chunk begins in the line in which the previous chunk ends.
_TORN = """SELECT b.id FROM chunks b JOIN chunks a ON a.id = b.id - 1 AND a.content_id = b.content_id
           WHERE b.start_line = a.end_line"""
_SOME = "SELECT term, octet_length(term) AS size FROM temp.written WHERE term > CAST(? AS TEXT) ORDER BY term LIMIT ?"
# Joined by SQLite: to make a value of each word takes as long as to read it. A truncated word may be no UTF-8.
_WORDS = f"""SELECT CAST(max(term) AS BLOB), group_concat(CASE WHEN size < {_CUT} THEN term END, char(10)), max(size)
             FROM ({_SOME})"""
_LONG_WORDS = f"SELECT CAST(term AS BLOB) FROM ({_SOME}) WHERE size >= {_CUT}"
ROWS_WITH = "SELECT rowid FROM exact WHERE exact MATCH ?"  # the contents with a word
_NEWER = "SELECT id FROM contents WHERE id > ?"


class Words(NamedTuple):
    """``text`` has the words in the order of their bytes, with a line feed before and after each. ``cut``: contents
    with a word that FTS5 truncated, which are unknown too. ``torn``: chunks that begin inside a line."""

    text: bytes
    newest: int
    cut: frozenset[int]
    rewritten: int
    torn: frozenset[int] = frozenset()

    def containing(self, piece: bytes, *, begins: bool, ends: bool) -> Iterator[str]:
        """Yield the words that contain a piece, begin with it, end with it, or equal it."""
        return self._beginning(piece, whole=ends) if begins else self._within(piece, ends=ends)

    def unknown_contents(self, reader: Reader) -> set[int]:
        """Return the contents that may have other words: newer ones, and those with a truncated word."""
        return {content_id for (content_id,) in reader.rows(_NEWER, (self.newest,))} | self.cut

    def _beginning(self, piece: bytes, *, whole: bool) -> Iterator[str]:
        """Yield the words that begin with a piece: they are next to each other."""
        text, at = self.text, self._place_of(piece)
        while at < len(text):
            end = text.index(b"\n", at)
            word = text[at:end]
            if not word.startswith(piece) or (whole and word != piece):
                return
            yield word.decode()
            at = end + 1

    def _place_of(self, piece: bytes) -> int:
        """Return the offset of the first word that does not come before a piece; the length of the text if all do."""
        text, low, high = self.text, 1, len(self.text)  # offsets of words; the first one looked for is between them
        while low < high:
            start = text.rfind(b"\n", 0, (low + high) // 2) + 1
            end = text.index(b"\n", start)
            if text[start:end] < piece:
                low = end + 1
            else:
                high = start
        return low

    def _within(self, piece: bytes, *, ends: bool) -> Iterator[str]:
        text, wanted = self.text, piece + b"\n" * ends
        search, end = _searcher(wanted), 0
        while True:
            at = text.find(wanted, end, end + _NEAR)
            if at < 0:
                found = search(text, max(0, end + _NEAR - len(wanted)))
                if found is None:
                    return
                at = found.start()
            start = text.rfind(b"\n", 0, at) + 1
            end = text.index(b"\n", at + len(wanted) - ends)
            yield text[start:end].decode()


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
        while (found := reader.rows(_WORDS, (self._last, _STEP))[0])[0] is not None:
            last, text, longest = found
            if longest >= _CUT:
                self._cut += [word for (word,) in reader.rows(_LONG_WORDS, (self._last, _STEP))]
            if text is not None:
                self._read.append(text.encode() + b"\n")
            self._last = last
        cut = {row[0] for word in self._cut for row in reader.rows(ROWS_WITH, (_beginning(word),))}
        torn = frozenset(row for (row,) in reader.rows(_TORN))
        words = Words(b"\n" + b"".join(self._read), self._began[0], frozenset(cut), rewritten, torn)
        self._began, self._read, self._last, self._cut = None, [], b"", []
        return words


def _searcher(wanted: bytes) -> Callable[[bytes, int], re2._Match | None]:
    """Return what finds some bytes from an offset on: where they are far away, five times as fast as `bytes.find`."""
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1  # bytes, whatever they mean
    try:
        search: Callable[[bytes, int], re2._Match | None] = re2.compile(re2.escape(wanted), options).search
    finally:
        re2.purge()  # its cache would keep up to 8 MiB for each pattern ever compiled
    return search


def _outgrown(reader: Reader, words: Words) -> bool:
    later, rewritten = reader.rows(_LATER_THAN, (words.newest,))[0]
    if rewritten != words.rewritten:
        return True
    return bool(later > _LATER and later > int(reader.one(_COUNT)) // _LATER_SHARE)


def _beginning(word: bytes) -> str:
    return f'"{word.decode("utf-8", "ignore")[:_BEGINNING]}" *'
