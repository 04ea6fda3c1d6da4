"""Compiles a query against one index: which terms to search for, how rare each is, and their FTS5 expressions.

Invariant: every expression is valid FTS5, whatever was typed: it is built from tokens that the tokenizer itself found,
each in quotes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

from livedex_indexing.model import Query
from livedex_indexing.query.begun_names import begun_names
from livedex_indexing.query.index_names import Names, NoNames
from livedex_indexing.query.inflections import with_forms
from livedex_indexing.query.one_word import terms_as_one
from livedex_indexing.query.path_terms import as_path
from livedex_indexing.query.query_parser import is_phrase, is_prefix
from livedex_indexing.query.query_terms import CompiledQuery, Phrase, QueryTerm, begins_too_much, match_member
from livedex_indexing.query.spell_repair import Repair, Written
from livedex_indexing.query.spelling import IN_USE
from livedex_indexing.query.term_selection import MAX_WORDS, in_index, select_terms
from livedex_indexing.query.typed_name import is_starred, joined_names, name_of, without_prefix
from livedex_indexing.query.word_counts import PathCounts, Uncounted, WordCounts, idf_of
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.terms import compounds, in_other_conventions, is_letter, is_serial, parts_of
from livedex_indexing.text.unsegmented import RUN, folded, pieces_of, query_bigrams

_BEGINNING: Final = re.compile(r"[^\W\d]\w{3,}")  # the typed beginning of a name
_NAME: Final = re.compile(r"[\w.-]+")
_BEGUN: Final = 0.5  # weight of the words that begin as a word does which is itself in the index
_FIRST_SUFFIX: Final = 4  # characters: a shorter beginning lies inside the stem of nearly every word
_OTHERS: Final = 8  # terms of other stems, or of names, that begin as a word does
_BEGIN_WITH = "SELECT term FROM temp.written WHERE term >= ? AND term < ? LIMIT 200"


class _Index(NamedTuple):
    """What a query is compiled against."""

    reader: Reader
    counts: WordCounts
    names: Callable[[], Names]


def compile_query(
    reader: Reader,
    query: Query,
    counts: WordCounts,
    names: Callable[[], Names] = NoNames,
    *,
    fresh: bool = True,
) -> CompiledQuery:
    """Compile a query against the index. Without ``fresh``, misspelt words may mean what they meant recently."""
    typed = query.text.split()
    unfinished = [typed.pop()] if query.unfinished and typed else []
    words = list(times := Counter(typed))
    index = _Index(reader, counts, names)
    repair = Repair(reader, counts, lambda word: _whole(index, word), fresh=fresh)
    alone = len(words) + len(unfinished) == 1
    joined = terms_as_one(reader, words, lambda word: _inflected(index, word), repair.others)
    per_word = [
        _repeatedly(joined.get(word) or _terms_of(index, word, repair, alone=alone), times[word]) for word in words
    ]
    per_word.append(begun_names(dict(zip(words, per_word, strict=True)), names, partial(_whole, index), repair))
    per_word += [_unfinished(index, word, repair, alone=alone) for word in unfinished]
    phrases = _phrases(index, query.phrases)
    excluded, excluded_phrases = _excluded(query)
    selected = select_terms(per_word, repair.others, has_phrases=bool(phrases))
    scored = (*selected.terms, *(phrase.term for phrase in phrases))
    whole = [(word, term) for word in excluded if (term := _whole(index, word)) is not None]
    unwanted = [term for word, each in whole for term in _prefix_terms(index, word, each, repair)]
    return CompiledQuery(
        terms=selected.terms,
        spoken=selected.spoken,
        phrases=tuple(phrases[:MAX_WORDS]),
        excluded=tuple(unwanted[:MAX_WORDS]),
        excluded_phrases=tuple(_phrases(index, excluded_phrases)[:MAX_WORDS]),
        total=sum(term.idf for term in scored if term.rows or term.files) or 1.0,
        cut=selected.cut or max(len(phrases), len(unwanted), len(excluded_phrases)) > MAX_WORDS,
        respelt=tuple(repair.respelt.items()),
        chunks=counts.all_chunks(reader),
        lengths=counts.lengths(reader),
    )


def _repeatedly(terms: list[QueryTerm], times: int) -> list[QueryTerm]:
    """Return the terms of a word that was typed several times: it counts more, by the root of the number."""
    return terms if times == 1 else [term._replace(idf=term.idf * math.sqrt(times)) for term in terms]


def compile_strict(reader: Reader, query: Query) -> CompiledQuery:
    """Compile a standing query, which matches only chunks with all of its words.

    Each word is one term and none is dropped for being one of many, so the meaning does not depend on the index.
    Stop words count only in a query without other words.
    """
    index = _Index(reader, Uncounted(0), NoNames)
    terms = tuple(dict.fromkeys(_whole_terms(index, query.text.split())))
    phrases = tuple(_phrases(index, query.phrases))
    excluded, excluded_phrases = _excluded(query)
    content = tuple(term for term in terms if not term.is_stop_word)
    return CompiledQuery(
        terms=content if content or phrases else terms,
        spoken=(),
        phrases=phrases,
        excluded=tuple(dict.fromkeys(_whole_terms(index, excluded))),
        excluded_phrases=tuple(_phrases(index, excluded_phrases)),
        total=1.0,
        cut=False,
    )


def _excluded(query: Query) -> tuple[list[str], list[str]]:
    """Return the excluded words, and the excluded phrases without their quotes."""
    words = [text for text in query.excluded if not is_phrase(text)]
    return words, [text[1:-1] for text in query.excluded if is_phrase(text)]


def _whole_terms(index: _Index, words: Iterable[str]) -> list[QueryTerm]:
    """Return one term for each word that has tokens."""
    return [term for word in words if (term := _whole(index, word)) is not None]


def _phrases(index: _Index, texts: Iterable[str]) -> list[Phrase]:
    """Return a phrase for each text that has tokens."""
    return [phrase for text in texts if (phrase := _phrase(index, text)) is not None]


def _terms_of(index: _Index, word: str, repair: Repair, *, alone: bool) -> list[QueryTerm]:
    """Return the terms of a typed word: its tokens, and the parts of those in mixed case.

    ``alone``: the query is this one word. It then searches for the name as a whole if the index has it. Among other
    words the parts find more (.004 to .012 on the three sets of ranking.md), and neighbours count in the ranking
    anyway. A name with numbers or a single letter (``token17``, ``part_b``) is searched for as a whole only, since its
    other parts match many similar names: else in other conventions, or with its words corrected, or as the names that
    it joins (``self.ext4_link``), or as those with all its parts. A word with other signs (``call(x)``) is no name.
    """
    whole = _inflected(index, word)
    if whole is None:
        return []
    if whole.unsegmented:
        return _runs(index, whole, repair, alone=alone)
    starred = repair.of_names(word, index.names().near(word)) if alone and is_starred(word) else []
    if starred:
        return [whole, *starred]
    if whole.prefix:
        begun = _prefix_terms(index, word, whole, repair)
        return [*begun, *_member(index, word, whole, repair), *_option(index, word, repair)]
    indexed = bool(whole.rows or whole.files)
    if alone and indexed and not repair.is_missing(whole):
        other = _converted(index, word) if _is_only_stem(index, word, whole) else []
        return [whole, *other, *_member(index, word, whole, repair), *_option(index, word, repair)]
    if alone and not indexed and _BEGINNING.fullmatch(word) and (begun := _begun(index, word, whole)):
        return begun
    joined = [] if indexed else _joined(index, word, repair)
    # Parts of names are ASCII only: `größe` would be split into `gr` and `e`.
    pieces = [(piece, parts_of(piece) if piece.isascii() else []) for piece in _surfaces(index, word)]
    if alone and _NAME.fullmatch(word):
        parts_alone = [text for piece, parts in pieces for text in parts or (piece,)]
        has_serial = any(map(is_serial, parts_alone))
        converted = [] if indexed else _converted(index, word)
        if converted:
            return converted if has_serial else _whole_terms(index, parts_alone)
        if not joined and (has_serial or len(pieces) > 1):
            named = [(piece, term) for piece, _ in pieces if (term := _whole(index, piece)) is not None]
            if meant := repair.of_name(word, named):
                return meant
        if has_serial:
            names = [] if indexed or joined else in_index(_whole_terms(index, joined_names(word)))
            if not (indexed or joined or names):
                names = in_index(_whole_terms(index, index.names().alike(word))) or repair.of_joined(word)
            return [whole, *joined, *names]
    if alone and not (indexed or joined) and (meant := _misspelt_member(index, word, repair)):
        return meant
    tokens = [
        [(text, term) for text in (piece, *parts) if (term := _inflected(index, text)) is not None]
        for piece, parts in pieces
    ]
    if joined:  # then no part of the word is a mistake
        return [*(term for token in tokens for _, term in token), *joined]
    typed = [token for token in tokens if token]
    return repair.of(word, typed, alone=alone) if indexed or not alone else _nearest(index, word, typed, repair)


def _nearest(index: _Index, word: str, tokens: Sequence[Sequence[Written]], repair: Repair) -> list[QueryTerm]:
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


def _prefix_terms(index: _Index, word: str, whole: QueryTerm, repair: Repair) -> list[QueryTerm]:
    """Return the terms of ``word*``: of the stems that begin so, and of the words that do, but whose stems do not; of
    another word, it alone."""
    begun = _whole(index, word.removesuffix("*")) if whole.prefix else None
    found = in_index([whole, *([] if begun is None else _other_stems(index, begun))]) or [whole]
    repair.others.update(found[1:])
    return found


def _converted(index: _Index, name: str, *, unfinished: bool = False) -> list[QueryTerm]:
    """Return the terms of a name, or of those that begin so, as the index has them in another convention."""
    for text in in_other_conventions(name):
        whole = _whole(index, text)
        begun = [] if whole is None or not unfinished else _gathered(index, text, whole)
        found = in_index([whole, *begun])
        if found:
            return found
    return []


def _is_only_stem(index: _Index, word: str, whole: QueryTerm) -> bool:
    """Whether no file has a name of several parts, typed as one word, but another form of it."""
    if whole.prefix or len(whole.tokens) > 1 or not parts_of(word):
        return False
    return index.reader.one(IN_USE, (f'"{whole.tokens[0]}"',)) is None


def _member(index: _Index, word: str, whole: QueryTerm, repair: Repair) -> list[QueryTerm]:
    """Return, for ``Foo.bar`` or ``bar(x)`` of code, the term that finds the chunks which define a ``bar``, or have it
    in a ``Foo``: the definition of a method or of a field has both names, but not in a row."""
    name = name_of(word)
    if name is None or (whole.files and not name.owner[:1].isupper()):  # then it is rather a path
        return []
    own = _whole(index, name.name)
    match = "" if own is None else match_member(own, _whole(index, name.owner))
    rows = index.counts.of(index.reader, match, (), False, whole.match)[0] if match else 0
    if own is None or not rows:
        return []
    idf = idf_of(rows, index.counts.all_chunks(index.reader))
    term = own._replace(match=match, rows=rows, files=0, idf=idf, in_symbols=True)
    repair.others.add(term)
    return [term]


def _misspelt_member(index: _Index, word: str, repair: Repair) -> list[QueryTerm]:
    """Return, for ``Foo.barr`` or ``barr(x)``, the terms of the owner and of the name that was meant; nothing where no
    name is near, or the owner is nowhere."""
    name = name_of(word)
    owner = [] if name is None else in_index(_whole_terms(index, [name.owner]))
    if name is None or (name.owner and not owner):
        return []
    own = [(text, term) for text in _surfaces(index, name.name) if (term := _whole(index, text)) is not None]
    meant = repair.of_name(name.name, own)
    if not meant:
        return []
    before, _, after = word.rpartition(name.name)
    repair.respelt[word] = before + repair.respelt.pop(name.name) + after
    return [*owner, *meant]


def _option(index: _Index, word: str, repair: Repair) -> list[QueryTerm]:
    """Return the term of an option of Linux without the prefix that its sources know it by."""
    own = without_prefix(word)
    term = _whole(index, own) if own != word else None
    if term is None or not term.rows:
        return []
    repair.others.add(term)
    return [term]


def _unfinished(index: _Index, word: str, repair: Repair, *, alone: bool) -> list[QueryTerm]:
    """Return the terms of a word that is still being typed: the word itself and all words that begin with it.

    A word that begins with it may have a stem that does not (``renewa``, but ``renew`` of ``renewal``): such words are
    looked up as they are written. What nothing begins with may be the beginnings of a name's parts.
    """
    whole = _whole(index, word)
    if whole is None or whole.unsegmented:
        return _terms_of(index, word, repair, alone=True)
    if whole.prefix or not is_prefix(word + "*") or (len(whole.tokens) == 1 and is_letter(whole.tokens[0])):
        return [whole]
    terms = in_index([whole, *_gathered(index, word, whole)]) or _converted(index, word, unfinished=True)
    terms = terms or (repair.of_names(word, index.names().shortened(word)) if alone else [])
    if not terms:
        *first, last = _surfaces(index, word)
        found = [_whole(index, text) for text in (*first, last + "*")] if first else []
        return [term for term in found if term is not None] or [whole]
    others = [term._replace(idf=_BEGUN * min(terms[0].idf, term.idf)) for term in terms[1:]]
    repair.others.update(others)
    return [terms[0], *others]


def _gathered(index: _Index, word: str, whole: QueryTerm) -> Sequence[QueryTerm | None]:
    """Return the terms of what begins with an unfinished word, whether or not the index has them."""
    if begins_too_much(whole.tokens):
        return _names(index, word, whole)
    return [_whole(index, word + "*"), *_other_stems(index, whole)]


def _begun(index: _Index, word: str, whole: QueryTerm) -> list[QueryTerm]:
    """Return the terms of what begins with a word that is not in the index."""
    names = _names(index, word, whole) if begins_too_much(whole.tokens) else []
    if names:
        return names
    beginning = _whole(index, word + "*")
    as_written = " AND ".join(f'"{token}"' for token in whole.tokens)
    # A stem would match other beginnings.
    is_written = index.reader.one(IN_USE, (f"{as_written} *",)) is not None
    return in_index([beginning]) if is_written else []


def _names(index: _Index, word: str, begun: QueryTerm) -> list[QueryTerm]:
    """Return terms for the names that begin so, and for the paths, which are few enough to look for the beginning."""
    *before, last = begun.tokens
    names = [name for name in index.names().continued(word) if name != last][:_OTHERS]
    paths_only = index._replace(counts=PathCounts(index.counts.generation, index.counts))
    found = [_whole(paths_only, word + "*"), *(_whole(index, "_".join((*before, name))) for name in names)]
    return in_index(found)


def _other_stems(index: _Index, begun: QueryTerm) -> list[QueryTerm]:
    """Return terms for the words that begin with a token, but whose stem does not."""
    token = begun.tokens[0]
    if len(begun.tokens) > 1 or len(token) < _FIRST_SUFFIX:
        return []
    stems: dict[str, QueryTerm] = {}
    for (written,) in index.reader.rows(_BEGIN_WITH, (token, token + "\U0010ffff")):
        begins = written.isascii() and index.reader.stems(written.encode())[0][2].startswith(begun.stems[0])
        term = None if begins or len(stems) >= _OTHERS else _whole(index, written)  # most begin so: not to be counted
        if term is not None and term.rows and not term.stems[0].startswith(begun.stems[0]):
            stems.setdefault(term.stems[0], term)
    return list(stems.values())


def _joined(index: _Index, word: str, repair: Repair) -> list[QueryTerm]:
    """Return ``read-only`` as one word (``readonly``) if the index has that. Only for words whose hyphenated form is
    not in the index: else each place with a hyphen would count twice (a loss of .004 on documentation)."""
    for start, end, text in compounds(word):
        term = _whole(index, text) if (start, end) == (0, len(word)) else None
        if term is not None and (term.rows or term.files):
            repair.others.add(term)
            return [term]
    return []


def _whole(index: _Index, word: str) -> QueryTerm | None:
    """Return the tokens of a word as one term; None when it has none (``->``)."""
    prefix = is_prefix(word)
    word = folded(word)[0]
    unsegmented = word if RUN.search(word) else ""
    if unsegmented:
        word, begins = query_bigrams(word)
        prefix = begins or (prefix and not RUN.match(unsegmented[-2]))
    encoded = word.encode("utf-8", "replace")
    tokens = tuple(token for _, _, token in index.reader.words(encoded))
    if not tokens:
        return None
    stems = tuple(token for _, _, token in index.reader.stems(encoded))
    match = f'"{" ".join(tokens)}"{" *" if prefix else ""}'
    paths, name = ("", frozenset[str]()) if unsegmented else as_path(index.reader, word, match)
    rows, files = index.counts.of(index.reader, match, stems, prefix, paths or match)
    idf = index.counts.idf(index.reader, rows, files)
    return QueryTerm(match, tokens, stems, prefix, rows, files, idf, unsegmented, paths, name)


def _inflected(index: _Index, word: str) -> QueryTerm | None:
    """Return the tokens of a word as one term, with its other forms."""
    whole = _whole(index, word)
    return whole if whole is None else with_forms(index.reader, index.counts, whole, word)


def _runs(index: _Index, whole: QueryTerm, repair: Repair, *, alone: bool) -> list[QueryTerm]:
    """Return the terms of a word in a script without blanks: one for the whole, or one for each piece; for a run that
    is not in the index, and so may be several words, its pairs of characters."""
    pieces = pieces_of(whole.unsegmented)
    indexed = bool(whole.rows or whole.files)
    typed_prefix = whole.prefix and whole.unsegmented.endswith("*")
    if len(pieces) > 1 and not typed_prefix and not (alone and indexed):
        return [term for piece in pieces for term in _terms_of(index, piece, repair, alone=alone)]
    if indexed or len(pieces) > 1:
        return [whole]
    pairs = (_whole(index, "".join(pair)) for pair in pairwise(pieces[0]))
    return [pair for pair in dict.fromkeys(pairs) if pair is not None and (pair.rows or pair.files)] or [whole]


def _phrase(index: _Index, text: str) -> Phrase | None:
    term = _whole(index, text.rstrip("*"))
    return None if term is None else Phrase(text, term)


def _surfaces(index: _Index, word: str) -> list[str]:
    """Return the tokens of a word as they are written."""
    encoded = word.encode("utf-8", "replace")
    return [encoded[start:end].decode("utf-8", "replace") for start, end, _ in index.reader.words(encoded)]
