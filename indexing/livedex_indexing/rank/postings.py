"""Asks the full-text index for ranked rows: chunks by their words, files by the words of their path.

Invariant: what a statement costs is bounded by the row budget and the length of its list, never by how common a word
is; every order is total, so that two pages of one generation fit together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice, pairwise
from operator import itemgetter
from typing import Final, NamedTuple

from livedex_indexing.query.filters import ALIVE, Admission, Condition
from livedex_indexing.query.query_terms import Asked, Unit, any_of
from livedex_indexing.rank.spans import WITH_SPANS, spans
from livedex_indexing.store.database import id_list
from livedex_indexing.store.read_pool import DeadlinePassed, Reader

ROW_BUDGET: Final = 2_000  # rows that the rarest words may bring (5,000: 3 % slower, dev halves -.002, -.001, 0)
COMMON_ROWS: Final = 40_000  # of the words beside them: FTS5 reads all their rows to know how rare they are
PATH_COMMON_ROWS: Final = 10_000
COMMON_WORDS: Final = 4  # where none is rare, so many of them are asked for
COMMON_PAIRS: Final = 3  # … and so many pairs of them
NEIGHBOURS: Final = 24  # pairs of words that are looked for as neighbours
TOO_COMMON: Final = 10_000  # the rarest word stands in more: rows are taken where it says most, ranked by `features`
# Of each list. Not longer for a later page: what is ranked, and so the order, must not depend on the page.
LIST_ROWS: Final = 150
AHEAD_ROWS: Final = 2 * LIST_ROWS  # whatever the filters: mostly so many hold a whole list that is admitted
UNSCORED_ROWS: Final = 100  # of each list without scores
EVERY: Final = (0, (1 << 63) - 1)  # ids of chunks
BORDER_CUTS: Final = 16  # words of a phrase before the border of two chunks

_TOP_CHUNKS = """SELECT rowid, -bm25(postings) AS score FROM postings WHERE postings MATCH ? AND {}
                 ORDER BY score DESC, rowid LIMIT ?"""
_TOP_FILES = """SELECT rowid, -bm25(paths) AS score FROM paths WHERE paths MATCH ? AND {}
                ORDER BY score DESC, rowid LIMIT ?"""
_SOME = "SELECT rowid FROM postings WHERE postings MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
_FIRST_CHUNK = """SELECT min(c.id) FROM contents t JOIN chunks c
                  ON c.id BETWEEN t.first_chunk AND t.first_chunk + t.chunks - 1
                  WHERE t.id IN (SELECT value FROM json_each(?)) AND {} GROUP BY t.id"""
_THESE = f"""{WITH_SPANS} SELECT postings.rowid FROM spans CROSS JOIN postings
             WHERE postings MATCH ? AND postings.rowid BETWEEN low AND high
             AND +postings.rowid IN (SELECT value FROM json_each(?))"""
_OTHER_CHUNKS = "SELECT rowid FROM postings WHERE postings MATCH ? AND rowid > ? AND {} ORDER BY rowid LIMIT ?"
_OTHER_FILES = "SELECT rowid FROM paths WHERE paths MATCH ? AND rowid > ? AND {} ORDER BY rowid LIMIT ?"
_ALL = "SELECT rowid FROM postings WHERE postings MATCH ? AND rowid BETWEEN ? AND ?"
_SAME_CONTENT = """SELECT c.content_id, c.id FROM json_each(?) b JOIN chunks a ON a.id = b.value
                   JOIN chunks c ON c.id = b.value + 1 AND c.content_id = a.content_id"""
_ADMITTED = "SELECT rowid FROM postings WHERE rowid IN (SELECT value FROM json_each(?)) AND {}"
_HOLDING = """SELECT DISTINCT (SELECT content_id FROM chunks c WHERE c.id = +postings.rowid) FROM postings
              WHERE postings MATCH ?"""


class Candidates(NamedTuple):
    """Rows worth a closer look. ``chunks`` maps ids to what is known of their worth, 0 where nothing is; ``paths`` maps
    files to BM25 over the words of their paths. ``late``: the deadline cut it."""

    chunks: dict[int, float]
    paths: dict[int, float]
    late: bool


def collect(reader: Reader, asked: Asked, admission: Admission) -> Candidates:
    """The rows that ranking looks at. Past the deadline, those that were found."""
    found = Candidates({}, {}, late=False)
    units = [unit for unit in asked.any_of if unit.rows]
    named = [unit._replace(match=unit.paths or unit.match) for unit in asked.any_of if unit.files]
    try:
        if named:
            found.paths.update(
                _top_with_rare(
                    *_budget(named, _files, PATH_COMMON_ROWS),
                    lambda match: _top(reader, _TOP_FILES, match, admission.paths, LIST_ROWS),
                    _files,
                )
            )
        if units and not _by_words(reader, units, admission, found.chunks):
            _by_neighbours(reader, asked, admission, found.chunks)
    except DeadlinePassed:
        return found._replace(late=True)
    return found


def matching_chunks(
    reader: Reader, units: Sequence[Unit], ids: Collection[int], last: int, *, small: bool
) -> list[int]:
    """Those of ``ids`` that hold one of the words, of many the rarest. ``last``: about the highest id of all."""
    if not ids or not units:
        return []
    told = units if small else _budget(units, _rows, COMMON_ROWS)[0]
    places = spans(ids, told, last)
    return [row for (row,) in reader.rows(_THESE, (places.json, any_of(told), id_list(ids)))]


def other_chunks(reader: Reader, match: str, after: int, admission: Admission, limit: int) -> list[int]:
    """Chunks that match, in the order of their ids, beginning behind ``after``."""
    sql, values = admission.rows
    return [row[0] for row in reader.rows(_OTHER_CHUNKS.format(sql), (match, after, *values, limit))]


def other_files(reader: Reader, match: str, after: int, admission: Admission, limit: int) -> list[int]:
    """Files whose path matches, in the order of their ids, beginning behind ``after``."""
    sql, values = admission.paths
    return [row[0] for row in reader.rows(_OTHER_FILES.format(sql), (match, after, *values, limit))]


def border_chunks(reader: Reader, unit: Unit, span: tuple[int, int] = EVERY) -> dict[int, set[int]]:
    """Chunks of ``span`` that begin with an end of the phrase whose beginning stands in the chunk before, by content.

    No chunk holds such a phrase, so no phrase query finds it; words at a column's start are FTS5's to find.
    """
    found: dict[int, set[int]] = {}
    for cut in range(1, min(len(unit.tokens), BORDER_CUTS + 1)):
        begin, end = " ".join(unit.tokens[:cut]), " ".join(unit.tokens[cut:])
        after = [row for (row,) in reader.rows(_ALL, (f'body : ^"{end}"', *span))]
        before = reader.rows(_SOME, (f'body : "{begin}"', id_list(row - 1 for row in after))) if after else []
        pairs = id_list(row for (row,) in before)
        for content_id, chunk_id in reader.rows(_SAME_CONTENT, (pairs,)) if before else []:
            found.setdefault(content_id, set()).add(chunk_id)
    return found


def admitted_chunks(reader: Reader, ids: Collection[int], admission: Admission) -> list[int]:
    """Those of ``ids`` that the filters admit, in order."""
    sql, values = admission.rows
    return sorted(row for (row,) in reader.rows(_ADMITTED.format(sql), (id_list(ids), *values)))


def contents_holding(reader: Reader, unit: Unit) -> set[int]:
    """The contents with a chunk that matches, whatever the filters."""
    return contents_matching(reader, unit.match) if unit.rows else set()


def contents_matching(reader: Reader, match: str) -> set[int]:
    return {row for (row,) in reader.rows(_HOLDING, (match,))}


def _rows(unit: Unit) -> int:
    return unit.rows


def _files(unit: Unit) -> int:
    return unit.files


def _top_chunks(reader: Reader, match: str, admission: Admission) -> dict[int, float]:
    """The best rows that the filters admit. To ask the filters of each row that matches takes several times longer
    than to rank it (whether it is alive does not): the best of all rows come first, and those among them that are
    admitted, if they are enough."""
    if admission.rows not in (Condition(), ALIVE) and not admission.small:
        best = _top(reader, _TOP_CHUNKS, match, Condition(), AHEAD_ROWS)
        admitted = set(admitted_chunks(reader, best, admission))
        if len(admitted) >= LIST_ROWS or len(best) < AHEAD_ROWS:
            return dict(islice(((row, score) for row, score in best.items() if row in admitted), LIST_ROWS))
    return _top(reader, _TOP_CHUNKS, match, admission.rows, LIST_ROWS)


def _top(reader: Reader, sql: str, match: str, condition: Condition, length: int) -> dict[int, float]:
    return dict(reader.rows(sql.format(condition.sql), (match, *condition.values, length)))


def _top_with_rare(
    rare: Sequence[Unit], common: Sequence[Unit], top: Callable[[str], dict[int, float]], rows_of: Callable[[Unit], int]
) -> dict[int, float]:
    """The best rows by BM25 of all words among those with a rare one; ``top`` has the best that match.

    They are asked for with a common word beside, and without, so that each word is named once: FTS5 reads all rows of
    each that is named, and counts twice what is named twice (where only the rare ones are the quality drops by .03:
    ranking.md). Where a single word brings more than the budget, rows without another wait until others are too few.
    """
    both = top(f"({any_of(rare)}) AND ({any_of(common)})") if common else {}
    if len(both) >= LIST_ROWS and rows_of(rare[0]) > ROW_BUDGET:
        return both
    scores = top(any_of(rare)) | both
    return dict(sorted(scores.items(), key=itemgetter(1), reverse=True)[:LIST_ROWS])


def _budget(units: Sequence[Unit], rows_of: Callable[[Unit], int], common_rows: int) -> tuple[list[Unit], list[Unit]]:
    """The rarest units that bring no more rows than the budget, at least one, and of the rest the rarest that stand in
    no more than ``common_rows`` together."""
    ordered = sorted(units, key=lambda unit: (rows_of(unit), unit.match))
    rare = 1
    brought = rows_of(ordered[0])
    while rare < len(ordered) and brought + rows_of(ordered[rare]) <= ROW_BUDGET:
        brought += rows_of(ordered[rare])
        rare += 1
    common = rare
    read = 0
    while common < len(ordered) and read + rows_of(ordered[common]) <= common_rows:
        read += rows_of(ordered[common])
        common += 1
    return ordered[:rare], ordered[rare:common]


def _by_words(reader: Reader, units: Sequence[Unit], admission: Admission, found: dict[int, float]) -> bool:
    """The best rows by BM25 of the rare words. Where none is rare: rows that hold all words, and rows where one is in a
    heading or names a definition, as they come. True where no other row can be worth more than these."""
    if sum(unit.rows for unit in units) <= LIST_ROWS:
        _add(reader, any_of(units), admission, found, LIST_ROWS)
        return True
    rare, common = _budget(units, _rows, COMMON_ROWS)
    if admission.small:
        found.update(_top_chunks(reader, any_of(units), admission))
        return len(found) >= LIST_ROWS
    if rare[0].rows <= TOO_COMMON:
        found.update(_top_with_rare(rare, common, lambda match: _top_chunks(reader, match, admission), _rows))
        return len(found) >= LIST_ROWS
    ordered = sorted(units, key=lambda unit: (unit.rows, unit.match))[:COMMON_WORDS]
    _add(reader, f"{{heads symbols}} : ({any_of(ordered)})", admission, found)
    if len(ordered) > 1:
        _add(reader, " AND ".join(unit.match for unit in ordered), admission, found)
    return False


def _by_neighbours(reader: Reader, asked: Asked, admission: Admission, found: dict[int, float]) -> None:
    """Rows where words that are neighbours in the query are neighbours too."""
    spoken = list(pairwise(unit for unit in asked.spoken if unit.rows))
    told = [pair for pair in spoken if not (pair[0].stop and pair[1].stop) and not pair[0].prefix]
    rare = [pair for pair in told if admission.small or min(pair[0].rows, pair[1].rows) <= ROW_BUDGET]
    pairs = [
        f'"{" ".join((*left.tokens, *right.tokens))}"{" *" if right.prefix else ""}'
        for left, right in rare[:NEIGHBOURS] or told[:COMMON_PAIRS]
    ]
    if pairs:
        _add(reader, f"body : ({' OR '.join(pairs)})", admission, found)


def _add(reader: Reader, match: str, admission: Admission, found: dict[int, float], limit: int = UNSCORED_ROWS) -> None:
    """The first rows that match, whatever their worth."""
    for row in other_chunks(reader, match, 0, admission, limit):
        found.setdefault(row, 0.0)


def first_chunks(reader: Reader, contents: Iterable[int], admission: Admission) -> list[int]:
    """Of each content the first chunk that is admitted: the one shown where none is named."""
    sql, values = admission.chunks
    return [row for (row,) in reader.rows(_FIRST_CHUNK.format(sql), (id_list(contents), *values))]
