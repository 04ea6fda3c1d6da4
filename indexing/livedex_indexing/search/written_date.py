"""Searches for a date as files have it, in whatever form it was typed.

Invariant: a date that stands in some text as it was typed is looked for so, unless a file is named after it. Of several
forms, one counts first that stands where the other words of the query do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from livedex_indexing.query.query_terms import STOP_WORDS
from livedex_indexing.query.typed_date import Day, Month, TypedDate, Week, typed_date
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader

_MOST_WORDS: Final = 6  # of the others
_IN_NAMES: Final = "SELECT EXISTS (SELECT 1 FROM paths WHERE paths MATCH ?)"
_NAMES: Final = "SELECT d.name FROM paths p CROSS JOIN files d ON d.id = p.rowid WHERE paths MATCH ? LIMIT 1000"
_IN_NAMES_WITH: Final = """SELECT EXISTS (SELECT 1 FROM paths p CROSS JOIN files d ON d.id = p.rowid
                           CROSS JOIN exact e ON e.rowid = d.content_id WHERE paths MATCH ? AND exact MATCH ?)"""


def with_written_date(reader: Reader, request: SearchRequest) -> SearchRequest:
    """Return the request with the date in it as the files have it; any other request as it is."""
    text = request.query
    date = typed_date(text)
    if date is None:
        return request
    typed = text[date.start : date.end]
    others = [word for word in reader.tokens(text[: date.start] + " " + text[date.end :]) if word not in STOP_WORDS]
    written = _written(reader, date, typed, others[:_MOST_WORDS]) if others else None
    written = written or _written(reader, date, typed, ())
    if written is None or written == typed:
        return request
    return replace(request, query=f"{text[: date.start]}{written}{text[date.end :]}")


def _written(reader: Reader, date: TypedDate, typed: str, others: Sequence[str]) -> str | None:
    """Return the form that some file has, with the other words in it; None if none has any."""
    names = [form for day in date.days for form in (day.of_names if day.year else _newest_first(reader, day))]
    texts = [typed, *(form for day in date.days for form in day.of_texts)]
    if date.is_month:  # its words, with a day between them, or a text about it say more than the files of its days
        return _near(reader, typed, others) or _in_texts(reader, texts, others) or _in_names(reader, names, others)
    return _in_names(reader, names, others) or _in_texts(reader, texts, others)


def _newest_first(reader: Reader, day: Day | Month | Week) -> list[str]:
    """Return the days of all years that files are named after, of a day without its year; or the weeks."""
    (form,) = day.of_names
    dated = re.compile(rf"(?:19|20)\d\d-{form}".encode(), re.IGNORECASE)
    names = reader.rows(_NAMES, (f'name : "{" ".join(reader.tokens(form))}"',))
    return sorted({found[0].decode() for (name,) in names if (found := dated.search(name))}, reverse=True)


def _in_names(reader: Reader, forms: Iterable[str], others: Sequence[str]) -> str | None:
    for form in forms:
        match = f'name : "{" ".join(reader.tokens(form))}"'
        words = " AND ".join(f'"{word}"' for word in others)
        if reader.one(_IN_NAMES_WITH, (match, words)) if others else reader.one(_IN_NAMES, (match,)):
            return form
    return None


def _near(reader: Reader, typed: str, others: Sequence[str]) -> str | None:
    """Return a typed month if some text has it with or without a day (``March 5, 2024``)."""
    words = [" ".join(f'"{token}"' for token in reader.tokens(typed)), *(f'"{word}"' for word in others)]
    match = " AND ".join([f"NEAR({words[0]}, 1)", *words[1:]])
    return typed if reader.has_chunk(f"body : ({match})") else None


def _in_texts(reader: Reader, forms: Iterable[str], others: Sequence[str]) -> str | None:
    for form in forms:
        phrases = [" ".join(reader.tokens(form)), *others]
        match = " AND ".join(f'"{phrase}"' for phrase in phrases)
        if reader.has_chunk(f"body : ({match})"):
            return form
    return None
