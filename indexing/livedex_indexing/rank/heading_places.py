"""Finds the headings that a query names among other words: those above it, and words that only ask for a section.

Invariant: the index proposes chunks below such a heading; the live file says in which chunk the heading itself is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from livedex_indexing.query.asking_words import ASKING_FOR_SECTIONS
from livedex_indexing.rank.features import MatchFeatures
from livedex_indexing.rank.postings import Texts
from livedex_indexing.store.read_pool import Reader

_READ: Final = 24  # chunks that are read, those first whose headings have most of the query
_LEAST: Final = 3  # words of such a query
_HEADINGS: Final = "SELECT id, content_id, heading FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
_JOINT: Final = " > "
_PATH: Final = re.compile(r"[>/»:(]")  # between a heading and that above it
_WORD: Final = re.compile(r"\w+")


def chunks_with_named(reader: Reader, texts: Texts, text: str, rows: Mapping[int, MatchFeatures]) -> list[int]:
    """Return the chunks with a heading that a text names, among other words that say where it is; of files in which no
    line is such a heading, those that begin below it."""
    typed = _words(text)
    if len(typed) < _LEAST or (ASKING_FOR_SECTIONS.isdisjoint(typed) and _PATH.search(text) is None):
        return []
    likely = sorted((chunk_id for chunk_id, row in rows.items() if row.heading), key=lambda i: (-rows[i].heading, i))
    below: dict[tuple[int, str], int] = {}
    having: dict[int, int] = {}  # content ids by chunk id
    read = texts(likely[:_READ]) if likely else {}
    for chunk_id, content_id, heading in sorted(reader.rows_of(_HEADINGS, read)):
        above, _, own = (heading or "").rpartition(_JOINT)
        if _is_named(_words(own), typed, _words(above)):
            below.setdefault((content_id, heading), chunk_id)  # later chunks of the section have the same
        around = _words(heading or "")
        if any(_is_named(_words(line), typed, around) for line in read[chunk_id].splitlines() if len(line) < len(text)):
            having[chunk_id] = content_id
    found = set(having.values())
    return [*having, *(chunk_id for (content_id, _), chunk_id in below.items() if content_id not in found)]


def core(tokens: Sequence[str]) -> Sequence[str]:
    """Return the words between those that only ask, all if there are no others."""
    content = [place for place, token in enumerate(tokens) if token not in ASKING_FOR_SECTIONS]
    return tokens[content[0] : content[-1] + 1] if content else tokens


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _is_named(heading: Sequence[str], typed: Sequence[str], above: Sequence[str]) -> bool:
    """Whether the words of a heading are in a row among the ``typed`` ones, and the others are ``above`` it, or only
    ask for it: one at least."""
    size = len(heading)
    if not 0 < size < len(typed) or heading[0] not in typed:
        return False
    others = ASKING_FOR_SECTIONS.union(above)
    return any(
        typed[at : at + size] == heading and others.issuperset((*typed[:at], *typed[at + size :]))
        for at in range(len(typed) - size + 1)
    )
