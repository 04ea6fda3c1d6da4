"""Finds the place that a query names among the indexed files, and reads the query with its line left out.

Invariant: a number after what is no file's name stays a word of the query.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import msgspec

from livedex_indexing.model import Query
from livedex_indexing.query.typed_place import TypedPlace, typed_places
from livedex_indexing.rank.name_match import ELSEWHERE, called_by
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader

_NAMED: Final = """SELECT d.folder, d.name, d.content_id FROM paths p JOIN files d ON d.id = p.rowid
                   WHERE paths MATCH ? LIMIT 2000"""


def named_place(reader: Reader, query: str) -> TypedPlace | None:
    """Return the place that a query names, with the contents of its files: the first in whose folder such a file is, or
    else the one with most of its folders. None where no indexed file has the name."""
    best, value = None, 0.0
    for place in typed_places(query):
        if place.is_whole and place.text == query:
            return place  # whatever it is called, nothing is left out
        called, contents = _called(reader, place)
        if called > value:
            best, value = place._replace(contents=contents), called
        if called > ELSEWHERE:
            break
    return best


def at_place(request: SearchRequest, query: Query, place: TypedPlace) -> Query:
    """Return the ``query`` of a request with the path alone where it names a place."""
    if place.is_whole:
        return replace(query, text=place.path, unfinished=False, excluded=(), phrases=(), terms=())
    return msgspec.structs.replace(request, query=place.text, typing=False).parsed()[0]


def _called(reader: Reader, place: TypedPlace) -> tuple[float, frozenset[int]]:
    """Return up to 1 if indexed files have the name of a place, with its suffix if it has one, and the contents of
    those that are called most like it."""
    name = place.path.rpartition("/")[2]
    tokens = reader.tokens(name)
    rows = reader.rows(_NAMED, (f'name : "{" ".join(tokens)}"',)) if tokens else ()
    alike = ((folder, own, content_id) for folder, own, content_id in rows if "." in name or b"." not in own)
    called = [(called_by(place, folder, own), content_id) for folder, own, content_id in alike]
    best = max((value for value, _ in called), default=0.0)
    return best, frozenset(content_id for value, content_id in called if value == best and content_id is not None)
