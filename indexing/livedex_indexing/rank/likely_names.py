"""Tells which of the chunks that the index proposes for a name likely define it, or one that contains it.

Invariant: pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from livedex_indexing.query.typed_name import Finder, TypedName


def shortest_with(name: TypedName, symbol: str, text: str) -> int:
    """Return the length of the shortest name in a chunk that contains the name, 0 where none does. A plain word must be
    in the symbol, or in a longer name: the index proposes other forms of it, and a text may use it."""
    lengths = [len(longer) for longer in name.longer(text)]
    if name.is_plain:
        lengths = [length for length in lengths if length > len(name.name)]
        lengths += [len(longer) for longer in name.longer(symbol)]
    return min(lengths, default=0)


def likely_first(rows: Iterable[tuple[int, str | None]], finder: Finder) -> list[int]:
    """Order chunks, given as (id, symbol): those that begin with the name come first."""
    ordered = sorted(rows, key=lambda row: (not finder((row[1] or "").rpartition(".")[2]), row[0]))
    return [chunk_id for chunk_id, _symbol in ordered]
