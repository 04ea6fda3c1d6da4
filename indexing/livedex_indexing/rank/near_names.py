"""Finds the name that was likely meant by one that is nowhere: with one part wrong or left out, cut to the beginnings
of its parts (``audwat``), to their consonants (``ctx_mgr``) or initials (``TPE``), or with ``*`` inside.

Invariant: the index proposes chunks, by the keys of `name_beginnings`, and the live text has the names; others than
those with beginnings of all parts, of at most four letters each, are found only where they are the first of a chunk.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, takewhile
from typing import Final

from livedex_indexing.query.spelling import distance
from livedex_indexing.query.typed_name import is_starred
from livedex_indexing.rank.defined_names import SYMBOLS
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.postings import phrase
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.name_beginnings import (
    has_beginnings,
    has_letters,
    keys_of_beginnings,
    keys_of_joined,
    split_name,
)

_PARTS: Final = range(2, 8)
_ROWS: Final = 100_000  # rows that FTS5 reads
_FOUND: Final = 2_000  # chunks that define names with most of the parts
_SHORT: Final = range(3, 25)  # characters of a shortened name
_MOST: Final = 3  # names
_MISTAKES: Final = 2
_PROPOSED: Final = 2_000  # chunks that define names with such beginnings …
_READ: Final = 48  # … of which these are read
_HUMPS: Final = re.compile(r"[A-Z][a-z]*|[0-9]+|[a-z]+")
_NAME: Final = re.compile(r"[^\W\d]\w+", re.ASCII)
_TYPED: Final = re.compile(r"_*[A-Za-z][\w ]+", re.ASCII)
_SYMBOLS_OF = "SELECT symbol FROM chunks WHERE id IN (SELECT value FROM json_each(?)) AND symbol IS NOT NULL"
_ALIKE = "SELECT DISTINCT symbol FROM chunks WHERE symbol LIKE ? LIMIT 5000"


def find_near(view: IndexView, typed: str) -> list[str]:
    """Return the names that a typed one likely means where `find_shortened` finds none, at most three, the likeliest
    first."""
    if is_starred(typed):
        return _starred(view.reader, typed)
    if not _NAME.fullmatch(typed):
        return []
    return _with_most_parts(view, typed) or _shortened(view.reader, typed)


def find_shortened(view: IndexView, typed: str) -> list[str]:
    """Return the names that a typed one, or some words, shorten to beginnings of all their parts, at most three: those
    with the fewest letters left out inside a beginning first, then the shortest."""
    parts = _beginnings(typed) if _TYPED.fullmatch(typed) else []
    for key in keys_of_joined(parts[0]) if len(parts) == 1 else keys_of_beginnings(parts):
        whole = [phrase([part]) for part in parts if len(parts) > 1 and len(part) > 2 and view.counted.of_word(part)]
        for match in (" AND ".join((phrase([key]), *whole)), phrase([key])) if whole else (phrase([key]),):
            names = _with_beginnings(view, view.proposed(f"symbols : ({match})", _PROPOSED), parts, typed)
            if names:
                return names
    return []


def _with_beginnings(view: IndexView, found: Sequence[int], parts: Sequence[str], typed: str) -> list[str]:
    """Return the names in some chunks that a typed one shortens."""
    if len(found) > _READ:
        symbols = dict(view.reader.rows_of(SYMBOLS, found))
        fitting = [i for i in found if _left_out(parts, typed, (symbols[i] or "").rpartition(".")[2]) is not None]
        found = list(dict.fromkeys((*fitting, *found)))[:_READ]
    first = typed.lstrip("_")[:1].lower()
    rated: dict[str, int | None] = {}
    for text in view.texts(found).values() if found else ():
        for name in dict.fromkeys(_NAME.findall(text)):
            if name not in rated and name.lstrip("_")[:1].lower() == first:
                rated[name] = _left_out(parts, typed, name)
    ordered = sorted((gaps, len(name), name) for name, gaps in rated.items() if gaps is not None)
    return [name for gaps, _, name in ordered[:_MOST] if gaps == ordered[0][0]]


def is_shortened(typed: str, name: str) -> bool:
    """Whether a typed name shortens another one to the beginnings of all its parts."""
    return _left_out(_beginnings(typed), typed, name) == 0


def _beginnings(typed: str) -> list[str]:
    """Return the beginnings of parts that were typed: words, the pieces between underscores, or those that begin with a
    capital each; of a word in lower case, it alone."""
    pieces = typed.replace("_", " ").split()
    if len(pieces) == 1 and not typed.islower():
        pieces = _HUMPS.findall(pieces[0])
    return [piece.lower() for piece in pieces]


def _left_out(typed: Sequence[str], word: str, name: str) -> int | None:
    """Return how many parts of a name are shortened to less than their beginning; None if another name is typed."""
    parts = split_name(name)
    if len(typed) > 1:
        return _gaps(typed, parts)
    is_initials = len(parts) > 2 and [part[0] for part in parts] == list(word.strip("_").lower())
    return 0 if is_initials or _gaps(typed, parts) is not None else None


def _starred(reader: Reader, typed: str) -> list[str]:
    """Return the names with what was typed around the stars, in any case, the shortest first."""
    first, *inner, last = typed.split("*")
    between = "".join(rf"(?>\w*?{part})" for part in inner)  # the first place serves: without it, time is exponential
    pattern = re.compile(rf"_*{first}{between}\w*{last}", re.IGNORECASE)
    names = _last_parts(reader.rows(_ALIKE, ("%" + typed.replace("*", "%"),)))
    return _first(((len(name),), name) for name in names if pattern.fullmatch(name))


def _with_most_parts(view: IndexView, typed: str) -> list[str]:
    """Return the names at most two mistakes away, or with one part more, less or another, among those that have the
    known parts, or all but one of them."""
    parts = split_name(typed)
    known = [part for part in dict.fromkeys(parts) if view.counted.of_word(part)]
    if len(parts) not in _PARTS or not known or len(parts) - len(known) > 2:
        return []
    whole = len(known) < len(parts) or len(known) == 1
    groups = [known] if whole else list(combinations(known, len(known) - 1)) if len(known) > 2 else []
    cheap = [group for group in groups if len(group) * view.rarest(group) <= _ROWS]
    if not cheap:
        return []
    match = " OR ".join(f"({' AND '.join(phrase([part]) for part in group)})" for group in cheap)
    names = _last_parts(view.reader.rows_of(_SYMBOLS_OF, view.proposed(f"symbols : ({match})", _FOUND)))
    return _first((far, name) for name in names if (far := _distance(typed, parts, name)) is not None)


def _distance(typed: str, parts: Sequence[str], name: str) -> tuple[int, ...] | None:
    """Return how far a name is from the typed one, None if it is no near one."""
    mistakes = distance(typed.lower(), name.lower(), _MISTAKES)
    if mistakes <= _MISTAKES:
        return 0, mistakes
    own = split_name(name)
    common = (Counter(parts) & Counter(own)).total()
    lost, more = len(parts) - common, len(own) - common
    if lost > 1 or more > 1 or common < 2:
        return None
    return 1, lost + more, -_in_place(parts, own) - _in_place(parts[::-1], own[::-1])


def _in_place(parts: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many equal parts two names begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(parts, other, strict=False)))


def _shortened(reader: Reader, typed: str) -> list[str]:
    """Return the names that a typed one shortens, those with the fewest letters left out inside a beginning first."""
    letters = typed.replace("_", "")
    if len(letters) not in _SHORT or letters.isupper():
        return []
    symbols = _last_parts(reader.rows(_ALIKE, ("%" + "%".join(letters) + "%",)))
    wanted = split_name(typed)
    found = ((_gaps(wanted, split_name(name)), name) for name in symbols)
    return _first(((gaps, len(name)), name) for gaps, name in found if gaps is not None)


def _gaps(typed: Sequence[str], parts: Sequence[str]) -> int | None:
    """Return how many parts of a name are shortened to less than their beginning; None if another name is typed: one
    word has the beginnings of all parts, several words shorten one part each."""
    if len(typed) == 1:
        return 0 if len(parts) > 1 and has_beginnings(typed[0], parts) else None
    if len(typed) != len(parts) or not all(map(_shortens, typed, parts)):
        return None
    return sum(not part.startswith(short) for short, part in zip(typed, parts, strict=True))


def _shortens(short: str, part: str) -> bool:
    """Whether a word is the first letter of another and some of its other letters, in their order."""
    return short[0] == part[0] and has_letters(short, part)


def _last_parts(rows: Iterable[tuple[str]]) -> Iterator[str]:
    return iter(dict.fromkeys(symbol.rpartition(".")[2] for (symbol,) in rows))


def _first(rated: Iterable[tuple[tuple[int, ...], str]]) -> list[str]:
    """Return the nearest names, and those that are equally near."""
    ordered = sorted(rated)
    return [name for far, name in ordered[:_MOST] if far == ordered[0][0]]
