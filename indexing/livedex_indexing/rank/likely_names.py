"""Tells which of the chunks that the index proposes for a name likely define it, or one that contains it.

Invariant: the index knows the words of the names in a chunk and the first name; the live text decides the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from livedex_indexing.query.declaring_line import defined_at, defines
from livedex_indexing.query.member_line import begins_type
from livedex_indexing.query.typed_name import Finder, TypedName
from livedex_indexing.rank.postings import CONTENT_OF, Texts
from livedex_indexing.store.read_pool import Reader


def shortest_with(name: TypedName, symbol: str, text: str) -> int:
    """Return the length of the shortest name in a chunk that contains the name, 0 where none does. A plain word must be
    in the symbol, or in a longer name: the index proposes other forms of it, and a text may use it."""
    lengths = [len(longer) for longer in name.longer(text)]
    if name.is_plain:
        lengths = [length for length in lengths if length > len(name.name)]
        lengths += [len(longer) for longer in name.longer(symbol)]
    return min(lengths, default=0)


def having(texts: Texts, ids: Collection[int], finder: Finder) -> list[int]:
    """Return those of the chunks whose live text has a name."""
    read = texts(ids) if ids else {}
    return sorted(chunk_id for chunk_id, text in read.items() if finder(text))


def within(reader: Reader, found: Sequence[int], contents: Collection[int]) -> Sequence[int]:
    """Return those of the chunks found that are in ``contents``, the files that were typed; all if none is."""
    rows = reader.rows_of(CONTENT_OF, found) if contents else []
    return [chunk_id for chunk_id, content_id in rows if content_id in contents] or found


def likely_first(rows: Iterable[tuple[int, str | None]], finder: Finder) -> list[int]:
    """Order chunks, given as (id, symbol): those that begin with the name come first."""
    ordered = sorted(rows, key=lambda row: (not finder((row[1] or "").rpartition(".")[2]), row[0]))
    return [chunk_id for chunk_id, _symbol in ordered]


def defining(name: TypedName, symbols: Mapping[int, str | None], texts: Texts) -> list[int]:
    """Return those of the chunks with a name, given with their first symbols, that define it: those that begin with it,
    else those with a line that does. A name may be a part of the names in a chunk, and be used there."""
    is_named = name.whole
    first = [chunk_id for chunk_id, symbol in symbols.items() if is_named((symbol or "").rpartition(".")[2])]
    read = texts(symbols)
    typed, is_member = name.name.lower() if name.any_case else name.name, name.owner != ""
    cased = {chunk_id: text.lower() if name.any_case else text for chunk_id, text in sorted(read.items())}
    found = first or [i for i, text in cased.items() if defines(text, typed, is_member=is_member)]
    # the grammar of Rust names an `impl` by its type, too, and C has types without a body
    types = {chunk_id: begins_type(text, typed) for chunk_id, text in cased.items()}
    of_type = [chunk_id for chunk_id, value in types.items() if value == max(types.values()) > 0.0]
    return [chunk_id for chunk_id in found if chunk_id in of_type] or of_type or found


def begin_definition(name: TypedName, read: Mapping[int, str]) -> bool:
    """Whether a line of one of some texts defines the name: others may be inside the definition."""
    return any(defined_at(text, name.name) is not None for text in read.values())


def first_defining(name: TypedName, rows: Iterable[tuple[int, int]], read: Mapping[int, str]) -> list[int]:
    """Return for each content the first of its chunks with a line that defines the name, or else the first. ``rows``:
    the chunks with their contents; ``read``: their texts."""
    found: dict[int, int] = {}
    sure: dict[int, int] = {}
    typed = name.name.lower() if name.any_case else name.name
    for chunk_id, content_id in sorted(rows):
        found.setdefault(content_id, chunk_id)
        text = read.get(chunk_id, "") if content_id not in sure else ""
        if defined_at(text.lower() if name.any_case else text, typed) is not None:
            sure[content_id] = chunk_id
    return [*{**found, **sure}.values()]
