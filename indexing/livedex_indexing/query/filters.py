"""Restricts a query to files and chunks by SQL conditions inside its statements.

Invariant: a row that a filter excludes is never ranked and never counts against a limit, so a small folder in a large
index gives its full answer.

`postings.rowid` and `paths.rowid` carry a unary plus everywhere. Without it SQLite queries the full-text index once for
each id of the set, which is hundreds of times slower. Sub-selects are scalar for the same reason: SQLite turns an
EXISTS into a join and may start at the wrong end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from livedex_indexing import relpath
from livedex_indexing.ignore.globs import BadGlob, Bound, GlobFilter, PathTerm
from livedex_indexing.language_names import same_language
from livedex_indexing.model import KINDS, Kind, Query, Term
from livedex_indexing.query.scope import within
from livedex_indexing.store.properties import meta_condition, tag_condition
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import IN_CONTENT, any_true
from livedex_ipc.errors import InvalidParams

SMALL: Final = 5_000  # chunks: up to this number their ids are listed, the fastest filter there is
MANY_ROWS: Final = 5_000  # matching chunks: from here on, scanning all chunks beats checking the language of each match
FEW_FILES: Final = 1_000
MOST_BOUNDS: Final = 20  # bounds of globs: more would cost what they save

# Finds a row ``d`` by its content. If the query also names a root, SQLite would otherwise scan the whole root.
OF_CONTENT: Final = "files d INDEXED BY files_by_content"

_TABLES = """
CREATE TEMP TABLE IF NOT EXISTS filtered_files (id INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS filtered_contents (id INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS filtered_chunks (id INTEGER PRIMARY KEY);
"""
_INDEXED: Final = "d.content_id IS NOT NULL"
_EMPTY = "DELETE FROM temp.filtered_files; DELETE FROM temp.filtered_contents; DELETE FROM temp.filtered_chunks"
_FILTER_CONTENTS = """INSERT INTO temp.filtered_contents SELECT DISTINCT content_id FROM files
                      WHERE id IN (SELECT id FROM temp.filtered_files)"""
_COUNT_FILTERED = "SELECT total(chunks) FROM contents WHERE id IN (SELECT id FROM temp.filtered_contents)"
_LIST = f"""INSERT INTO temp.filtered_chunks SELECT c.id FROM temp.filtered_contents a JOIN contents t ON t.id = a.id
           JOIN chunks c ON {IN_CONTENT}"""
_LIST_OF_ALL = f"INSERT INTO temp.filtered_chunks SELECT c.id FROM chunks c WHERE {{}} LIMIT {SMALL + 1}"
_COUNT_LISTED = "SELECT count(*) FROM temp.filtered_chunks"
_HAS_DEAD = "SELECT EXISTS (SELECT 1 FROM dead)"
_FILES_OF = f"SELECT count(*) FROM (SELECT 1 FROM files d WHERE {{}} LIMIT {FEW_FILES + 1})"
# What stands for the chunks of a content that has none, as an empty file: the kind of chunk that its pipeline makes.
KIND_OF_PIPELINE: Final[Mapping[str, Kind]] = {"markdown": "markdown_text", "code": "code"}
_KIND = " ".join(f"WHEN '{pipeline}' THEN {KINDS.index(kind)}" for pipeline, kind in KIND_OF_PIPELINE.items())
NO_CHUNK: Final = f"""(SELECT id AS content_id, CASE pipeline {_KIND} ELSE {KINDS.index("plain")} END AS kind, language
                       FROM contents WHERE chunks = 0) c"""
_HAS_CHUNK = f"""((SELECT count(*) FROM contents t
    JOIN chunks c ON {IN_CONTENT}
    WHERE t.id = d.content_id AND {{0}}) > 0 OR (SELECT {{0}} FROM {NO_CHUNK} WHERE c.content_id = d.content_id))"""


class Condition(NamedTuple):
    """A piece of SQL with its values, true for the rows that pass."""

    sql: str = "1"
    values: tuple[Any, ...] = ()

    def and_(self, other: Condition) -> Condition:
        if other.sql == "1":
            return self
        return other if self.sql == "1" else Condition(f"{self.sql} AND {other.sql}", self.values + other.values)


ALIVE: Final = Condition("+postings.rowid NOT IN (SELECT id FROM dead)")


class Filters(NamedTuple):
    """The filters of a query. ``files`` refers to a row ``d`` of files, ``chunks`` to a row ``c`` of chunks.
    ``path_matches`` is a test of the relative path that only Python can make, None without such a filter.
    ``selective``: few files are likely to pass, so listing them first pays. ``key`` distinguishes one ``path_matches``
    from another."""

    files: Condition
    chunks: Condition
    path_matches: Callable[[bytes], bool] | None
    selective: bool
    key: object = None


class ResolvedFilters(NamedTuple):
    """Filters ready for the statements of one search. ``rows`` refers to `postings`, ``paths`` to `paths`. ``small``:
    so few chunks pass that ranking all of them is cheap."""

    files: Condition
    chunks: Condition
    rows: Condition
    paths: Condition
    small: bool


def build_filters(reader: Reader, query: Query, roots: Mapping[int, bytes], excluded_paths: str | None) -> Filters:
    """Build the filters of a query. Files pass only if their root is in ``roots`` and is not missing.
    ``excluded_paths`` is an FTS5 expression on `paths`: matching files are excluded; None excludes nothing."""
    known = reader.rows("SELECT id, missing_since FROM roots")
    served = [root_id for root_id, missing_since in known if missing_since is None and root_id in roots]
    files, selective = Condition(_INDEXED), False
    if len(served) < len(known):
        files = files.and_(_one_of("d.root_id", served))
    if query.root_ids:
        inside = _one_of("d.root_id", query.root_ids)
        files, selective = files.and_(inside), reader.one(_FILES_OF.format(inside.sql)) <= FEW_FILES
    if query.places is not None:
        files, selective = files.and_(_within(query.places)), True
    files = files.and_(_times(query.modified_after, query.modified_before))
    path_matches, bounds = _path_filter(query)
    files = files.and_(bounds)
    for terms, excluded in _by_name(query.terms, "ext"):
        files = files.and_(_extensions(terms, excluded))
        selective = True
    for terms, excluded in _by_name(query.terms, "meta"):
        files = files.and_(Condition(*meta_condition(terms, excluded=excluded)))
        selective |= not excluded
    for terms, excluded in _by_name(query.terms, "tag"):
        files = files.and_(Condition(*tag_condition(terms, excluded=excluded)))
        selective |= not excluded
    if excluded_paths is not None:
        files = files.and_(Condition("d.id NOT IN (SELECT rowid FROM paths WHERE paths MATCH ?)", (excluded_paths,)))
    selective |= query.modified_after is not None or query.modified_before is not None
    key = (query.globs, tuple(term for term in query.terms if term.name == "path"))
    return Filters(files, _chunk_condition(reader, query), path_matches, selective, key)


def resolve_filters(reader: Reader, filters: Filters, generation: int, rows: int = 0) -> ResolvedFilters:
    """Prepare the filters for a search whose words occur in ``rows`` chunks: list the files or chunks that pass where
    that pays. Uses temporary tables of the reader's connection."""
    listed = filters.path_matches is not None or filters.selective
    by_chunk = filters.chunks.sql != "1" and rows > MANY_ROWS
    small = False
    if listed or by_chunk:
        key = (generation, filters.files, filters.chunks, filters.key, by_chunk)
        if reader.scratch.get("filtered") != key:
            reader.scratch["filtered"] = None
            reader.scratch["small"] = _list(reader, filters, listed, by_chunk)
            reader.scratch["filtered"] = key
        small = bool(reader.scratch["small"])
    files = Condition("+d.id IN (SELECT id FROM temp.filtered_files)") if listed else filters.files
    of_rows = _small_rows(reader) if small else _rows(reader, filters, listed)
    return ResolvedFilters(files, filters.chunks, of_rows, _paths(filters, files), small)


def files_with_chunks(resolved: ResolvedFilters) -> Condition:
    """Return the condition for files that pass and contain a chunk that passes."""
    return resolved.files.and_(_has_chunk(resolved.chunks))


def _has_chunk(chunks: Condition) -> Condition:
    sql, values = chunks
    return chunks if sql == "1" else Condition(_HAS_CHUNK.format(sql), values + values)


def _list(reader: Reader, filters: Filters, listed: bool, by_chunk: bool) -> bool:
    """Fill the temporary tables. Return True when so few chunks pass that they are listed one by one."""
    reader.rows(_TABLES)
    reader.rows(_EMPTY)
    if listed:
        _list_files(reader, filters)
        if reader.one(_COUNT_FILTERED) <= SMALL:
            reader.rows(f"{_LIST} WHERE {filters.chunks.sql}", filters.chunks.values)
            return True
    if not by_chunk:
        return False
    inside = _chunks(filters, listed).and_(Condition("c.id NOT IN (SELECT id FROM dead)"))
    reader.rows(_LIST_OF_ALL.format(inside.sql), inside.values)
    return bool(reader.one(_COUNT_LISTED) <= SMALL)


def _list_files(reader: Reader, filters: Filters) -> None:
    where, values = filters.files
    if filters.path_matches is None:
        reader.rows(f"INSERT INTO temp.filtered_files SELECT d.id FROM files d WHERE {where}", values)
    else:
        path_matches = filters.path_matches
        found = reader.rows(f"SELECT d.id, d.folder, d.name FROM files d WHERE {where}", values)
        chosen = [(i,) for i, folder, name in found if path_matches(folder + b"/" + name if folder else name)]
        reader.fill("INSERT INTO temp.filtered_files VALUES (?)", chosen)
    reader.rows(_FILTER_CONTENTS)


def _chunks(filters: Filters, listed: bool) -> Condition:
    """Return the condition for chunks that pass; it may include chunks of contents that no file uses."""
    files = filters.files
    if listed:
        return filters.chunks.and_(Condition("c.content_id IN (SELECT id FROM temp.filtered_contents)"))
    if files.sql == _INDEXED:
        return filters.chunks
    of_files = f"(SELECT count(*) FROM {OF_CONTENT} WHERE d.content_id = c.content_id AND {files.sql}) > 0"
    return filters.chunks.and_(Condition(of_files, files.values))


def _small_rows(reader: Reader) -> Condition:
    low, high = reader.rows("SELECT min(id), max(id) FROM temp.filtered_chunks")[0]
    return Condition(
        "+postings.rowid IN (SELECT id FROM temp.filtered_chunks) AND postings.rowid BETWEEN ? AND ?",
        (low or 0, high or 0),
    )


def _rows(reader: Reader, filters: Filters, listed: bool) -> Condition:
    alive = ALIVE if reader.one(_HAS_DEAD) else Condition()
    chunk = _chunks(filters, listed)
    if chunk.sql == "1":
        return alive
    inside = Condition(f"(SELECT {chunk.sql} FROM chunks c WHERE c.id = +postings.rowid)", chunk.values)
    return alive.and_(inside)


def _paths(filters: Filters, files: Condition) -> Condition:
    sql, values = f"(SELECT {files.sql} FROM files d WHERE d.id = +paths.rowid)", files.values
    if filters.chunks.sql == "1":
        return Condition(sql, values)
    some, values_of_some = _has_chunk(filters.chunks)
    return Condition(f"{sql} AND (SELECT {some} FROM files d WHERE d.id = +paths.rowid)", values + values_of_some)


def _chunk_condition(reader: Reader, query: Query) -> Condition:
    condition = Condition()
    if query.kinds:
        condition = condition.and_(_kinds(query.kinds, excluded=False))
    if query.languages:
        condition = condition.and_(_languages(reader, query.languages, excluded=False))
    for values, excluded in _by_name(query.terms, "kind"):
        condition = condition.and_(_kinds(values, excluded=excluded))
    for values, excluded in _by_name(query.terms, "lang"):
        condition = condition.and_(_languages(reader, values, excluded=excluded))
    return condition


def _kinds(names: Sequence[str], *, excluded: bool) -> Condition:
    places_of = [KINDS.index(kind) for kind in KINDS if kind in {name.lower() for name in names}]
    return _one_of("c.kind", places_of, excluded=excluded)


def _languages(reader: Reader, names: Sequence[str], *, excluded: bool) -> Condition:
    wanted = set(map(same_language, names))
    ids = [i for i, name in reader.rows("SELECT id, name FROM languages") if same_language(name) in wanted]
    return _one_of("coalesce(c.language, 0)", ids, excluded=excluded)


def _extensions(names: Sequence[str], excluded: bool) -> Condition:
    suffixes = [b"." + name.removeprefix(".").lower().encode("utf-8", "replace") for name in names]
    # Only ASCII case is folded: the name is bytes, and a cut may split a letter of another script.
    tests = any_true(["lower(CAST(substr(d.name, ?) AS TEXT)) = CAST(? AS TEXT)"] * len(suffixes))
    values = tuple(value for suffix in suffixes for value in (-len(suffix), suffix))
    return Condition(f"{'NOT ' if excluded else ''}{tests}", values)


def _times(after: int | None, before: int | None) -> Condition:
    condition = Condition()
    for bound, sign in ((after, ">="), (before, "<")):
        if bound is not None:
            within_64_bits = max(-(1 << 63), min((1 << 63) - 1, bound))
            condition = condition.and_(Condition(f"d.mtime_ns {sign} ?", (within_64_bits,)))
    return condition


def _path_filter(query: Query) -> tuple[Callable[[bytes], bool] | None, Condition]:
    """Return the path test in Python, None where the query does not filter by path, and SQL bounds that narrow the
    files beforehand."""
    tests: list[Callable[[bytes], bool]] = []
    bounds = Condition()
    if query.globs:
        globs = glob_filter(query.globs, "globs")
        tests.append(globs.admits)
        bounds = _within_bounds(globs.bounds)
    for values, excluded in _by_name(query.terms, "path"):
        tests.append(_any_path([PathTerm(value) for value in values], excluded))
    if len(tests) < 2:
        return tests[0] if tests else None, bounds
    return lambda path: all(test(path) for test in tests), bounds


def _within_bounds(bounds: Sequence[Bound]) -> Condition:
    """Return a condition for the bounds of globs. Most globs name a folder or a suffix: testing those in SQL saves
    building and matching every path."""
    if len(bounds) > MOST_BOUNDS or any(not bound.folder and not bound.end for bound in bounds):
        return Condition()
    parts: list[str] = []
    values: list[object] = []
    for folder, end in bounds:
        tests = []
        if folder:
            tests.append("(d.folder = ? OR d.folder >= ? AND d.folder < ?)")
            values += [folder, *relpath.range_below(folder)]
        _, slash, name = end.rpartition(b"/")
        if slash:
            tests.append("d.name = ?")
            values.append(name)
        elif end:
            tests.append("substr(d.name, ?) = ?")
            values += [-len(end), end]
        parts.append(" AND ".join(tests))
    return Condition(any_true(parts), tuple(values)) if parts else Condition()


def glob_filter(globs: Sequence[str], field: str) -> GlobFilter:
    """Return the filter of the globs in a param. Raises InvalidParams where ripgrep would refuse one."""
    try:
        return GlobFilter(globs)
    except BadGlob as error:
        raise InvalidParams(f"{field}: {error}", {"field": field}) from None


def _any_path(terms: Sequence[PathTerm], excluded: bool) -> Callable[[bytes], bool]:
    return lambda path: any(term.admits(path) for term in terms) != excluded


def _by_name(terms: Sequence[Term], name: str) -> list[tuple[list[str], bool]]:
    """Return the values of the terms of one name: first those wanted (any of them), then those excluded. Empty groups
    are left out."""
    wanted = [term.value for term in terms if term.name == name and not term.excluded]
    unwanted = [term.value for term in terms if term.name == name and term.excluded]
    return [(values, excluded) for values, excluded in ((wanted, False), (unwanted, True)) if values]


def _within(alternatives: Sequence[Any]) -> Condition:
    sql, values = within(alternatives)
    return Condition(sql, tuple(values))


def _one_of(column: str, ids: Sequence[int], *, excluded: bool = False) -> Condition:
    if not ids:
        # No id is negative. With a constant, SQLite could not use the index that `OF_CONTENT` names.
        return Condition() if excluded else Condition(f"{column} IN (-1)")
    return Condition(f"{column} {'NOT ' if excluded else ''}IN ({', '.join(map(str, ids))})")
