"""Finds the chunks in which a typed name is defined, or a typed text is written as it was typed.

Invariant: the index only proposes chunks (it has stems and no case); the live file decides whether the text is there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from livedex_indexing.query.inner_text import texts_inside
from livedex_indexing.query.message_names import (
    has_plain_name,
    is_doubtful,
    is_mention,
    is_message,
    names_in_message,
)
from livedex_indexing.query.pasted_pieces import may_have_other_parts
from livedex_indexing.query.query_terms import STOP_WORDS, QueryTerm, begins_too_much
from livedex_indexing.query.typed_name import (
    Finder,
    TypedName,
    has_offset,
    has_signs_around,
    in_words,
    is_label,
    is_starred,
    may_be_literal,
    may_be_pasted,
    name_in_signs,
    name_inside,
    name_used,
    plain_name_inside,
    typed_case,
    typed_line,
    typed_name,
    typed_text,
    typed_title,
    typed_words,
)
from livedex_indexing.query.typed_word import is_word
from livedex_indexing.rank.declared_names import declared_in_message, declared_in_words
from livedex_indexing.rank.defined_names import (
    AS_WORDS,
    DEFINED,
    OF_VARIABLE,
    OTHER_OWNER,
    READ,
    ROWS,
    SYMBOLS,
    Definitions,
)
from livedex_indexing.rank.features import AS_WRITTEN, WORDS, WRITTEN_ROWS, MatchFeatures
from livedex_indexing.rank.found_names import FoundNames
from livedex_indexing.rank.heading_places import chunks_with_named, core
from livedex_indexing.rank.imported_places import ImportedPlaces
from livedex_indexing.rank.likely_names import having, likely_first, shortest_with
from livedex_indexing.rank.line_places import LinePlaces
from livedex_indexing.rank.near_names import is_shortened
from livedex_indexing.rank.outline_probe import OutlineProbe
from livedex_indexing.rank.piece_places import ROWS_READ, chunks_with_row, having_parts
from livedex_indexing.rank.postings import CONTENT_OF, phrase
from livedex_indexing.rank.whole_query import chunks_with_neighbours, has_message, share_of_names
from livedex_indexing.store.database import id_list
from livedex_indexing.text.terms import parts_of

_WITH_MORE: Final = 8  # words of a text that may have more than the pasted line, at least
_TITLE_WORDS: Final = 12  # words of a title that is looked up
_TITLE_ROWS: Final = 40_000  # … and the rows of the rarest of them, which FTS5 looks into: at most 3 ms
_NAMES: Final = 8  # of the names found there, whose definitions are looked up
SELDOM: Final = 300  # rows of a lower-case word that may be a name in a question; of more, it costs 4 ms
IN_NAMES: Final = 8_000  # rows of the rarest of words that a name may have in any order; 300: such words -.05 to -.1
WITH_SIGNS: Final = 4  # times the rows that are read for a text with signs: it was pasted, and only its signs tell
_PROPOSED: Final = 96  # chunks with its words in a row that are read …
_READ_AT_ONCE: Final = 24  # … so many at once, until one has the text
_HEADED: Final = 24  # chunks with such a heading
_BEST: Final = 6  # other chunks that are read, the best by their words
AT_LINE: Final = 2.0  # for the chunk with a typed line: more than all words give another chunk of the file
OTHER_FORM: Final = 0.9  # … for that of `runTask` where `run_task` was typed
ALIKE: Final = 0.9  # … for that of a name with the same parts in another order, less with more parts
IN_ANY_ORDER: Final = 0.6  # … of that where they were typed as words
BEGUN: Final = 0.8  # … of a name whose parts begin as the typed words do
BEGUN_WORDS: Final = 3  # words that may be the beginnings of a name's parts: two begin very many
PIECE: Final = 0.6  # … for the definition of a name that contains it
FORM: Final = 0.4  # … for the name as typed, where nothing defines it: more than other forms of it can have
AS_LABEL: Final = 0.5  # … for a name with a colon behind it, where no chunk is known to have both: lines may
IMPORTED: Final = 0.2  # … for what a line imports that one file alone has: that comes first
IN_A_ROW: Final = 0.5  # … for the words of such a text in a row, with other signs between them
IN_QUESTION: Final = 0.6  # … for the definition of a lower-case word that a question may ask for
VERBATIM: Final = 0.7  # … for a text of several words as typed
IN_FEW: Final = 0.9  # … where it is plain words, and few chunks have them: they are meant
LINE: Final = 1.0  # … if it is a whole line, or a heading of two words in its case
OF_OWNER: Final = 1.4  # … for the definition of a name that was typed with its owner: it is meant
SAME: Final = 1.4  # … a whole line in its case: more than a file's name and path can give another one


class NamePlaces:
    """Rates the chunks for one query, each from 0 to 1. ``files``: the contents that the query names."""

    def __init__(self, names: FoundNames, files: Collection[int] = ()) -> None:
        view = names.view
        self._names, self._view, self._files = names, view, files
        self._reader, self._texts = view.reader, view.texts
        self._lines = LinePlaces(view)
        self._probe = OutlineProbe(view.reader, view.counted)
        self._inner = ""  # of the text: what has all of its words in a row in a chunk, where the whole text has not
        self._definitions = Definitions(view, self._probe, files)
        self._imports = ImportedPlaces(view, self._definitions)
        self._imported: Collection[int] = ()  # chunks that the query imports, once they are known
        self._opened: Collection[int] = ()  # … with the definition of which the query is the beginning

    def of_name(self, text: str, corrected: str, best: Sequence[int]) -> dict[int, float]:
        """Rate the chunks that have the name which a query may be: its definition, else that of the one name in it, or
        of the ``corrected`` name, else that of a name with the same words, else those of longer names, else those of
        ``best``, best first, that have it as typed, else that of its owner."""
        self._imported = self._imports.of(text, lambda: self._with_line(text, best))
        if self._imported:
            return dict.fromkeys(self._imported, AT_LINE)
        if elsewhere := self._lines.elsewhere(text):
            return {**elsewhere}
        self._opened = self._definitions.opened_by(text)
        if self._opened:
            return dict.fromkeys(self._opened, DEFINED)
        name, inside, words = typed_name(text), name_inside(text) or name_in_signs(text), in_words(text)
        rated = self._definitions.of_hyphenated(text) if name is None else self._definitions.of(name)
        rated = self._definitions.in_any_case(name, rated)
        used = None if rated else name_used(text)
        defining = {} if used is None else self._definitions.of(used)
        uses = self._lines.using(used, defining, best) if used is not None and defining else {}
        if uses:
            return uses
        if not rated and inside is not None:
            rated = self._definitions.in_any_case(inside, self._definitions.of_used(text, inside))
        if not rated and corrected != text:
            meant = typed_name(corrected) or name_inside(corrected)
            rated = {} if meant is None else self._definitions.of(meant._replace(any_case=True))
        if not rated and (name is None or name.is_words):
            rated = self._definitions.of_member_in_words(text)
            rated = rated or self._definitions.in_message(text) or self._definitions.among_words(text)
        plain = None if rated else plain_name_inside(text)
        if plain is not None and self._view.rarest(self._reader.tokens(plain.name)) <= SELDOM:
            rated = {i: IN_QUESTION * value for i, value in self._definitions.of(plain).items()}
        declared, written = self._lines.declared(text, best, rated)
        if not declared and not rated:
            declared = declared_in_message(self._lines, text, best)
        if declared:
            return declared
        rated |= self._of_type(name or inside, rated)
        if not rated and words is not None:
            rated = self._definitions.of(words)
            if name is not None:  # with a hyphen, it is rather a compound
                rated = {chunk_id: value * OTHER_FORM / AS_WORDS for chunk_id, value in rated.items()}
        if not rated and name is not None:
            rated = self._of_words(name, best) if name.is_words else self._pieces(name)
        if name is None:
            return rated or dict.fromkeys(written, FORM)
        if not rated and not name.is_words and not self._probe.is_anywhere(self._reader.tokens(name.name)):
            rated = self._alike(name)
        if not rated and not name.is_words:
            rated = dict.fromkeys(written or self._written(name, best), FORM)
        if not rated and name.owner:
            rated = {i: OTHER_OWNER * value for i, value in self._definitions.of(TypedName(name.owner)).items()}
        return rated

    def with_text(self, text: str, best: Sequence[int]) -> list[int]:
        """Return chunks with all words of a text in a row, or else of the message that it reports or what it asks for,
        or else, if it looks pasted, with a part of it; for a single word with signs those of ``best``. None where all
        words are very common."""
        tokens = self._reader.tokens(text)
        if not tokens or typed_text(text) is None:
            return []
        if len(tokens) == 1:
            return list(best[:_PROPOSED])
        found = self._in_a_row(text)
        for inner in () if found else texts_inside(text):
            found = self._in_a_row(inner)
            if found:
                self._inner = inner
                return found
        looks_pasted = may_be_pasted(text) or may_be_literal(text) or STOP_WORDS.issuperset(tokens)
        if found or not (may_have_other_parts(text) or (looks_pasted and len(tokens) >= _WITH_MORE)):
            return found
        return chunks_with_row(self._view, text, _PROPOSED)

    def _in_a_row(self, text: str) -> list[int]:
        """Return chunks with all words of a text in a row. None where all words are very common."""
        tokens = self._reader.tokens(text)
        cost = len(tokens) * self._view.rarest(tokens)
        is_cheap = 0 < cost <= ROWS_READ * (WITH_SIGNS if may_be_pasted(text) else 1)
        return self._view.proposed(f"body : {phrase(tokens)}", _PROPOSED) if is_cheap else []

    def with_heading(self, text: str) -> list[int]:
        """Return chunks whose headings have all words of a text in a row. None for very common words."""
        tokens = self._reader.tokens(text)
        return self._headed(tokens) or (self._headed(inner) if (inner := core(tokens)) != tokens else [])

    def _headed(self, tokens: Sequence[str]) -> list[int]:
        if not 1 < len(tokens) <= _TITLE_WORDS:
            return []
        if not 0 < self._view.rarest(tokens) <= _TITLE_ROWS or not self._probe.may_be_outlined(tokens):
            return []
        return self._view.proposed(f"heads : {phrase(tokens)}", _HEADED)

    def with_those_of_text(
        self,
        named: Mapping[int, float],
        text: str,
        rows: Mapping[int, MatchFeatures],
        words: tuple[Sequence[QueryTerm], Sequence[QueryTerm]],
        first: Sequence[int],
    ) -> Mapping[int, float]:
        """Return the chunks ``named`` with those of `of_text`: no text where the definition of a single word is known,
        no name where a chunk has all of a text, the name and more, or (one of ``rows``) the message around the names.
        ``words``: the terms in order, and those whose counts the rows begin with."""
        label = is_label(text)
        if not label and len(text.split()) == 1 and DEFINED in named.values() and is_word(text):
            name = typed_name(text)
            is_of_owner = name is not None and name.owner != ""
            return (
                {i: OF_OWNER * value if value == DEFINED else value for i, value in named.items()}
                if is_of_owner
                else named
            )
        spoken, scored = words
        names = names_in_message(text) if named else ()
        values = names if has_plain_name(text) else ()  # a name of code is no value of the message in a file
        if names and is_doubtful(text) and has_message(values, rows.values(), spoken, scored):
            named = {}
        if names and is_mention(text):
            parts = self._reader.tokens(" ".join(part for each in names for part in (each.name, *parts_of(each.name))))
            named = {i: share_of_names(parts, scored) * value for i, value in named.items()}
        rated = self.of_text(self._inner or text, rows, spoken, first)
        if self._imported:
            return self._with_imported(rated)
        if self._opened:
            return {**{i: min(value, IN_A_ROW) for i, value in rated.items()}, **dict.fromkeys(self._opened, OF_OWNER)}
        if self._lines.is_text and max(rated.values(), default=0.0) >= VERBATIM:
            return rated
        if self._lines.meant:
            return {**{i: min(value, IN_A_ROW) for i, value in rated.items()}, **self._lines.meant}
        if not rated and DEFINED in named.values() and (has_offset(text) or self._files):
            return named
        headed = chunks_with_named(self._reader, self._texts, text, rows)
        # What a message says is said of many names, and what is asked for may be known.
        is_about = is_message(text) and not values if named and names else DEFINED in named.values()
        if not (rated or headed or is_about):
            rated = {i: VERBATIM * share for i, share in having_parts(self._texts, text, rows).items()}
        rated |= dict.fromkeys(headed, IN_A_ROW)
        if label and not rated:
            named = {chunk_id: AS_LABEL * value for chunk_id, value in named.items()}
        most = max(rated.values(), default=0.0)
        is_text = len(text.split()) > 1 and most >= VERBATIM
        if is_text or (
            rated and (has_signs_around(text) or is_starred(text) or name_inside(text) or (names and most != IN_A_ROW))
        ):
            return rated
        return {**named, **{chunk_id: max(value, named.get(chunk_id, 0.0)) for chunk_id, value in rated.items()}}

    def _with_imported(self, rated: Mapping[int, float]) -> Mapping[int, float]:
        """Return the chunks that an import leads to, which match by their paths if not by their words, then those with
        the line; first the file that alone has it."""
        most = max(rated.values(), default=0.0)  # in the case as typed, if any is
        lines = [chunk_id for chunk_id, value in rated.items() if value == most >= LINE]
        if len({content_id for _, content_id in self._reader.rows_of(CONTENT_OF, lines)}) == 1:
            return {**dict.fromkeys(self._imported, IMPORTED), **rated}
        return {
            **{chunk_id: min(value, IN_A_ROW) for chunk_id, value in rated.items()},
            **dict.fromkeys(self._imported, AT_LINE),
        }

    def _with_line(self, text: str, best: Sequence[int]) -> list[int]:
        return having(self._texts, self.with_text(text, best)[:_READ_AT_ONCE], typed_line(text))

    def of_text(
        self, text: str, rows: Mapping[int, MatchFeatures], spoken: Sequence[QueryTerm], first: Sequence[int]
    ) -> dict[int, float]:
        """Rate the chunks that have a text of several words as it was typed, among those of ``first`` or, if there are
        none, with most of its neighbours. ``spoken`` are the terms of the text, in order."""
        finder = typed_text(text)
        headed = [i for _, i in sorted((-row.titled, i) for i, row in rows.items() if row.titled)[:_BEST]]
        if finder is None:
            is_title = typed_title(text)
            read = self._texts(headed) if headed else {}
            return {chunk_id: LINE for chunk_id in sorted(read) if is_title(read[chunk_id])}
        if first:
            return self._verbatim([*dict.fromkeys((*first, *headed))], text, finder)
        likely = chunks_with_neighbours(rows)[:_BEST]
        likely = [i for i in likely if 2 * sum(map(bool, rows[i].pairs)) >= sum(map(bool, rows[likely[0]].pairs))]
        if self._are_all_words(text, spoken):
            # The first and the last word may be pieces of words there; all between have the neighbours that were typed.
            likely = [chunk_id for chunk_id in likely if all(rows[chunk_id].pairs[1:-1])]
        return self._verbatim([*dict.fromkeys((*headed, *likely))], text, finder)

    def _verbatim(self, ids: Collection[int], text: str, finder: Finder) -> dict[int, float]:
        """Rate those of the chunks that have the text, higher where it is a whole line, most in its case, or where few
        have it; if none has, those that have its words in a row."""
        is_line, is_same, found, in_case = typed_line(text), typed_title(text), list(ids), typed_case(text)
        is_whole: Finder = (lambda _: True) if has_signs_around(text) else is_line
        read: dict[int, str] = {}
        rated: dict[int, float] = {}
        for step in range(0, len(found), _READ_AT_ONCE):
            more = self._texts(found[step : step + _READ_AT_ONCE])
            rated |= {i: LINE if is_whole(more[i]) else VERBATIM for i in sorted(more) if finder(more[i])}
            read |= more
            exact = {i: value for i, value in rated.items() if in_case(read[i])}
            if exact:
                least = IN_FEW if len(exact) <= READ and not may_be_pasted(text) else 0.0
                same = {i for i in exact if is_same(read[i])} if len(text.split()) > 1 else ()
                return {i: SAME if i in same else max(value, least) for i, value in exact.items()}
        rated = dict.fromkeys(rated, IN_A_ROW)  # in another case
        has_words = None if rated else typed_words(text)
        return rated if has_words is None else {i: IN_A_ROW for i in sorted(read) if has_words(read[i])}

    def _are_all_words(self, text: str, spoken: Sequence[QueryTerm]) -> bool:
        """Whether the terms are the words of a text, one by one, so that neighbours of one are those of the other."""
        tokens = [term.tokens for term in spoken if term.rows and not term.prefix]
        return len(tokens) <= WORDS and text.isascii() and tokens == [(token,) for token in self._reader.tokens(text)]

    def _of_type(self, name: TypedName | None, rated: Mapping[int, float]) -> dict[int, float]:
        """Rate the definitions of the type in ``Foo.new``, where no member of the type itself is known."""
        if name is None or not name.owner[:1].isupper() or DEFINED in rated.values():
            return {}
        return {
            i: OF_VARIABLE * value for i, value in self._definitions.of(TypedName(name.owner)).items() if i not in rated
        }

    def _written(self, name: TypedName, best: Sequence[int]) -> list[int]:
        """Return those of the best chunks that have the name as typed; none where all may have it, since a lower-case
        word has no form of its own."""
        tokens = self._reader.tokens(name.name)
        if len(tokens) == 1 and self._view.rarest(tokens) <= WRITTEN_ROWS:
            contents = dict(self._reader.rows_of(CONTENT_OF, best))
            among = id_list(set(contents.values()))
            written = {content_id for (content_id,) in self._reader.rows(AS_WRITTEN, (phrase(tokens), among))}
            if name.is_plain and len(written) == len(set(contents.values())):
                return []
            best = [chunk_id for chunk_id in best if contents.get(chunk_id) in written]
        elif name.is_plain:
            return []
        return having(self._texts, best[:READ], name._replace(any_case=name.is_plain).whole)

    def _pieces(self, name: TypedName) -> dict[int, float]:
        """Rate definitions of names that contain this one, which is not defined itself: the shortest come first."""
        if not name.may_be_piece:
            return {}
        own, parts = self._reader.tokens(name.name), self._reader.tokens(" ".join(parts_of(name.name)))
        rated: dict[int, float] = {}
        for tokens in (own,) if parts == own else (own, parts):
            may_begin = self._probe.may_begin_a_name(tokens)
            found = self._view.proposed(f"symbols : {self._beginning(tokens)}", ROWS) if may_begin else []
            symbols: dict[int, str | None] = dict(self._reader.rows_of(SYMBOLS, found)) if found else {}
            if len(found) > READ:
                found = likely_first(symbols.items(), lambda text: name.name.lower() in text.lower())[:READ]
            for chunk_id, text in self._texts(found).items() if found else ():
                shortest = shortest_with(name, symbols[chunk_id] or "", text)
                if shortest:
                    rated[chunk_id] = PIECE * (1 + len(name.name) / shortest) / 2
            if rated:
                break
        return self._definitions.firsts_most(rated)

    def _beginning(self, tokens: Sequence[str]) -> str:
        """Return the expression that proposes the chunks with names that begin so."""
        if not begins_too_much(tokens):
            return f"{phrase(tokens)} *"
        before = tokens[:-1]
        names = [phrase([*before, word]) for word in self._names.continued("_".join(tokens))[:_NAMES]]
        return f"({' OR '.join(names)})" if names else phrase(before)

    def _alike(self, name: TypedName) -> dict[int, float]:
        """Rate the definitions of names that have all parts of this one, which is nowhere: as of longer names."""
        rated: dict[int, float] = {}
        for other, share in self._names.alike(name.name).items():
            rated |= {i: ALIKE * (1 + share) / 2 * value for i, value in self._definitions.of(TypedName(other)).items()}
        return rated

    def _of_words(self, name: TypedName, best: Sequence[int]) -> dict[int, float]:
        """Rate the lines that declare the name of which all words were typed, else definitions of names with all of
        them, else of names that they begin."""
        declared = declared_in_words(self._view, self._lines, name, best)
        rated = {i: AS_WORDS * value for i, value in declared.items()}
        return rated or self._in_any_order(name) or self._begun(name)

    def _in_any_order(self, name: TypedName) -> dict[int, float]:
        """Rate the definitions of names that have all words of one that was typed as words."""
        words = name.name.split()
        if not 0 < self._view.rarest(self._reader.tokens(name.name)) <= IN_NAMES:
            return {}
        return {i: IN_ANY_ORDER * value for i, value in self._alike(TypedName("_".join(words))).items()}

    def _begun(self, name: TypedName) -> dict[int, float]:
        """Rate the definitions of names whose parts begin as three and more words do, one after the other."""
        if len(name.name.split()) < BEGUN_WORDS or len(set(name.name.lower().split()) - STOP_WORDS) < 2:
            return {}
        names = [other for other in self._names.shortened(name.name) if is_shortened(name.name, other)]
        return {i: BEGUN * value for other in names for i, value in self._definitions.of(TypedName(other)).items()}
