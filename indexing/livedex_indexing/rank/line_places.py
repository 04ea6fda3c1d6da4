"""Finds the chunks with a line that declares a typed word, or that uses it.

Invariant: the index only proposes chunks; the live file decides.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Final

from livedex_indexing.model import KINDS
from livedex_indexing.query.declaration import Declaration, declarations
from livedex_indexing.query.declaring_line import declares, introduced_at, is_in_section, labels
from livedex_indexing.query.member_line import member_at, typed_at
from livedex_indexing.query.typed_name import TypedName, word_place
from livedex_indexing.query.typed_word import TypedWord, plain_word, word_inside
from livedex_indexing.rank.defined_names import DEFINED, UNSURE
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.key_places import chunks_with_key
from livedex_indexing.rank.postings import CONTENT_OF, phrase

_ROWS: Final = 1_000  # chunks with the word that the index may propose
_READ: Final = 48  # … that are read at most …
_READ_OF_NAME: Final = 96  # … of a constant or another name with an underscore, which a member of a type may have …
_AT_ONCE: Final = 24  # … so many at once, until one declares it
_DECLARING: Final = 96  # … of those that may declare what a text refers to
_COMMON: Final = 40_000  # rows of the rarest word of such a declaration; of more, FTS5 takes 3 ms and more
_IN_OWN_FILE: Final = 0.3  # share of a use in the file that defines the name
_OF_OWNER: Final = 0.65  # share of the declaration of a key with its section: less than for the text as typed
MEANT: Final = 1.4  # … of a key with the very path, and of what a reference names: as for a whole line
_SET_ONLY: Final = 0.6  # … of a line that sets a name which is declared elsewhere, or a member of a type
_WITHOUT_OWNER: Final = 0.4  # … and without it
_ELSEWHERE: Final = 2.0  # … for a declaration in another form, which may have no word of the query
_QUOTING: Final = f"""SELECT id FROM chunks WHERE id IN (SELECT value FROM json_each(?))
                     AND kind IN ({KINDS.index("markdown_text")}, {KINDS.index("markdown_code")})"""


class LinePlaces:
    """Reads the chunks that may have a word."""

    def __init__(self, view: IndexView) -> None:
        self._view = view
        self._reader, self._texts = view.reader, view.texts
        # chunks that set the key of a typed path, or have what a reference names
        self.meant: Mapping[int, float] = {}
        self.is_text = False  # … but what has the text as it was typed comes before these

    def elsewhere(self, text: str) -> Mapping[int, float]:
        """Rate the chunks that declare what a text refers to in another form, as ``variable "a"`` for ``var.a``."""
        for one in declarations(text):
            found = self._of_declaration(one)
            if found:
                self.meant, self.is_text = dict.fromkeys(found, _ELSEWHERE), one.is_text
                return self.meant
        return {}

    def _of_declaration(self, one: Declaration) -> list[int]:
        rows = [[self._reader.tokens(row) for row in alternative] for alternative in one.words]
        known = [each for each in rows if all(each) and 0 < self._view.rarest([*chain(*each)]) <= _COMMON]
        matches = [f"({' AND '.join(map(phrase, each))})" for each in known]
        match = f"body : ({' OR '.join(matches)})"
        found = self._view.proposed(match, _DECLARING) if matches else []
        for step in range(0, len(found), _AT_ONCE):
            read = self._texts(found[step : step + _AT_ONCE])
            having = [i for i in sorted(read) if all(line.search(read[i]) for line in one.lines)]
            if having:  # pages quote what files of configuration have
                quoting = set() if one.is_heading else {i for (i,) in self._reader.rows_of(_QUOTING, having)}
                return [i for i in having if i not in quoting] or having
        return []

    def declared(
        self, text: str, best: Sequence[int], rated: Mapping[int, float]
    ) -> tuple[dict[int, float], list[int]]:
        """Rate the chunks with a line that declares the word in a text; if there are none, return those that have it as
        typed. None where definitions are ``rated`` that are sure, unless a reference names the word."""
        plain = "" if rated else plain_word(text)
        if plain:
            return self._of_plain(plain), []
        word = word_inside(text)
        if word is None or (DEFINED in rated.values() and not word.is_reference):
            return {}, []
        keyed = chunks_with_key(self._view, word, best)
        if keyed:
            self.meant = dict.fromkeys(keyed, MEANT)
            return {**self.meant}, []
        is_defined = max(rated.values(), default=0.0) > (0.0 if word.owner else UNSURE)
        declared, written = self._declaring(word, best, is_defined=is_defined and not word.is_reference)
        if word.is_reference:
            self.meant = dict.fromkeys(declared, MEANT)
        return declared, written

    def _declaring(
        self, word: TypedWord, best: Sequence[int], *, is_defined: bool
    ) -> tuple[dict[int, float], list[int]]:
        """Rate, up to 1, the chunks with a line that declares a word or makes it a member of a type, among those with
        it and the ``best``; if there are none, return those that have it as typed. ``is_defined``: its name is defined
        somewhere, so that only a key below the very section that was typed counts."""
        below = self._in_section(word)
        if below or is_defined:
            return below, []
        found = self._proposed(word.text, best)
        is_place = labels if word.is_reference else declares
        is_bare = not word.owner and not word.is_reference
        written: list[int] = []
        for step in range(0, len(found), _AT_ONCE):
            read = sorted(self._texts(found[step : step + _AT_ONCE]).items())
            having = [chunk_id for chunk_id, text in read if is_place(text, word.text)]
            of_type = _members(read, word.text) if is_bare else []
            if of_type:  # what sets it there, too, may only be given to the type: `.gain = 3`, `gain: 3`
                return {**dict.fromkeys(having, _SET_ONLY), **dict.fromkeys(of_type, 1.0)}, []
            introducing = [
                i for i, text in read if is_bare and i in having and introduced_at(text, word.text) is not None
            ]
            if introducing:
                return {**dict.fromkeys(having, _SET_ONLY), **dict.fromkeys(introducing, 1.0)}, []
            if having:
                of_owner = [i for i, text in read if i in having and word.owner and word_place(text, word.owner) >= 0]
                value = _OF_OWNER if of_owner else _WITHOUT_OWNER if word.owner else 1.0
                return dict.fromkeys(of_owner or having, value), []
            likely = [i for i, text in read if is_bare and member_at(text, word.text) is not None]
            if likely:
                return dict.fromkeys(likely, 1.0), []
            written += [chunk_id for chunk_id, text in read if word_place(text, word.text) >= 0]
        return {}, written

    def _of_plain(self, word: str) -> dict[int, float]:
        """Rate the chunks with a line that makes a lower-case word, which few chunks have, a member of a type."""
        tokens = self._reader.tokens(word)
        if not 0 < self._view.rarest(tokens) <= _READ:
            return {}
        read = sorted(self._texts(self._view.proposed(f"body : {phrase(tokens)}", _READ)).items())
        return dict.fromkeys(
            _members(read, word) or [i for i, text in read if introduced_at(text, word) is not None], 1.0
        )

    def using(self, name: TypedName, defining: Collection[int], best: Sequence[int]) -> dict[int, float]:
        """Rate, up to 1, the chunks that have a name as typed, without those ``defining`` it: less in the same file."""
        found = [chunk_id for chunk_id in self._proposed(name.name, best) if chunk_id not in defining]
        contents = dict(self._reader.rows_of(CONTENT_OF, [*found, *defining]))
        own = {contents.get(chunk_id) for chunk_id in defining}
        read = self._texts(found)
        having = [chunk_id for chunk_id in sorted(read) if name.whole(read[chunk_id])]
        return {chunk_id: _IN_OWN_FILE if contents.get(chunk_id) in own else 1.0 for chunk_id in having}

    def _in_section(self, word: TypedWord) -> dict[int, float]:
        """Rate the chunks that have a key below the heading of the section that was typed."""
        section, key = self._reader.tokens(word.section), self._reader.tokens(word.text)
        if not section or not key:
            return {}
        found = self._view.proposed(f"body : ({phrase(section)} AND {phrase(key)})", _AT_ONCE)
        read = self._texts(found) if found else {}
        return {i: 1.0 for i in sorted(read) if is_in_section(read[i], word.section, word.text)}

    def _proposed(self, word: str, best: Sequence[int]) -> list[int]:
        tokens = self._reader.tokens(word)
        if not tokens:
            return []
        match = phrase(tokens)
        most = _READ_OF_NAME if "_" in word or word.isupper() else _READ
        if len(tokens) == 1 and self._view.rarest(tokens) > most:
            return list(best[:most])
        found = dict.fromkeys(self._view.proposed(f"body : {match}", _ROWS))
        return [*dict.fromkeys((*(chunk_id for chunk_id in best if chunk_id in found), *found))][:most]


def _members(read: Sequence[tuple[int, str]], name: str) -> list[int]:
    """Return those of the chunks, given with their texts, that surely make a name a member of a type, else those that
    give it a type as one."""
    surely = [chunk_id for chunk_id, text in read if member_at(text, name, surely=True) is not None]
    return surely or [chunk_id for chunk_id, text in read if typed_at(text, name) is not None]
