"""Matches the names of files with the terms of a query: the same words, other forms of them, and synonyms.

Invariant: pure but for the tokenizer, and the match of a name depends on the name and the query alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import AnyStr, Final, NamedTuple, cast

from livedex_indexing.query.query_terms import CompiledQuery, QueryTerm
from livedex_indexing.rank.synonyms import expand
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.path_words import path_text

_KEPT_NAMES: Final = 2_000  # names whose words a reader keeps, about 1 MB
_LEAST_IDF: Final = 0.5  # idf: a rarer stop word counts in a file's name
VARIANT: Final = 0.8  # weight of a term that a file's name has in another form: `config` for configuration
SYNONYM: Final = 2.0  # words that a synonym counts for in the share of a name: `is` for whether (`synonyms`)
_AT_PATH: Final = 2.0  # weight of the name at a typed path: the file itself comes before files that mention it
_SHORTEST: Final = 3  # letters of an abbreviation, which also has at least a third of the stem's
IN_SENTENCE: Final = 0.7  # of the part `title`: one word of a sentence in a name may be there by chance
_INSIDE: Final = 4  # letters of a stem that matches inside the words of a name: `fromarray`


class NameMatch(NamedTuple):
    """How a file's name matches a query.

    ``score`` is the Σ idf of the query's terms in it, and ``title`` the same times the share of the name's words that
    they make up. A term that the name has in another form counts `VARIANT`; a synonym counts in that share alone, and
    the suffix is not part of it. ``weights`` has for each scored term its weight in the name, empty where none matches.
    """

    score: float
    title: float
    weights: Sequence[float]


_NO_MATCH: Final = NameMatch(0.0, 0.0, ())


class NameMatcher:
    """Matches names with one query. ``scored``: the terms whose weights a `NameMatch` has. ``is_sentence``: see there.

    Inside, a term is its place among the named ones: to hash a term takes longer than to match most names.
    """

    def __init__(
        self, reader: Reader, compiled: CompiledQuery, scored: Sequence[QueryTerm], *, is_sentence: bool = False
    ) -> None:
        self._reader = reader
        self._of_title = IN_SENTENCE if is_sentence else 1.0
        self._known = cast("dict[bytes, dict[str, str]]", reader.scratch.setdefault("words_of_names", {}))
        stops = (
            term for term in compiled.spoken if term.is_stop_word and term.idf >= _LEAST_IDF and len(term.tokens[0]) > 2
        )
        self._named = tuple(dict.fromkeys((*compiled.any_of, *stops)))
        places = {term: place for place, term in enumerate(self._named)}
        self._scored = [places[term] for term in scored]
        self._single = [_single_stem(term) for term in self._named]
        self._begin = _beginnings(self._named)
        self._inflected = [place for place, term in enumerate(self._named) if _has_variants(term)]
        self._suffixes: dict[bytes, AbstractSet[str]] = {}
        self._above: dict[bytes, Sequence[bool]] = {}
        self._variants: dict[str, Sequence[int]] = {}
        # A search tests a hundred names: a table lookup and one search for all words cost a third of testing each term.
        self._short: dict[str, list[int]] = {}
        for place in self._inflected:
            for short in _short_for(self._named[place]):
                self._short.setdefault(short, []).append(place)
        self._inside = {text for place in self._inflected for text in _long_enough(self._named[place])}
        self._synonyms = expand(token for term in compiled.spoken for token in term.tokens)

    def match(self, name: bytes) -> NameMatch:
        """Return how the last part of a path matches the query."""
        if name.isascii() and not _contains_any(name.lower(), self._begin):
            return _NO_MATCH
        base, dot, suffix = name.rpartition(b".")
        own = self._words_of(base if base else name)
        stems = own.keys() | self._suffix_stems(suffix) if dot and base else own.keys()
        weights: dict[int, float] = {}
        matched: set[str] = set()
        for place, single in enumerate(self._single):
            if single is not None:
                if single in stems:
                    weights[place] = 1.0
                    matched.add(single)
            elif _matches_name(term := self._named[place], stems, own.keys()):
                weights[place] = _AT_PATH if term.name else 1.0
                matched.update(term.stems, (stem for _, stem in term.forms))
        covered = 0.0
        for stem, word in own.items():
            variants = () if stem in matched else self._variants_of(word)
            for place in variants:
                weights.setdefault(place, VARIANT)
            covered += 1.0 if stem in matched else VARIANT if variants else SYNONYM if word in self._synonyms else 0.0
        if not weights:
            return _NO_MATCH
        score = sum([self._named[place].idf * weight for place, weight in weights.items()])
        title = self._of_title * score * covered / max(1, len(own))
        return NameMatch(score, title, [weights.get(place, 0.0) for place in self._scored])

    def above(self, folder: bytes) -> Sequence[bool]:
        """Return whether each scored term is among the words of a folder's path; nothing where none is."""
        known = self._above.get(folder)
        if known is None:
            known = self._above[folder] = self._terms_in(folder)
        return known

    def _terms_in(self, folder: bytes) -> Sequence[bool]:
        if folder.isascii() and not _contains_any(folder.lower(), self._begin):
            return ()
        stems = self._words_of(folder).keys()
        found = [_has(self._named[place], stems) for place in self._scored]
        return found if any(found) else ()

    def _variants_of(self, word: str) -> Sequence[int]:
        """Return the places of the terms that a word of a name abbreviates or contains."""
        variants = self._variants.get(word)
        if variants is None:
            found = self._short.get(word, ())
            if _contains_any(word, self._inside):
                found = [place for place in self._inflected if place in found or _is_inside(word, self._named[place])]
            variants = self._variants[word] = found
        return variants

    def _suffix_stems(self, suffix: bytes) -> AbstractSet[str]:
        if suffix not in self._suffixes:
            self._suffixes[suffix] = self._words_of(suffix).keys()
        return self._suffixes[suffix]

    def _words_of(self, name: bytes) -> dict[str, str]:
        """Return the words of a name, in lower case, by their stems. Kept: the next key finds mostly the same files."""
        words = self._known.get(name)
        if words is None:
            if len(self._known) >= _KEPT_NAMES:
                self._known.clear()
            text = path_text(name).lower().encode("utf-8", "replace")
            stems = self._reader.stems(text)
            words = {stem: text[start:end].decode("utf-8", "replace") for start, end, stem in stems}
            self._known[name] = words
        return words


def _matches_name(term: QueryTerm, stems: AbstractSet[str], own: AbstractSet[str]) -> bool:
    """Whether a name matches a term. ``own``: its stems without the suffix, which a typed path may leave out."""
    if term.name:
        return own <= term.name <= stems
    if term.prefix:
        return any(stem.startswith(term.stems[-1]) for stem in stems) and stems >= set(term.stems[:-1])
    return _has(term, stems)


def _has(term: QueryTerm, stems: AbstractSet[str]) -> bool:
    """Whether all words of a term are there, or another form of its only one."""
    return stems >= set(term.stems) or any(stem in stems for _, stem in term.forms)


def _single_stem(term: QueryTerm) -> str | None:
    """Return the stem of a term that matches the names with this stem; None for a prefix, a path and several words, or
    forms of one."""
    return None if term.name or term.prefix or term.forms or len(term.stems) != 1 else term.stems[0]


def _has_variants(term: QueryTerm) -> bool:
    """Whether other forms of a term match, too: only for content words of letters, not for prefixes."""
    return (
        len(term.stems) == 1 and not (term.prefix or term.is_stop_word or term.unsegmented) and term.tokens[0].isalpha()
    )


def _short_for(term: QueryTerm) -> Iterator[str]:
    """Yield the beginnings of a word that may abbreviate it."""
    token, stem = term.tokens[0], term.stems[0]
    return (token[:letters] for letters in range(_SHORTEST, len(token) + 1) if 3 * letters >= len(stem))


def _long_enough(term: QueryTerm) -> Sequence[str]:
    """Return the forms of a term that match inside another word."""
    return (term.stems[0], term.tokens[0]) if len(term.stems[0]) >= _INSIDE else ()


def _is_inside(word: str, term: QueryTerm) -> bool:
    return any(text in word for text in _long_enough(term))


def _beginnings(terms: Iterable[QueryTerm]) -> Collection[bytes]:
    """Return beginnings that select the names which may match a term, many times faster than the tokenizer decides it:
    a stem keeps the beginning of its word, a short stem all but the last letter."""
    stems = {stem.encode() for term in terms for stem in (term.stems[-1], *(stem for _, stem in term.forms))}
    return {stem[: max(1, min(_SHORTEST, len(stem) - 1))] for stem in stems}


def _contains_any(text: AnyStr, pieces: Iterable[AnyStr]) -> bool:
    """Whether the text contains one of the pieces. A pattern would be as fast to search with, but takes longer to
    compile than a hundred names take to test."""
    for piece in pieces:  # noqa: SIM110  (any() of a generator takes three times as long)
        if piece in text:
            return True
    return False
