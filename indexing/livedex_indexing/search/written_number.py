"""Searches for a number or an address as files have it, where none has it as it was typed.

Invariant: what some text has as it was typed is looked for so.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from livedex_indexing.query.typed_number import identifier_forms, other_forms, telephone_digits
from livedex_indexing.rank.postings import phrase
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader

_LONGEST: Final = 400  # characters; a longer text was pasted
_GROUPS: Final = (3, 4, 2, 5, 1)  # digits of a group in a telephone number, or in that of a book
_LOOKUPS: Final = 120  # of groups


def with_written_number(reader: Reader, request: SearchRequest) -> SearchRequest:
    """Return the request with the first number or address in it as the files have it; any other request as it is."""
    text = request.query
    if len(text) > _LONGEST or not (any(map(str.isdigit, text)) or "://" in text):
        return request
    for other in other_forms(text):
        if not _has(reader, text[other.start : other.end]) and _has(reader, other.form):
            return replace(request, query=f"{text[: other.start]}{other.form}{text[other.end :]}")
    if _has(reader, text):
        return request
    for form in identifier_forms(text):
        if _has(reader, form):
            return replace(request, query=form)
    digits = telephone_digits(text)
    if not digits:
        return request
    form = digits if _has(reader, digits) else " ".join(_grouped(reader, (), digits, [_LOOKUPS]) or ())
    return replace(request, query=form) if form else request


def _grouped(reader: Reader, before: tuple[str, ...], digits: str, left: list[int]) -> tuple[str, ...] | None:
    """Return the groups of digits that a text has in a row, behind those ``before``; None if there are none, or none
    was found by so many lookups as are ``left``."""
    if not digits:
        return before
    for size in _GROUPS:
        way = (*before, digits[:size])
        if size > len(digits) or left[0] <= 0:
            continue
        left[0] -= 1
        found = _grouped(reader, way, digits[size:], left) if _has(reader, " ".join(way)) else None
        if found:
            return found
    return None


def _has(reader: Reader, text: str) -> bool:
    return reader.has_chunk(f"body : {phrase(reader.tokens(text))}")
