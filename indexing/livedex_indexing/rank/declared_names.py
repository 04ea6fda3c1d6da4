"""Finds the lines that declare a name which nothing defines, where it is in a message or was typed as words: a field, a
constant of an enumeration, a variable, a key.

Invariant: as for `LinePlaces`: the index only proposes chunks; the live file decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from livedex_indexing.query.joined_span import JoinedName
from livedex_indexing.query.message_names import names_in_message
from livedex_indexing.query.typed_name import TypedName
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.line_places import LinePlaces
from livedex_indexing.rank.postings import phrase

_SELDOM: Final = 300  # rows of the rarest word: of more, FTS5 takes too long
_ROWS: Final = 2_000  # chunks with the words in a row …
_READ: Final = 8  # … of which so many are read for the name; 24: 2 ms more, and as many found
_MOST: Final = 3  # names


def declared_in_message(lines: LinePlaces, text: str, best: Sequence[int]) -> dict[int, float]:
    """Rate the chunks with a line that declares the first name of a message; one with its owner is a definition."""
    names = (name.name for name in names_in_message(text) if not name.owner)
    return next((rated for name in names if (rated := lines.declared(name, best, {})[0])), {})


def declared_in_words(view: IndexView, lines: LinePlaces, name: TypedName, best: Sequence[int]) -> dict[int, float]:
    """Rate the chunks with a line that declares a name with the typed words and no others, the ``best`` first."""
    tokens = view.reader.tokens(name.name)
    if not 0 < view.rarest(tokens) <= _SELDOM:
        return {}
    found = dict.fromkeys(view.proposed(f"{{body ids}} : {phrase(tokens)}", _ROWS))
    likely = [*dict.fromkeys((*(chunk_id for chunk_id in best if chunk_id in found), *found))][:_READ]
    read = view.texts(likely) if likely else {}
    words = JoinedName(name)
    names = Counter(each for chunk_id in sorted(read) for each in words.names(read[chunk_id], read[chunk_id].lower()))
    spelt = [each for each, _ in names.most_common(_MOST) if not (each.isalpha() and each.islower())]
    return next((rated for each in spelt if (rated := lines.declared(each, best, {})[0])), {})
