"""Finds the terms of one typed word: its tokens, the parts of a name, its other conventions, what it likely means.

Invariant: a word with tokens has a term, whatever the index has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from livedex_indexing.query.begun_terms import prefix_terms, terms_beginning_with, unfinished_terms
from livedex_indexing.query.query_parser import is_prefix
from livedex_indexing.query.query_terms import QueryTerm, match_member
from livedex_indexing.query.spell_repair import Repair, Written
from livedex_indexing.query.spelling import IN_USE
from livedex_indexing.query.term_index import TermIndex
from livedex_indexing.query.term_selection import in_index
from livedex_indexing.query.typed_name import is_starred, joined_names, name_of, without_prefix
from livedex_indexing.query.word_counts import idf_of
from livedex_indexing.text.terms import compounds, in_other_conventions, is_letter, is_serial, parts_of
from livedex_indexing.text.unsegmented import pieces_of

_BEGINNING: Final = re.compile(r"[^\W\d]\w{3,}")  # the typed beginning of a name
_NAME: Final = re.compile(r"[\w.-]+")
_BEGUN: Final = 0.5  # weight of the words that begin as a word does which is itself in the index


def terms_of(index: TermIndex, word: str, repair: Repair, *, alone: bool) -> list[QueryTerm]:
    """Return the terms of a typed word: its tokens, and the parts of those in mixed case.

    ``alone``: the query is this one word. It then searches for the name as a whole if the index has it. Among other
    words the parts find more (.004 to .012 on the three sets of ranking.md), and neighbours count in the ranking
    anyway. A name with numbers or a single letter (``token17``, ``part_b``) is searched for as a whole only, since its
    other parts match many similar names: else in other conventions, or with its words corrected, or as the names that
    it joins (``self.ext4_link``), or as those with all its parts. A word with other signs (``call(x)``) is no name.
    """
    whole = index.inflected(word)
    if whole is None:
        return []
    if whole.unsegmented:
        return _runs(index, whole, repair, alone=alone)
    starred = repair.of_names(word, index.names().near(word)) if alone and is_starred(word) else []
    if starred:
        return [whole, *starred]
    if whole.prefix:
        begun = prefix_terms(index, word, whole, repair)
        return [*begun, *_member(index, word, whole, repair), *_option(index, word, repair)]
    indexed = bool(whole.rows or whole.files)
    if alone and indexed and not repair.is_missing(whole):
        other = _converted(index, word) if _is_only_stem(index, word, whole) else []
        return [whole, *other, *_member(index, word, whole, repair), *_option(index, word, repair)]
    if alone and not indexed and _BEGINNING.fullmatch(word) and (begun := terms_beginning_with(index, word, whole)):
        return begun
    joined = [] if indexed else _joined(index, word, repair)
    # Parts of names are ASCII only: `größe` would be split into `gr` and `e`.
    pieces = [(piece, parts_of(piece) if piece.isascii() else []) for piece in index.surfaces(word)]
    if alone and _NAME.fullmatch(word):
        parts_alone = [text for piece, parts in pieces for text in parts or (piece,)]
        has_serial = any(map(is_serial, parts_alone))
        converted = [] if indexed else _converted(index, word)
        if converted:
            return converted if has_serial else index.wholes(parts_alone)
        if not joined and (has_serial or len(pieces) > 1):
            named = [(piece, term) for piece, _ in pieces if (term := index.whole(piece)) is not None]
            if meant := repair.of_name(word, named):
                return meant
        if has_serial:
            names = [] if indexed or joined else in_index(index.wholes(joined_names(word)))
            if not (indexed or joined or names):
                names = in_index(index.wholes(index.names().alike(word))) or repair.of_joined(word)
            return [whole, *joined, *names]
    if alone and not (indexed or joined) and (meant := _misspelt_member(index, word, repair)):
        return meant
    tokens = [
        [(text, term) for text in (piece, *parts) if (term := index.inflected(text)) is not None]
        for piece, parts in pieces
    ]
    if joined:  # then no part of the word is a mistake
        return [*(term for token in tokens for _, term in token), *joined]
    typed = [token for token in tokens if token]
    return repair.of(word, typed, alone=alone) if indexed or not alone else _nearest(index, word, typed, repair)


def _nearest(index: TermIndex, word: str, tokens: Sequence[Sequence[Written]], repair: Repair) -> list[QueryTerm]:
    """Return the terms of the names that one which is nowhere likely means, and of its words, corrected where no such
    name is known: first if it is one word, since a mistake is likelier then. Its own words where a name has them all.
    """
    names, own = index.names(), [term for token in tokens for _, term in token]
    is_mixed = any(len(token) > 1 for token in tokens)
    if is_mixed and names.alike(word):
        return own
    near = [] if word.islower() else repair.of_names(word, names.shortened(word))
    if not near and len(tokens) > 1:
        near = repair.of_names(word, names.near(word))
    terms = own if near else repair.of(word, tokens, alone=True)
    if len(tokens) == 1 and word not in repair.respelt:
        near = repair.of_names(word, names.near(word))
    return [*near, *terms]


def terms_of_unfinished(index: TermIndex, word: str, repair: Repair, *, alone: bool) -> list[QueryTerm]:
    """Return the terms of a word that is still being typed: the word itself and all words that begin with it.

    A word that begins with it may have a stem that does not (``renewa``, but ``renew`` of ``renewal``): such words are
    looked up as they are written. What nothing begins with may be the beginnings of a name's parts.
    """
    whole = index.whole(word)
    if whole is None or whole.unsegmented:
        return terms_of(index, word, repair, alone=True)
    if whole.prefix or not is_prefix(word + "*") or (len(whole.tokens) == 1 and is_letter(whole.tokens[0])):
        return [whole]
    terms = in_index([whole, *unfinished_terms(index, word, whole)]) or _converted(index, word, unfinished=True)
    terms = terms or (repair.of_names(word, index.names().shortened(word)) if alone else [])
    if not terms:
        *first, last = index.surfaces(word)
        found = [index.whole(text) for text in (*first, last + "*")] if first else []
        return [term for term in found if term is not None] or [whole]
    others = [term._replace(idf=_BEGUN * min(terms[0].idf, term.idf)) for term in terms[1:]]
    repair.others.update(others)
    return [terms[0], *others]


def _converted(index: TermIndex, name: str, *, unfinished: bool = False) -> list[QueryTerm]:
    """Return the terms of a name, or of those that begin so, as the index has them in another convention."""
    for text in in_other_conventions(name):
        whole = index.whole(text)
        begun = [] if whole is None or not unfinished else unfinished_terms(index, text, whole)
        found = in_index([whole, *begun])
        if found:
            return found
    return []


def _is_only_stem(index: TermIndex, word: str, whole: QueryTerm) -> bool:
    """Whether no file has a name of several parts, typed as one word, but another form of it."""
    if whole.prefix or len(whole.tokens) > 1 or not parts_of(word):
        return False
    return index.reader.one(IN_USE, (f'"{whole.tokens[0]}"',)) is None


def _member(index: TermIndex, word: str, whole: QueryTerm, repair: Repair) -> list[QueryTerm]:
    """Return, for ``Foo.bar`` or ``bar(x)`` of code, the term that finds the chunks which define a ``bar``, or have it
    in a ``Foo``: the definition of a method or of a field has both names, but not in a row."""
    name = name_of(word)
    if name is None or (whole.files and not name.owner[:1].isupper()):  # then it is rather a path
        return []
    own = index.whole(name.name)
    match = "" if own is None else match_member(own, index.whole(name.owner))
    rows = index.counts.of(index.reader, match, (), False, whole.match)[0] if match else 0
    if own is None or not rows:
        return []
    idf = idf_of(rows, index.counts.all_chunks(index.reader))
    term = own._replace(match=match, rows=rows, files=0, idf=idf, in_symbols=True)
    repair.others.add(term)
    return [term]


def _misspelt_member(index: TermIndex, word: str, repair: Repair) -> list[QueryTerm]:
    """Return, for ``Foo.barr`` or ``barr(x)``, the terms of the owner and of the name that was meant; nothing where no
    name is near, or the owner is nowhere."""
    name = name_of(word)
    owner = [] if name is None else in_index(index.wholes([name.owner]))
    if name is None or (name.owner and not owner):
        return []
    own = [(text, term) for text in index.surfaces(name.name) if (term := index.whole(text)) is not None]
    meant = repair.of_name(name.name, own)
    if not meant:
        return []
    before, _, after = word.rpartition(name.name)
    repair.respelt[word] = before + repair.respelt.pop(name.name) + after
    return [*owner, *meant]


def _option(index: TermIndex, word: str, repair: Repair) -> list[QueryTerm]:
    """Return the term of an option of Linux without the prefix that its sources know it by."""
    own = without_prefix(word)
    term = index.whole(own) if own != word else None
    if term is None or not term.rows:
        return []
    repair.others.add(term)
    return [term]


def _joined(index: TermIndex, word: str, repair: Repair) -> list[QueryTerm]:
    """Return ``read-only`` as one word (``readonly``) if the index has that. Only for words whose hyphenated form is
    not in the index: else each place with a hyphen would count twice (a loss of .004 on documentation)."""
    for start, end, text in compounds(word):
        term = index.whole(text) if (start, end) == (0, len(word)) else None
        if term is not None and (term.rows or term.files):
            repair.others.add(term)
            return [term]
    return []


def _runs(index: TermIndex, whole: QueryTerm, repair: Repair, *, alone: bool) -> list[QueryTerm]:
    """Return the terms of a word in a script without blanks: one for the whole, or one for each piece; for a run that
    is not in the index, and so may be several words, its pairs of characters."""
    pieces = pieces_of(whole.unsegmented)
    indexed = bool(whole.rows or whole.files)
    typed_prefix = whole.prefix and whole.unsegmented.endswith("*")
    if len(pieces) > 1 and not typed_prefix and not (alone and indexed):
        return [term for piece in pieces for term in terms_of(index, piece, repair, alone=alone)]
    if indexed or len(pieces) > 1:
        return [whole]
    pairs = (index.whole("".join(pair)) for pair in pairwise(pieces[0]))
    return [pair for pair in dict.fromkeys(pairs) if pair is not None and (pair.rows or pair.files)] or [whole]
