"""Gives each chunk of the index its vector, in small steps behind the index.

Invariant: a text is embedded once: its vector is committed before the next batch is sent, and every chunk with that
text, wherever it appears, uses it. A step that fails leaves everything to be done again, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from livedex_indexing.plugins import Embedder
from livedex_indexing.store.database import id_list
from livedex_indexing.store.read_pool import ReadPool
from livedex_indexing.vectors.chunk_texts import ContentTexts, read_texts, text_hash
from livedex_indexing.vectors.text_embedding import TextEmbedding
from livedex_indexing.vectors.vector_store import ContentKey, VectorStore, all_contents

CONTENTS: Final = 64  # of one step, at most
ROWS: Final = 10_000  # read at once
_IS_USED = """(unused_since IS NULL
              AND (SELECT count(*) FROM files d INDEXED BY files_by_content WHERE d.content_id = contents.id
                   AND d.root_id IN (SELECT id FROM roots WHERE missing_since IS NULL)) > 0)"""
_IN_USE = f"""SELECT id, hash, signature, first_chunk, chunks FROM contents
              WHERE chunks > 0 AND id > ? AND {_IS_USED} ORDER BY id LIMIT ?"""
_KEPT = "SELECT id, hash, signature, first_chunk FROM contents WHERE chunks > 0 AND id > ? ORDER BY id LIMIT ?"
_ADDED = f"SELECT id, chunks, {_IS_USED} FROM contents WHERE chunks > 0 AND id > ? ORDER BY id LIMIT ?"
_BACK = f"SELECT id, chunks FROM contents WHERE id IN (SELECT value FROM json_each(?)) AND {_IS_USED}"


class Filler:
    """Fills one store from one index. For one thread."""

    def __init__(
        self,
        pool: ReadPool,
        store: VectorStore,
        embedder: Embedder,
        roots: Callable[[], Mapping[int, bytes]],
        batch: int,
    ) -> None:
        """``roots``: the roots by id; ``batch``: texts to embed at once."""
        self._pool = pool
        self.store = store
        self._texts = TextEmbedding(store, embedder, batch)
        self._roots = roots
        self._size = batch
        self._waiting: dict[int, int] = {}  # chunks by content
        self._absent: set[int] = set()  # contents without vectors that no present file has: they may come back
        self._last = -1  # the highest content seen
        self.pending = 0  # chunks that wait for their vectors, as far as is known

    @property
    def embedded(self) -> int:
        """How many texts were embedded."""
        return self._texts.embedded

    def compare(self) -> None:
        """Compare all contents of the index with those that have vectors: note what is missing, drop what is gone. Now
        and then, note contents of which a text was refused, too."""
        again = self._texts.renew()
        waiting: dict[int, int] = {}
        absent: set[int] = set()
        gone: list[int] = []
        seen = all_contents(self.store)
        with self._pool.connection() as reader, reader.snapshot():
            for new, known in _merged(_rows(reader, _IN_USE), _rows(reader, _KEPT), seen):
                have = known if new is not None and known is not None and new[:4] == known[:4] else None
                if known is not None and have is None:
                    gone.append(known.id)
                if new is None:
                    continue
                content_id, chunks = new[0], new[4]
                self._last = max(self._last, content_id)
                if chunks is not None and (have is None or (again and have.vectors < chunks)):
                    waiting[content_id] = chunks
                elif have is None:
                    absent.add(content_id)
        for start in range(0, len(gone), ROWS):
            self.store.remove(gone[start : start + ROWS])
        self._waiting, self._absent = waiting, absent
        self._note_state()

    def look(self) -> None:
        """Note the contents that were added since, or came back: cheap, for after each commit."""
        with self._pool.connection() as reader, reader.snapshot():
            for content_id, chunks, is_used in _rows(reader, _ADDED, self._last):
                self._last = content_id
                if is_used:
                    self._waiting[content_id] = chunks
                else:
                    self._absent.add(content_id)
            back = dict(reader.rows(_BACK, (id_list(self._absent),))) if self._absent else {}
        self._waiting |= back
        self._absent -= back.keys()
        self.pending = sum(self._waiting.values())

    def step(self) -> bool:
        """Embed one batch. Return False if nothing is waiting. Raises EmbedderUnavailable."""
        if not self._waiting:
            return False
        ready: list[tuple[ContentTexts, list[bytes]]] = []
        missing: dict[bytes, str] = {}
        for content_id in list(islice(reversed(self._waiting), CONTENTS)):  # what was edited last comes first
            found = self._read(content_id)
            if found is None:
                del self._waiting[content_id]  # it changed: another content takes its place
                self._absent.add(content_id)
                continue
            hashes = [text_hash(text) for text in found.texts]
            known = self.store.known(set(hashes))
            missing |= {h: t for h, t in zip(hashes, found.texts, strict=True) if h not in known and t.strip()}
            ready.append((found, hashes))
            if len(missing) >= self._size:
                break
        self._texts.embed(missing)
        self._put(ready)
        self._note_state()
        return True

    def _read(self, content_id: int) -> ContentTexts | None:
        with self._pool.connection() as reader:
            return read_texts(reader, content_id, self._roots())

    def _put(self, ready: Iterable[tuple[ContentTexts, list[bytes]]]) -> None:
        done = list(ready)
        known = self.store.known({digest for _, hashes in done for digest in hashes})
        self.store.put([(found.key, [known.get(digest) for digest in hashes]) for found, hashes in done])
        for found, _ in done:
            self._waiting.pop(found.key.id, None)

    def _note_state(self) -> None:
        self.pending = sum(self._waiting.values())
        if not self._waiting and not self.store.complete:
            self.store.note("complete", 1)


def _rows(reader: Any, sql: str, last: int = -1) -> Iterator[tuple[Any, ...]]:
    while rows := reader.rows(sql, (last, ROWS)):
        yield from rows
        last = rows[-1][0]


def _merged(
    used: Iterator[tuple[Any, ...]], kept: Iterator[tuple[Any, ...]], seen: Iterable[ContentKey]
) -> Iterator[tuple[tuple[Any, ...] | None, ContentKey | None]]:
    """Yield the contents of the index next to those with vectors, by id. One that no present file uses has None for its
    chunks: its vectors stay, it may come back."""
    in_use, known = next(used, None), iter(seen)
    have = next(known, None)
    for row in kept:
        while have is not None and have.id < row[0]:
            yield None, have
            have = next(known, None)
        mine = have if have is not None and have.id == row[0] else None
        if in_use is not None and in_use[0] == row[0]:
            yield in_use, mine
            in_use = next(used, None)
        else:
            yield (*row, None), mine
        if mine is not None:
            have = next(known, None)
    while have is not None:
        yield None, have
        have = next(known, None)
