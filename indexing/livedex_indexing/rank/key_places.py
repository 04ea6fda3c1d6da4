"""Finds where configurations set a key that was typed with what it is below: ``spec.template`` of nested keys.

Invariant: the index only proposes files and chunks; the live text decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

from livedex_indexing.query.key_path import KEY_LANGUAGES, is_below, key_path, keys
from livedex_indexing.query.typed_word import TypedWord
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.postings import CONTENT_OF, chunks_in_spans, phrase

_WITH_ALL: Final = f"""SELECT t.id, t.first_chunk, t.first_chunk + t.chunks - 1
                       FROM exact e CROSS JOIN contents t ON t.id = e.rowid WHERE exact MATCH ?
                       AND t.language IN (SELECT id FROM languages WHERE name IN {KEY_LANGUAGES!r}) LIMIT 400"""
_FILES: Final = 24  # that are read …
_CHUNKS: Final = 200  # … each up to the key, at most


def chunks_with_key(view: IndexView, word: TypedWord, best: Sequence[int]) -> list[int]:
    """Return the chunks in which the key of a typed path is set; the files of the ``best`` are read first. None for a
    word without a path."""
    reader = view.reader
    path = key_path(f"{word.section}.{word.text}") if word.section else ""
    own = reader.tokens(path.rpartition(".")[2])
    if not own:
        return []
    words = " AND ".join(f'"{token}"' for token in dict.fromkeys(reader.tokens(path)))
    spans = {content_id: (first, last) for content_id, first, last in reader.rows(_WITH_ALL, (words,))}
    proposed = chunks_in_spans(reader, f"body : {phrase(own)}", spans.values(), view.resolved) if spans else []
    if not proposed:
        return []
    last_of = {content_id: chunk_id for chunk_id, content_id in sorted(reader.rows_of(CONTENT_OF, proposed))}
    likely = [content_id for _, content_id in reader.rows_of(CONTENT_OF, best) if content_id in last_of]
    found: list[int] = []
    left = _CHUNKS
    for content_id in list(dict.fromkeys((*likely, *last_of)))[:_FILES]:
        ids = range(spans[content_id][0], last_of[content_id] + 1)
        left -= len(ids)
        if left < 0:
            break
        found += _with_key(view.texts(ids), path)
    return found


def _with_key(read: Mapping[int, str], path: str) -> list[int]:
    """Return those of the chunks of a file, from its first one on, in which a key of the path is set."""
    ids = sorted(read)
    ends = iter(list(zip(accumulate(len(read[chunk_id]) for chunk_id in ids), ids, strict=True)))
    end, chunk_id = 0, 0
    found: dict[int, None] = {}
    for start, own in keys("".join(read[chunk_id] for chunk_id in ids)):
        while start >= end:
            end, chunk_id = next(ends)
        if is_below(own, path):
            found[chunk_id] = None
    return list(found)
