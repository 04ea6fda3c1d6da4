"""Finds the names that have all parts of a typed name, in another order or with one or two more.

Invariant: the index only proposes chunks; the live file has the names. Only some chunks are read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from livedex_indexing.rank.defined_names import SYMBOLS
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.postings import phrase
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.terms import parts_of

_PARTS: Final = range(2, 8)
_MORE: Final = 2  # parts that the typed name lacks, at most
_ROWS: Final = 100_000  # rows that FTS5 reads
_PROPOSED: Final = 2_000  # chunks that define such names …
_READ: Final = 48  # … of which these are read
_MOST: Final = 3  # names
_NAME: Final = re.compile(r"[^\W\d]\w+", re.ASCII)
_TYPED: Final = re.compile(r"[\w.-]+", re.ASCII)


def find_alike(view: IndexView, typed: str) -> dict[str, float]:
    """Return the names nearest to a typed one, at most three with equally many more parts, each with the share of its
    parts that was typed. None for a name of one part, of more than seven, with
    signs of code, and where all parts are very common."""
    parts = _parts(typed) if _TYPED.fullmatch(typed) else []
    if len(parts) not in _PARTS:
        return {}
    if len(parts) * view.rarest(parts) > _ROWS:
        return {}
    match = " AND ".join(phrase([part]) for part in dict.fromkeys(parts))
    wanted, longest = Counter(parts), max(parts, key=len)
    found = _likely_first(view.reader, view.proposed(f"symbols : ({match})", _PROPOSED), parts)[:_READ]
    alike: dict[str, int] = {}
    for text in view.texts(found).values() if found else ():
        for name in dict.fromkeys(_NAME.findall(text)):
            if name in alike or longest not in name.lower():
                continue
            there = Counter(_parts(name))
            if wanted <= there:
                alike[name] = there.total() - len(parts)
    least = min(alike.values(), default=_MORE + 1)
    if least > _MORE:
        return {}
    nearest = [name for name, more in alike.items() if more == least][:_MOST]
    return dict.fromkeys(nearest, len(parts) / (len(parts) + least))


def _likely_first(reader: Reader, found: Sequence[int], parts: Sequence[str]) -> Sequence[int]:
    """Return chunks, first those whose first name has most of the parts, the shortest names first."""
    if len(found) <= _READ:
        return found
    names = {i: (symbol or "").rpartition(".")[2].lower() for i, symbol in reader.rows_of(SYMBOLS, found)}
    return sorted(names, key=lambda i: (-sum(part in names[i] for part in parts), len(names[i]), i))


def _parts(name: str) -> list[str]:
    """Return the parts of a name, in lower case, as the index has them: a piece in one case is one part."""
    pieces = [piece for piece in name.split("_") if piece]
    parts = [part for piece in pieces for part in (parts_of(piece) if _is_mixed(piece) else ()) or (piece,)]
    return [part.lower() for part in parts]


def _is_mixed(piece: str) -> bool:
    return not (piece.islower() or piece.isupper())
