"""Counts the files that match a query: by language, by kind of chunk, by root.

Invariant: a count is of all that matches, whatever ranking looked at: as many files as the same query would find with
that language, kind or root as one more filter. Every copy of a content is a file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Final

from livedex_indexing.model import KINDS
from livedex_indexing.path_text import display_path
from livedex_indexing.query.filters import OF_CONTENT
from livedex_indexing.query.query_compiler import Asked, any_of, any_path_of
from livedex_indexing.rank.phrase_filter import Held
from livedex_indexing.rank.postings import admitted_chunks
from livedex_indexing.store.database import id_list
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import IN_CONTENT

Facets = dict[str, dict[str, int]]
File = tuple[int, int, int]  # file id, content id, root id
Sort = tuple[int, int, int]  # content id, kind and language of a chunk (0: not known)

_SORT = "SELECT DISTINCT c.content_id, c.kind, coalesce(c.language, 0)"
# The full-text index comes first and its rows in the order of chunks: the chunks are then read one after the other.
_MATCHED = f"""{_SORT} FROM postings CROSS JOIN chunks c ON c.id = postings.rowid
               WHERE postings MATCH ? AND {{}}"""
_THESE = f"{_SORT} FROM chunks c WHERE c.id IN (SELECT value FROM json_each(?))"
_WHOLE = f"""{_SORT} FROM contents t CROSS JOIN chunks c ON {IN_CONTENT}
             WHERE t.id IN (SELECT value FROM json_each(?)) AND {{}}"""
_NAMED = "SELECT rowid FROM paths WHERE paths MATCH ? AND {}"
_FILES = "SELECT d.id, d.content_id, d.root_id FROM files d WHERE {}"
_FILES_OF = f"""SELECT d.id, d.content_id, d.root_id FROM {OF_CONTENT}
                WHERE {{}} AND d.content_id IN (SELECT value FROM json_each(?))"""
_FILES_BY_ID = _FILES.format("d.id IN (SELECT value FROM json_each(?))")
_LANGUAGES = "SELECT id, name FROM languages"
_PLACES: Final = {"kinds": 1, "languages": 2}  # in a `Sort`


class Counting:
    """Counts for one search, in its snapshot. ``holds`` says whether a content holds its phrases, None: all do."""

    def __init__(self, reader: Reader, asked: Asked, held: Held, holds: Callable[[int], bool] | None) -> None:
        self._reader = reader
        self._asked = asked
        self._admission = held.admission
        self._borders = held.borders
        self._holds = holds

    def count(self, names: Iterable[str], roots: Mapping[int, bytes]) -> Facets:
        """The facets of those names, in their order; in each the most frequent first. Raises DeadlinePassed."""
        by_name, sorts_of_named = self._by_name()
        sorts = self._by_text()
        named = {file_id for file_id, _, _ in by_name}
        contents = {sort[0] for sort in sorts}
        if self._holds is not None:
            admitted = set(filter(self._holds, contents.union(file[1] for file in by_name)))
            contents &= admitted
            by_name = [file for file in by_name if file[1] in admitted]
        by_text = [file for file in self._files_of(contents) if file[0] not in named]
        facets: Facets = {}
        for name in dict.fromkeys(names):
            if name == "roots":
                counts = Counter(map(itemgetter(2), (*by_text, *by_name)))
                shown = {root_id: display_path(roots[root_id]) for root_id in counts}
            else:
                place = _PLACES[name]
                counts = _files_with(by_text, sorts, place) + _files_with(by_name, sorts_of_named, place)
                shown = dict(enumerate(KINDS)) if name == "kinds" else dict(self._reader.rows(_LANGUAGES))
            facets[name] = ordered({shown[value]: count for value, count in counts.items() if value in shown})
        return facets

    def _by_text(self) -> set[Sort]:
        """The sorts of the chunks that match."""
        rows, values = self._admission.rows
        units = [unit for unit in self._asked.any_of if unit.rows]
        found: set[Sort] = set()
        if units:
            found.update(self._reader.rows(_MATCHED.format(rows), (any_of(units), *values)))
        if not self._asked.units:
            over = {chunk for by_content in self._borders.values() for ids in by_content.values() for chunk in ids}
            admitted = admitted_chunks(self._reader, over, self._admission) if over else []
            found.update(self._reader.rows(_THESE, (json.dumps(admitted),)))
        return found

    def _by_name(self) -> tuple[list[File], set[Sort]]:
        """The files that match by their path, which do so with each of their chunks; where nothing is looked for in
        texts and paths, all that the filters admit."""
        files, chunks = self._admission.files, self._admission.chunks
        if not self._asked.textual:
            found = self._reader.rows(_FILES.format(files.sql), files.values)
        else:
            units = [unit for unit in self._asked.units if unit.files]
            sql, values = self._admission.paths
            match = any_path_of(units)
            ids = [row for (row,) in self._reader.rows(_NAMED.format(sql), (match, *values))] if units else []
            found = self._reader.rows(_FILES_BY_ID, (json.dumps(ids),))
        contents = id_list({content_id for _, content_id, _ in found})
        sorts = set(self._reader.rows(_WHOLE.format(chunks.sql), (contents, *chunks.values)))
        if chunks.sql != "1":  # a file none of whose chunks is admitted does not match
            some = {sort[0] for sort in sorts}
            found = [file for file in found if file[1] in some]
        return found, sorts

    def _files_of(self, contents: Iterable[int]) -> list[File]:
        sql, values = self._admission.files
        return self._reader.rows(_FILES_OF.format(sql), (*values, id_list(contents)))


def _files_with(files: Iterable[File], sorts: Iterable[Sort], place: int) -> Counter[int]:
    """How many of the files have a chunk of each value."""
    copies = Counter(map(itemgetter(1), files))
    counts: Counter[int] = Counter()
    for content_id, value in set(map(itemgetter(0, place), sorts)):
        count = copies.get(content_id)
        if count:
            counts[value] += count
    return counts


def ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
