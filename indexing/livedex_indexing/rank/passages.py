"""Moves a file up where one paragraph of its live text has all words that somebody remembers.

Invariant: the index only proposes chunks (it has stems, and no paragraphs); the live file decides. How much is read
does not depend on how common the words are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from livedex_indexing.query.filters import ResolvedFilters
from livedex_indexing.query.query_terms import STOP_WORDS, QueryTerm
from livedex_indexing.rank.features import MatchFeatures
from livedex_indexing.rank.postings import LIST_ROWS, other_chunks
from livedex_indexing.rank.ranking_request import TypedText
from livedex_indexing.rank.score import WEIGHTS, Ranked
from livedex_indexing.store.read_pool import Reader

_LEAST_WORDS: Final = 3  # of two, one paragraph of very many files has both
_FILES_READ: Final = 20  # the best; 10: half-remembered words of Linux -.01 (docs/decisions/2026-11-27-passages.md)
_GAIN: Final = 2.0  # of Σ idf, as part of `close`; .8: -.01 to -.02; 5: names as words -.003
_CLOSE, _TITLED = (list(WEIGHTS).index(part) for part in ("close", "titled"))
_FAR: Final = 1 << 30
_BEGIN, _END = r"(?<![^\W_])", r"(?![^\W_])"  # of a word, also of one in a name
_BETWEEN: Final = re.compile(r"\n[^\w\n]*\n")  # paragraphs; in a comment, lines between them have its sign


def remembered(words: Sequence[str], *, unfinished: bool) -> list[str]:
    """Return a pattern for each word of a query of bare words, as it was typed; none where there are fewer than three
    different words, or stop words or signs among them: those are sentences, code or topics.

    ``unfinished``: the last word is still being typed.
    """
    different = list(dict.fromkeys(word.lower() for word in words))
    if len(different) < _LEAST_WORDS or not STOP_WORDS.isdisjoint(different) or not all(map(str.isalnum, different)):
        return []
    ends = [*[_END] * (len(different) - 1), "" if unfinished else _END]
    return [f"{_BEGIN}{re.escape(word)}{end}" for word, end in zip(different, ends, strict=True)]


def chunks_with_all(
    reader: Reader, terms: Sequence[QueryTerm], resolved: ResolvedFilters, typed: TypedText | None
) -> list[int]:
    """Return the chunks that have all words of remembered ones; none where more have them than are ranked at once, or
    where one is a beginning, whose words FTS5 would gather."""
    words = 0 if typed is None else len(typed.remembered)
    if not 0 < words <= len(terms) or any(term.prefix for term in terms):
        return []
    found = other_chunks(reader, " AND ".join(term.match for term in terms), 0, resolved, LIST_ROWS + 1)
    return found if len(found) <= LIST_ROWS else []


def passages_first(
    reader: Reader, ranked: Sequence[Ranked], rows: Mapping[int, MatchFeatures], typed: TypedText | None
) -> list[Ranked]:
    """Return the files in the order in which those of the best come first that have all remembered words in one
    paragraph, or in a heading or their name. ``rows`` are the features of their chunks."""
    if typed is None or not typed.remembered:
        return list(ranked)
    best = ranked[:_FILES_READ]
    closest = {file.content_id: _closest(file, rows, len(typed.remembered)) for file in best}
    chunks = {chunk_id for chunk_id in closest.values() if chunk_id is not None}
    if not chunks or len(best) == 1:
        return list(ranked)
    with reader.without_deadline():
        texts = typed.names.view.texts(chunks)
    words = [re.compile(pattern, re.IGNORECASE) for pattern in typed.remembered]
    having = {chunk_id for chunk_id, text in texts.items() if _has_passage(text, words)}
    moved = [_moved(file) if closest[file.content_id] in having or _is_titled(file) else file for file in best]
    moved.sort(key=lambda file: -file.score)
    return [*moved, *ranked[_FILES_READ:]]


def _closest(file: Ranked, rows: Mapping[int, MatchFeatures], words: int) -> int | None:
    """Return the chunk of a file that has all words in the shortest part of its text; None where no chunk has all, as
    where one is nowhere in the index."""
    found = [
        (rows[chunk_id].window or _FAR, place, chunk_id)
        for place, (_, chunk_id) in enumerate(file.chunks)
        if chunk_id in rows and len(rows[chunk_id].counts) >= words and all(rows[chunk_id].counts)
    ]
    return min(found)[2] if found else None


def _has_passage(text: str, words: Sequence[re.Pattern[str]]) -> bool:
    return any(all(word.search(paragraph) for word in words) for paragraph in _BETWEEN.split(text))


def _is_titled(file: Ranked) -> bool:
    return bool(file.sums[_TITLED]) or (bool(file.copy.counts) and all(file.copy.counts))


def _moved(file: Ranked) -> Ranked:
    gain = _GAIN * file.total
    sums = (*file.sums[:_CLOSE], file.sums[_CLOSE] + gain, *file.sums[_CLOSE + 1 :])
    return file._replace(score=file.score + _GAIN, sums=sums)
