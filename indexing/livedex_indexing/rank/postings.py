"""Queries the full-text index for candidate rows: chunks by their words, files by the words of their path.

Invariant: the cost of a statement is bounded by the row budget and the length of its list, never by how common a word
is; every order is total, so two pages of one generation fit together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise
from operator import itemgetter
from typing import Final, NamedTuple

from livedex_indexing.query.filters import ALIVE, Condition, ResolvedFilters
from livedex_indexing.query.query_terms import CompiledQuery, QueryTerm, match_any, readings
from livedex_indexing.query.word_counts import WordCounts
from livedex_indexing.rank.spans import WITH_SPANS, spans
from livedex_indexing.store.database import id_list
from livedex_indexing.store.read_pool import DeadlinePassed, Reader
from livedex_indexing.store.sql import IN_CONTENT

Texts = Callable[[Collection[int]], Mapping[int, str]]  # the live text of chunks by id; without those that have changed

ROW_BUDGET: Final = 2_000  # rows that the rarest words may have (5,000: 3 % slower, dev halves -.002, -.001, 0)
MANY_WORDS: Final = 4
PROSE_BUDGET: Final = 20_000  # questions about Linux, dev, MRR: 2,000 .551, 5,000 .595, 20,000 .630, 40,000 .624
COMMON_ROWS: Final = 40_000  # rows of the common words with them: FTS5 reads all of these to compute their idf
PATH_COMMON_ROWS: Final = 10_000
COMMON_WORDS: Final = 4  # words to query if none is rare
COMMON_PAIRS: Final = 3  # … and pairs of them
NEIGHBOURS: Final = 24  # pairs of words to find as neighbours
TOO_COMMON: Final = 10_000  # rows of the rarest word: beyond, take rows where it counts most, ranked by their features
# Rows of each list. Not longer for a later page: the ranked rows, and so the order, must not depend on the page.
LIST_ROWS: Final = 150
AHEAD_ROWS: Final = 2 * LIST_ROWS  # rows taken before filtering: mostly they include a full list that passes
UNSCORED_ROWS: Final = 100  # rows of each list without scores
EVERY: Final = (0, (1 << 63) - 1)  # ids of chunks
BORDER_CUTS: Final = 16  # words of a phrase before the border of two chunks

_CHUNKS_IN_SPAN = "SELECT rowid FROM postings WHERE postings MATCH ? AND rowid BETWEEN ? AND ? AND {}"
CONTENT_OF = "SELECT id, content_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
_TOP_CHUNKS = """SELECT rowid, -bm25(postings) AS score FROM postings WHERE postings MATCH ? AND {}
                 ORDER BY score DESC, rowid LIMIT ?"""
_TOP_FILES = """SELECT rowid, -bm25(paths) AS score FROM paths WHERE paths MATCH ? AND {}
                ORDER BY score DESC, rowid LIMIT ?"""
_SOME = "SELECT rowid FROM postings WHERE postings MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
_FIRST_CHUNK = f"""SELECT min(c.id) FROM contents t JOIN chunks c
                   ON {IN_CONTENT}
                   WHERE t.id IN (SELECT value FROM json_each(?)) AND {{}} GROUP BY t.id"""
_THESE = f"""{WITH_SPANS} SELECT postings.rowid FROM spans CROSS JOIN postings
             WHERE postings MATCH ? AND postings.rowid BETWEEN low AND high
             AND +postings.rowid IN (SELECT value FROM json_each(?))"""
_OTHER_CHUNKS = "SELECT rowid FROM postings WHERE postings MATCH ? AND rowid > ? AND {} ORDER BY rowid LIMIT ?"
_OTHER_FILES = "SELECT rowid FROM paths WHERE paths MATCH ? AND rowid > ? AND {} ORDER BY rowid LIMIT ?"
_ALL = "SELECT rowid FROM postings WHERE postings MATCH ? AND rowid BETWEEN ? AND ?"
_SAME_CONTENT = """SELECT c.content_id, c.id FROM json_each(?) b JOIN chunks a ON a.id = b.value
                   JOIN chunks c ON c.id = b.value + 1 AND c.content_id = a.content_id"""
_PASSING = "SELECT rowid FROM postings WHERE rowid IN (SELECT value FROM json_each(?)) AND {}"
_CONTENTS_WITH = """SELECT DISTINCT (SELECT content_id FROM chunks c WHERE c.id = +postings.rowid) FROM postings
              WHERE postings MATCH ?"""


class RowCounts(NamedTuple):
    """How many chunks have a word, as the tokenizer returns it; and those that an FTS5 expression finds if somebody has
    counted them, else None: that may save work, and may change no answer."""

    of_word: Callable[[str], int]
    known: Callable[[str], int | None]

    @classmethod
    def of(cls, reader: Reader, counts: WordCounts) -> RowCounts:
        return cls(partial(counts.of_word, reader), counts.counted)


class Candidates(NamedTuple):
    """Rows worth a closer look. ``chunks`` maps ids to a score, 0 where none is known; ``paths`` maps files to BM25
    over the words of their paths. ``late``: the deadline cut the collection."""

    chunks: dict[int, float]
    paths: dict[int, float]
    late: bool


def collect(reader: Reader, compiled: CompiledQuery, resolved: ResolvedFilters) -> Candidates:
    """Return the candidates for ranking. Past the deadline, those found so far."""
    found = Candidates({}, {}, late=False)
    terms = [term for term in compiled.any_of if term.rows]
    named = [term._replace(match=term.paths or term.match) for term in compiled.any_of if term.files]
    try:
        if named:
            found.paths.update(
                _top_with_rare(
                    *_budget(named, _files, PATH_COMMON_ROWS),
                    lambda match: _top(reader, _TOP_FILES, match, resolved.paths, LIST_ROWS),
                    _files,
                )
            )
        if terms and not _by_words(reader, terms, resolved, found.chunks, _row_budget(compiled)):
            _by_neighbours(reader, compiled, resolved, found.chunks)
    except DeadlinePassed:
        return found._replace(late=True)
    return found


def matching_chunks(
    reader: Reader, terms: Sequence[QueryTerm], ids: Collection[int], last: int, *, small: bool
) -> list[int]:
    """Filter ``ids`` to rows that contain a query word (only the rarest words if there are many). ``last``: approximate
    maximum row id."""
    if not ids or not terms:
        return []
    searched = terms if small else _budget(terms, _rows, COMMON_ROWS)[0]
    places = spans(ids, searched, last)
    return [row for (row,) in reader.rows(_THESE, (places.json, match_any(searched), id_list(ids)))]


def phrase(tokens: Sequence[str]) -> str:
    """Return the FTS5 expression for tokens in a row."""
    return f'"{" ".join(tokens)}"'


def other_chunks(reader: Reader, match: str, after: int, resolved: ResolvedFilters, limit: int) -> list[int]:
    """Return chunks that match, in the order of their ids, starting after ``after``."""
    sql, values = resolved.rows
    return [row[0] for row in reader.rows(_OTHER_CHUNKS.format(sql), (match, after, *values, limit))]


def chunks_in_spans(
    reader: Reader, match: str, spans: Collection[tuple[int, int]], resolved: ResolvedFilters
) -> list[int]:
    """Return chunks that match, in the order of their ids, from some spans of ids, both ends of each included."""
    sql, values = resolved.rows
    each = [(match, *span, *values) for span in spans]
    return sorted(row for (row,) in reader.rows_of_each(_CHUNKS_IN_SPAN.format(sql), each))


def first_of_each(reader: Reader, ids: Collection[int]) -> list[int]:
    """Return the first one of the chunks of each content, in the order of their ids."""
    firsts: dict[int, int] = {}
    for chunk_id, content_id in sorted(reader.rows_of(CONTENT_OF, ids)):
        firsts.setdefault(content_id, chunk_id)
    return list(firsts.values())


def other_files(reader: Reader, match: str, after: int, resolved: ResolvedFilters, limit: int) -> list[int]:
    """Return files whose path matches, in the order of their ids, starting after ``after``."""
    sql, values = resolved.paths
    return [row[0] for row in reader.rows(_OTHER_FILES.format(sql), (match, after, *values, limit))]


def border_chunks(reader: Reader, term: QueryTerm, span: tuple[int, int] = EVERY) -> dict[int, set[int]]:
    """Return the chunks of ``span`` that begin with the end of a phrase whose beginning is in the chunk before, by
    content.

    No chunk contains such a phrase, so no phrase query finds it. FTS5 can find words at the start of a column.
    """
    found: dict[int, set[int]] = {}
    for cut in range(1, min(len(term.tokens), BORDER_CUTS + 1)):
        begin, end = " ".join(term.tokens[:cut]), " ".join(term.tokens[cut:])
        after = [row for (row,) in reader.rows(_ALL, (f'body : ^"{end}"', *span))]
        before = reader.rows(_SOME, (f'body : "{begin}"', id_list(row - 1 for row in after))) if after else []
        pairs = id_list(row for (row,) in before)
        for content_id, chunk_id in reader.rows(_SAME_CONTENT, (pairs,)) if before else []:
            found.setdefault(content_id, set()).add(chunk_id)
    return found


def filter_chunks(reader: Reader, ids: Collection[int], resolved: ResolvedFilters) -> list[int]:
    """Return those of ``ids`` that pass the filters, in order."""
    sql, values = resolved.rows
    return sorted(row for (row,) in reader.rows_of(_PASSING.format(sql), ids, values))


def contents_with(reader: Reader, term: QueryTerm) -> set[int]:
    """Return the contents with a chunk that matches, whatever the filters."""
    return contents_matching(reader, term.match) if term.rows else set()


def contents_matching(reader: Reader, match: str) -> set[int]:
    return {row for (row,) in reader.rows(_CONTENTS_WITH, (match,))}


def _rows(term: QueryTerm) -> int:
    return term.rows


def _files(term: QueryTerm) -> int:
    return term.files


def _top_chunks(reader: Reader, match: str, resolved: ResolvedFilters) -> dict[int, float]:
    """Return the best rows that pass the filters. Testing the filters on each matching row takes several times longer
    than ranking it (testing whether it is alive does not). So the best of all rows come first; if enough of them pass,
    they suffice."""
    if resolved.rows not in (Condition(), ALIVE) and not resolved.small:
        best = _top(reader, _TOP_CHUNKS, match, Condition(), AHEAD_ROWS)
        passing = set(filter_chunks(reader, best, resolved))
        if len(passing) >= LIST_ROWS or len(best) < AHEAD_ROWS:
            return dict(islice(((row, score) for row, score in best.items() if row in passing), LIST_ROWS))
    return _top(reader, _TOP_CHUNKS, match, resolved.rows, LIST_ROWS)


def _top(reader: Reader, sql: str, match: str, condition: Condition, length: int) -> dict[int, float]:
    return dict(reader.rows(sql.format(condition.sql), (match, *condition.values, length)))


def _top_with_rare(
    rare: Sequence[QueryTerm],
    common: Sequence[QueryTerm],
    top: Callable[[str], dict[int, float]],
    rows_of: Callable[[QueryTerm], int],
) -> dict[int, float]:
    """Return the best rows by BM25 of all words, among those with a rare word; ``top`` returns the best rows of an
    expression.

    The rows are queried once with the common words and once without, so that an expression names each word once: FTS5
    reads all rows of each word named and counts a word twice that is named twice. (With the rare words alone the
    quality drops by .03: ranking.md.) If a single word has more rows than the budget, rows with that word alone are
    added only where the others are too few. There are none where a common word is the beginning of each.
    """
    both = top(f"({match_any(rare)}) AND ({match_any(common)})") if common else {}
    if (len(both) >= LIST_ROWS and rows_of(rare[0]) > ROW_BUDGET) or _begin_in(rare, common):
        return both
    scores = top(match_any(rare)) | both
    return dict(sorted(scores.items(), key=itemgetter(1), reverse=True)[:LIST_ROWS])


def _begin_in(rare: Sequence[QueryTerm], common: Sequence[QueryTerm]) -> bool:
    """Whether each row with a rare word has a common one too: its beginning."""
    begun = {term.tokens for term in common if term.prefix}
    return all(term.tokens in begun for term in rare)


def _budget(
    terms: Sequence[QueryTerm],
    rows_of: Callable[[QueryTerm], int],
    common_rows: int,
    row_budget: int = ROW_BUDGET,
) -> tuple[list[QueryTerm], list[QueryTerm]]:
    """Return the rarest terms whose rows fit the budget, at least one, and the rarest of the others that have no more
    than ``common_rows`` rows together."""
    ordered = sorted(terms, key=lambda term: (rows_of(term), term.match))
    rare = 1
    brought = rows_of(ordered[0])
    while rare < len(ordered) and brought + rows_of(ordered[rare]) <= row_budget:
        brought += rows_of(ordered[rare])
        rare += 1
    common = rare
    read = 0
    while common < len(ordered) and read + rows_of(ordered[common]) <= common_rows:
        read += rows_of(ordered[common])
        common += 1
    return ordered[:rare], ordered[rare:common]


def _row_budget(compiled: CompiledQuery) -> int:
    """Return how many rows the rarest words may have. Of prose, the rarest word is often not in the text that is meant:
    `guilty`, `forbid`. A list of words without a stop word may be a name, or remembered: all are there."""
    is_prose = len(compiled.any_of) >= MANY_WORDS and any(term.is_stop_word for term in compiled.spoken)
    return PROSE_BUDGET if is_prose else ROW_BUDGET


def _by_words(
    reader: Reader, terms: Sequence[QueryTerm], resolved: ResolvedFilters, found: dict[int, float], row_budget: int
) -> bool:
    """Collect the best rows by BM25 of the rare words. If no word is rare: rows that contain all words, and rows with
    one in a heading or a definition's name, unranked. Return True if no other row can score higher."""
    if sum(term.rows for term in terms) <= LIST_ROWS:
        _add(reader, match_any(terms), resolved, found, LIST_ROWS)
        return True
    rare, common = _budget(terms, _rows, COMMON_ROWS, row_budget)
    if resolved.small:
        found.update(_top_chunks(reader, match_any(terms), resolved))
        return len(found) >= LIST_ROWS
    if rare[0].rows <= TOO_COMMON:
        found.update(_top_with_rare(rare, common, lambda match: _top_chunks(reader, match, resolved), _rows))
        return len(found) >= LIST_ROWS
    ordered = sorted(terms, key=lambda term: (term.rows, term.match))[:COMMON_WORDS]
    _add(reader, f"{{heads symbols}} : ({match_any(ordered)})", resolved, found)
    whole = [term.tokens for term in ordered if not term.prefix]
    together = [term for term in ordered if not (term.prefix and term.tokens in whole)]  # a word begins with itself
    if len(together) > 1:
        _add(reader, " AND ".join(term.match for term in together), resolved, found)
    return False


def _by_neighbours(reader: Reader, compiled: CompiledQuery, resolved: ResolvedFilters, found: dict[int, float]) -> None:
    """Collect rows in which neighbours in the query are neighbours too."""
    whole, in_parts = readings([term for term in compiled.spoken if term.rows])
    neighbours = dict.fromkeys((*pairwise(whole), *pairwise(in_parts)))
    selective = [
        pair for pair in neighbours if not (pair[0].is_stop_word and pair[1].is_stop_word) and not pair[0].prefix
    ]
    rare = [pair for pair in selective if resolved.small or min(pair[0].rows, pair[1].rows) <= ROW_BUDGET]
    pairs = [
        f'"{" ".join((*left.tokens, *right.tokens))}"{" *" if right.prefix else ""}'
        for left, right in rare[:NEIGHBOURS] or selective[:COMMON_PAIRS]
    ]
    if pairs:
        _add(reader, f"body : ({' OR '.join(pairs)})", resolved, found)


def _add(
    reader: Reader, match: str, resolved: ResolvedFilters, found: dict[int, float], limit: int = UNSCORED_ROWS
) -> None:
    """Collect the first rows that match, without a score."""
    for row in other_chunks(reader, match, 0, resolved, limit):
        found.setdefault(row, 0.0)


def first_chunks(reader: Reader, contents: Collection[int], resolved: ResolvedFilters) -> list[int]:
    """Return the first chunk of each content that passes the filters: the one shown where none matched."""
    sql, values = resolved.chunks
    return [row for (row,) in reader.rows_of(_FIRST_CHUNK.format(sql), contents, values)]
