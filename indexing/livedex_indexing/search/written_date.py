"""Searches for a date as files have it, in whatever form it was typed.

Invariant: a date that stands in some text as it was typed is looked for so, unless a file is named after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from livedex_indexing.query.typed_date import TypedDate, typed_date
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import HAS_CHUNK

_IN_NAMES: Final = "SELECT EXISTS (SELECT 1 FROM paths WHERE paths MATCH ?)"


def with_written_date(reader: Reader, request: SearchRequest) -> SearchRequest:
    """Return the request with the date in it as the files have it; any other request as it is."""
    text = request.query
    date = typed_date(text)
    written = None if date is None else _written(reader, date, text[date.start : date.end])
    if date is None or written is None:
        return request
    return replace(request, query=f"{text[: date.start]}{written}{text[date.end :]}")


def _written(reader: Reader, date: TypedDate, typed: str) -> str | None:
    named = _first(reader, _IN_NAMES, "name", (form for day in date.days for form in day.of_names))
    if named is not None or _first(reader, HAS_CHUNK, "body", (typed,)):
        return named
    forms = [form for day in date.days for form in day.of_texts]
    return _first(reader, HAS_CHUNK, "body", forms)


def _first(reader: Reader, sql: str, column: str, forms: Iterable[str]) -> str | None:
    """Return the first of the forms that the index has in a column."""
    for form in forms:
        if reader.one(sql, (f'{column} : "{" ".join(reader.tokens(form))}"',)):
            return form
    return None
