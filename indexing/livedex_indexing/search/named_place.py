"""Finds the place that a query names among the indexed files, and reads the query with its line left out.

Invariant: a number after what is no file's name stays a word of the query.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import msgspec

from livedex_indexing.model import Query
from livedex_indexing.query.typed_import import typed_imports
from livedex_indexing.query.typed_link import is_heading, typed_link
from livedex_indexing.query.typed_place import TypedPlace, module_files, typed_places
from livedex_indexing.rank.called_files import ELSEWHERE, called_by, folders_above
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import IN_CONTENT

_FRONT: Final = re.compile(r"(?:[ab]|\.{1,2}(?:/\.\.)*)/(?P<path>[^/].*)")
_NAMED: Final = """SELECT d.folder, d.name, d.content_id FROM paths p JOIN files d ON d.id = p.rowid
                   WHERE paths MATCH ? LIMIT 2000"""
_HEADINGS: Final = f"""SELECT c.start_line, c.content_id, c.heading FROM contents t JOIN chunks c ON {IN_CONTENT}
                       WHERE t.id IN (SELECT value FROM json_each(?)) AND c.heading IS NOT NULL ORDER BY c.id"""
_WITH_OPTION: Final = """SELECT c.start_line FROM contents t CROSS JOIN postings p CROSS JOIN chunks c ON c.id = p.rowid
                          WHERE t.id = ? AND p.postings MATCH ?
                          AND p.rowid BETWEEN t.first_chunk AND t.first_chunk + t.chunks - 1 ORDER BY p.rowid LIMIT 1"""


def named_place(reader: Reader, query: str) -> TypedPlace | None:
    """Return the place that a query names, with the contents of its files: the first in whose folder such a file is, or
    else the one with most of its folders. None where no indexed file has the name."""
    if typed_imports(query):
        return None  # it names a module: `imported_places`
    best, value = None, 0.0
    links, places = typed_link(query), typed_places(query)
    whole = next((place for place in places if place.is_whole and place.text == query), None)
    if whole is not None and not links:
        if "/" not in whole.path:
            return _module(reader, query) or whole
        return _from_root(_called(reader, whole, any_suffix=True)[1])  # whatever it is called, nothing else is left out
    for place in sorted((*links, *places), key=lambda place: not place.line):
        if best is not None and not (place.line or place.heading):
            break
        called, known = _called(reader, place)
        found = _at_option(reader, known)
        is_source = "://" in place.path and place.path not in query  # of a page: its folder must be known
        if found is not None and called > (ELSEWHERE if is_source and value < ELSEWHERE else value):
            best, value = found, called
        if value > ELSEWHERE:
            break
    if best is None:
        return whole
    return _at_heading(reader, best) if best.heading else best


def at_place(request: SearchRequest, query: Query, place: TypedPlace) -> Query:
    """Return the ``query`` of a request with the path alone where it names a place."""
    if place.is_whole:
        return replace(query, text=place.path, unfinished=False, excluded=(), phrases=(), terms=())
    return msgspec.structs.replace(request, query=place.text, typing=False).parsed()[0]


def _module(reader: Reader, query: str) -> TypedPlace | None:
    """Return the file of the module that a query names; None without one in all of its packages, and where a file has
    the very name."""
    for place in module_files(query):
        called, known = _called(reader, place, any_suffix=True, in_folders=True)
        if called == 1 and not _called(reader, TypedPlace(query.strip(), 0, query.strip()))[0]:
            return known
    return None


def _from_root(place: TypedPlace) -> TypedPlace:
    """Return a place without what `diff` or a shell puts in front of a path, if all the other folders are known."""
    found = _FRONT.fullmatch(place.path)
    if found is None or not 0 < place.folders == found["path"].count("/"):
        return place
    return place._replace(path=found["path"], text=found["path"])


def _at_heading(reader: Reader, place: TypedPlace) -> TypedPlace:
    """Return the place with the line of its heading, which is a word of the query where the file does not have it."""
    rows = reader.rows_of(_HEADINGS, place.contents)
    lines = ((line, of) for line, of, heading in rows if is_heading(heading.rpartition(" > ")[2], place.heading))
    line, content_id = next(lines, (0, 0))
    if not line:
        return place
    return place._replace(line=line, text=place.path, contents=frozenset({content_id}))


def _at_option(reader: Reader, place: TypedPlace) -> TypedPlace | None:
    """Return the place with the line of the first chunk that has its option, None if its files have none."""
    if not place.option:
        return place
    match = f'body : "{" ".join(reader.tokens(place.option))}"'
    for content_id in sorted(place.contents):
        line = reader.one(_WITH_OPTION, (content_id, match))
        if line is not None:
            return place._replace(line=line, contents=frozenset({content_id}))
    return None


def _called(
    reader: Reader, place: TypedPlace, *, any_suffix: bool = False, in_folders: bool = False
) -> tuple[float, TypedPlace]:
    """Return up to 1 if indexed files have the name of a place, with its suffix if they have one, or without it if
    ``any_suffix`` may follow; and the place with what is known of those that are called most like it. ``in_folders``:
    only files with all of the typed folders above them are looked at."""
    above, _, name = place.path.rpartition("/")
    tokens = reader.tokens(name)
    match = f'name : "{" ".join(tokens)}"'
    if in_folders:
        match += f' AND folder : "{" ".join(reader.tokens(above))}"'
    rows = reader.rows(_NAMED, (match,)) if tokens else ()
    alike = [row for row in rows if any_suffix or "." in name or b"." not in row[1]]
    called = [(called_by(place, folder, own), folder, content_id) for folder, own, content_id in alike]
    best = max((value for value, _, _ in called), default=0.0)
    most = max((folders_above(place.path, folder) for value, folder, _ in called if value == best > 0), default=0)
    contents = frozenset(content_id for value, _, content_id in called if value == best and content_id is not None)
    return best, place._replace(contents=contents, folders=most)
