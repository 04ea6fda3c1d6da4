"""Searches for the file, or the folder, whose path was shortened: ``base_ev`` finds ``base_events.py``.

Invariant: a query is replaced only where no path and no text has it as it was typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from livedex_indexing.path_text import display_path
from livedex_indexing.query.query_terms import begins_too_much
from livedex_indexing.query.shortened_path import ShortenedPath, shortened_path
from livedex_indexing.rank.postings import phrase
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.terms import in_other_conventions

_BEGIN_SO: Final = """SELECT d.folder, d.name FROM paths p JOIN files d ON d.id = p.rowid
                      WHERE paths MATCH ? AND d.content_id IS NOT NULL
                      AND CAST(d.folder || '/' || d.name AS TEXT) LIKE ? LIMIT 5000"""
_HAS_PATH: Final = "SELECT EXISTS (SELECT 1 FROM paths WHERE paths MATCH ?)"


def with_whole_path(reader: Reader, request: SearchRequest, is_name: Callable[[str], bool]) -> SearchRequest:
    """Return the request for the path that was shortened, or for what several files have in common; any other request
    as it is. ``is_name``: whether a word shortens a defined name."""
    text = request.query.strip()
    typed = shortened_path(text)
    if typed is None or _is_somewhere(reader, text, typed, begun=request.typing):
        return request
    found = sorted({(nearness, len(path), path) for nearness, path in _likely(reader, typed)})
    if not found or (not typed.folders and not typed.suffix and is_name(text)):
        return request
    nearest = [path for nearness, _, path in found if nearness == found[0][0]]
    stems = {path.rpartition(".")[0] or path for path in nearest}
    meant = nearest[0] if len(nearest) == 1 or len(stems) > 1 else stems.pop()
    return replace(request, query=meant)


def _is_somewhere(reader: Reader, text: str, typed: ShortenedPath, *, begun: bool) -> bool:
    """Whether a text or a path has what was typed, or what it begins, or a text in another convention."""
    name, more = reader.tokens(f"{typed.stem}.{typed.suffix}"), " *" if begun else ""
    forms = [reader.tokens(form) for form in (text, *in_other_conventions(typed.stem))]
    if not name or (begun and begins_too_much(forms[0])):
        return True
    if any(reader.has_chunk(phrase(tokens) + more) for tokens in forms):
        return True
    above = [phrase(tokens) for folder in typed.folders if (tokens := reader.tokens(folder))]
    return bool(reader.one(_HAS_PATH, (" AND ".join((phrase(name) + more, *above)),)))


def _likely(reader: Reader, typed: ShortenedPath) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield the paths that may be meant, with what was left out of each: as much of them as was typed."""
    first = f"{phrase([typed.stem[:1].lower()])} *"
    letters = "".join((*typed.folders, typed.stem))
    pattern = f"%{'%'.join(filter(str.isalnum, letters))}%"
    match = f"({first})" if typed.folders else f"name : ({first})"
    if typed.suffix:  # with it, a letter may be wrong
        match, pattern = f"name : ({first} AND {phrase(reader.tokens(typed.suffix))})", "%"
    seen: set[tuple[str, ...]] = set()
    for folder, name in reader.rows(_BEGIN_SO, (match, pattern)):
        above = tuple(display_path(folder).split("/")) if folder else ()
        paths = [(*above, display_path(name))]
        paths += [above[:depth] for depth in range(2, len(above) + 1)] if typed.folders and not typed.suffix else []
        for path in paths:
            if path in seen:
                continue
            seen.add(path)
            nearness = typed.fits(path[:-1], path[-1])
            if nearness is not None:
                yield nearness, "/".join(path[-1 - max(1, len(typed.folders) + nearness[0]) :])
