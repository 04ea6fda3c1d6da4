"""Counts what matches a query: the hits, and the files by language, by kind of chunk, by root.

Invariant: a count covers all matches, not only those that ranking looked at: it equals the number of files that the
same query would find with that language, kind or root as one more filter. Every copy of a content is a file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import itemgetter
from typing import Final, NamedTuple

from livedex_indexing.language_names import same_language
from livedex_indexing.model import KINDS
from livedex_indexing.path_text import display_path
from livedex_indexing.query.filters import NO_CHUNK, OF_CONTENT
from livedex_indexing.query.query_terms import CompiledQuery, match_any, match_any_path
from livedex_indexing.rank.phrase_filter import FileFilter
from livedex_indexing.rank.postings import filter_chunks
from livedex_indexing.store.database import id_list
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import IN_CONTENT
from livedex_ipc.wire_results import TotalFields

Facets = dict[str, dict[str, int]]
File = tuple[int, int, int]  # file id, content id, root id
# Content id, kind and language (0: not known) of chunks, and how many of them are hits by their text.
ChunkTraits = tuple[int, int, int, int]

_TRAITS = "SELECT c.content_id, c.kind, coalesce(c.language, 0), {} FROM"
# The full-text index comes first, with its rows in the order of chunks, so the chunks are read sequentially.
_MATCHED = f"""{_TRAITS.format("count(*)")} postings CROSS JOIN chunks c ON c.id = postings.rowid
               WHERE postings MATCH ? AND {{}} GROUP BY 1, 2, 3"""
_THESE = f"{_TRAITS.format(0)} chunks c WHERE c.id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3"
_WHOLE = f"""{_TRAITS.format(0)} contents t CROSS JOIN chunks c ON {IN_CONTENT}
             WHERE t.id IN (SELECT value FROM json_each(?)) AND {{}} GROUP BY 1, 2, 3"""
_EMPTY = f"{_TRAITS.format(0)} {NO_CHUNK} WHERE c.content_id IN (SELECT value FROM json_each(?)) AND {{}}"
_NAMED = "SELECT rowid FROM paths WHERE paths MATCH ? AND {}"
_FILES = "SELECT d.id, d.content_id, d.root_id FROM files d WHERE {}"
_FILES_OF = f"""SELECT d.id, d.content_id, d.root_id FROM {OF_CONTENT}
                WHERE {{}} AND d.content_id IN (SELECT value FROM json_each(?))"""
_FILES_BY_ID = _FILES.format("d.id IN (SELECT value FROM json_each(?))")
_MATCHED_OF = "SELECT rowid FROM postings WHERE rowid IN (SELECT value FROM json_each(?)) AND postings MATCH ?"
_CONTENT_OF_CHUNK = "SELECT content_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
_LANGUAGES = "SELECT id, name FROM languages"
_PLACES: Final = {"kinds": 1, "languages": 2}  # in a `ChunkTraits`


class _Matches(NamedTuple):
    """The files that match by their text alone, with the traits of their chunks, and those that match by their path."""

    by_text: list[File]
    traits: set[ChunkTraits]
    by_name: list[File]
    traits_of_named: set[ChunkTraits]


class MatchCounter:
    """Counts all matches of one search, in its snapshot.

    ``has_phrases`` tells whether a content contains the phrases of the query; None: all do. ``added``: chunks that
    are hits, some without a word of the query, such as the definition of a name in it.
    """

    def __init__(
        self,
        reader: Reader,
        compiled: CompiledQuery,
        file_filter: FileFilter,
        has_phrases: Callable[[int], bool] | None,
        added: Collection[int] = (),
    ) -> None:
        self._reader = reader
        self._compiled = compiled
        self._resolved = file_filter.resolved
        self._borders = file_filter.borders
        self._has_phrases = has_phrases
        self._wordless = self._without_words(added)

    def total(self, *, by_file: bool) -> TotalFields:
        """Return the number of hits, as many as all pages have, and of the files. Raises DeadlinePassed.

        ``by_file``: each file has one hit. A content is one hit more only once, however many files have it.
        """
        by_text, traits, by_name, _ = self._matches()
        chunks: Counter[int] = Counter()
        for content_id, _, _, count in traits:
            chunks[content_id] += count
        chunks.update(content_id for (content_id,) in self._reader.rows_of(_CONTENT_OF_CHUNK, self._wordless))
        contents = {file[1] for file in (*by_text, *by_name)}
        hits = len(contents) if by_file else sum(max(1, chunks[content_id]) for content_id in contents)
        return {"hits": hits, "files": len(by_text) + len(by_name)}

    def facets(self, names: Iterable[str], roots: Mapping[int, bytes]) -> Facets:
        """Return the named facets, in that order, each with the most frequent value first. Raises DeadlinePassed."""
        by_text, traits, by_name, traits_of_named = self._matches()
        facets: Facets = {}
        for name in dict.fromkeys(names):
            if name == "roots":
                counts = Counter(display_path(roots[root_id]) for _, _, root_id in (*by_text, *by_name))
            else:
                place = _PLACES[name]
                shown = dict(enumerate(KINDS)) if name == "kinds" else self._languages()
                counts = _files_with(by_text, traits, place, shown) + _files_with(
                    by_name, traits_of_named, place, shown
                )
            facets[name] = ordered(counts)
        return facets

    def _languages(self) -> dict[int, str]:
        """Return the usual name of each language by id: a file and a fence may spell it otherwise."""
        return {number: same_language(name) for number, name in self._reader.rows(_LANGUAGES)}

    def _matches(self) -> _Matches:
        """Return the files that match."""
        by_name, traits_of_named = self._by_name()
        traits = self._by_text()
        named = {file_id for file_id, _, _ in by_name}
        contents = {trait[0] for trait in traits}
        if self._has_phrases is not None:
            passing = set(filter(self._has_phrases, contents.union(file[1] for file in by_name)))
            contents &= passing
            by_name = [file for file in by_name if file[1] in passing]
        by_text = [file for file in self._files_of(contents) if file[0] not in named]
        return _Matches(by_text, traits, by_name, traits_of_named)

    def _by_text(self) -> set[ChunkTraits]:
        """Return the traits of the chunks that match."""
        rows, values = self._resolved.rows
        terms = [term for term in self._compiled.any_of if term.rows]
        found: set[ChunkTraits] = set()
        if terms:
            found.update(self._reader.rows(_MATCHED.format(rows), (match_any(terms), *values)))
        found.update(self._reader.rows_of(_THESE, self._wordless))
        if not self._compiled.terms:
            over = {chunk for by_content in self._borders.values() for ids in by_content.values() for chunk in ids}
            passing = filter_chunks(self._reader, over, self._resolved) if over else []
            found.update(self._reader.rows(_THESE, (json.dumps(passing),)))
        return found

    def _without_words(self, chunk_ids: Collection[int]) -> set[int]:
        terms = [term for term in self._compiled.any_of if term.rows]
        matched = self._reader.rows_of(_MATCHED_OF, chunk_ids, (match_any(terms),)) if terms else []
        return set(chunk_ids).difference(chunk_id for (chunk_id,) in matched)

    def _by_name(self) -> tuple[list[File], set[ChunkTraits]]:
        """Return the files that match by their path and the traits of their chunks, all of which match with the file. A
        query without words or phrases matches every file that passes the filters."""
        files, chunks = self._resolved.files, self._resolved.chunks
        if not self._compiled.textual:
            found = self._reader.rows(_FILES.format(files.sql), files.values)
        else:
            terms = [term for term in self._compiled.terms if term.files]
            sql, values = self._resolved.paths
            match = match_any_path(terms)
            ids = [row for (row,) in self._reader.rows(_NAMED.format(sql), (match, *values))] if terms else []
            found = self._reader.rows(_FILES_BY_ID, (json.dumps(ids),))
        contents = id_list({content_id for _, content_id, _ in found})
        traits: set[ChunkTraits] = set()
        for statement in (_WHOLE, _EMPTY):
            traits.update(self._reader.rows(statement.format(chunks.sql), (contents, *chunks.values)))
        if chunks.sql != "1":  # a file none of whose chunks is admitted does not match
            some = {trait[0] for trait in traits}
            found = [file for file in found if file[1] in some]
        return found, traits

    def _files_of(self, contents: Iterable[int]) -> list[File]:
        sql, values = self._resolved.files
        return self._reader.rows(_FILES_OF.format(sql), (*values, id_list(contents)))


def _files_with(
    files: Iterable[File], traits: Iterable[ChunkTraits], place: int, shown: Mapping[int, str]
) -> Counter[str]:
    """Return for each value, as it is ``shown``, how many of the files have a chunk with it."""
    copies = Counter(map(itemgetter(1), files))
    counts: Counter[str] = Counter()
    for content_id, value in {(trait[0], shown[trait[place]]) for trait in traits if trait[place] in shown}:
        count = copies.get(content_id)
        if count:
            counts[value] += count
    return counts


def counted_by(names: Iterable[str], files: Collection[tuple[str, str, int]]) -> Facets:
    """Count files by language, kind or root. ``files``: a facet, a value of it, and the id of a file that has it."""
    return {name: ordered(Counter(value for facet, value, _ in files if facet == name)) for name in names}


def ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
