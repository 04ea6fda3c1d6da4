"""Finds the other forms that a word has in texts of the index: ``Häuser`` for ``Haus``, ``búsqueda`` for ``búsquedas``.

The index itself unites the forms of English words. For other languages the stemmers of Snowball decide
(https://snowballstem.org), over the words that texts of that language have.

Invariant: a word that texts of other languages mostly have, has no forms and is no form. What is found depends on the
state of the index alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Final, cast

from livedex_indexing.query.query_terms import STOP_WORDS, QueryTerm
from livedex_indexing.query.word_counts import Form, WordCounts
from livedex_indexing.store.read_pool import Reader

if TYPE_CHECKING:
    import Stemmer

# Words that nearly every text of a language has, and hardly one of another language; as the tokenizer returns them.
_USUAL: Final = {
    "catalan": "amb els aquest una dels perque",
    "czech": "nebo jako pro ktere jsou neni",
    "danish": "og ikke det eller som af",
    "dutch": "het een niet voor wordt deze",
    "finnish": "etta mutta joka ovat kun tai",
    "french": "dans avec une cette qui sont",
    "german": "und nicht eine oder werden wird",
    "hungarian": "hogy nem egy vagy van amely",
    "indonesian": "yang dan untuk dengan tidak adalah",
    "italian": "che della una sono gli nel",
    "norwegian": "og ikke det eller som av",
    "polish": "nie jest oraz dla lub przez",
    "portuguese": "uma nao como pelo sao voce",
    "romanian": "este pentru sau sunt care din",
    "russian": "что для как не это или",
    "spanish": "los una las pero esta cuando",
    "swedish": "och att inte som eller ett",
    "turkish": "bir icin ile olarak ve veya",
}
_TELLING: Final = 3  # of those words, the first: some text of the language has two of them
_FORMS: Final = 12  # the commonest forms
_SURE: Final = 4  # letters of a stem that all words with it begin with
_READ: Final = 400  # words that begin so
_SHARE: Final = 0.5  # of the contents with a word, at least, are in the language
_SHORTEST: Final = 3  # letters of a word, and of a stem
_LONGEST: Final = 64
_KEPT: Final = 10_000  # typed words whose forms are kept: under 10 MB
_CHUNKS: Final = 20  # for each content with a form, at most, that have its stem

_BEGINNING: Final = "SELECT term, doc FROM temp.written WHERE term >= ? AND term < ? LIMIT ?"
_CONTENTS: Final = "SELECT doc FROM temp.written WHERE term = ?"
_HAS: Final = "SELECT EXISTS (SELECT 1 FROM exact WHERE exact MATCH ?)"
_COUNT: Final = "SELECT count(*) FROM exact WHERE exact MATCH ?"
_LAST: Final = "\U0010ffff"


def with_forms(reader: Reader, counts: WordCounts, term: QueryTerm, typed: str) -> QueryTerm:
    """Return the term of a typed word with its other forms, the commonest first. Those with the same stem in the index
    are found anyway. Any other term is returned as it is."""
    if len(term.tokens) > 1 or term.prefix or term.unsegmented or not typed.isalpha():
        return term
    forms = counts.forms.get(typed)
    if forms is None:
        if len(counts.forms) >= _KEPT:
            counts.forms.clear()
        forms = counts.forms[typed] = _find(reader, counts, typed, term)
    if not forms:
        return term
    match = f"({' OR '.join([_quoted(word) for word in (*term.tokens, *(form.word for form in forms))])})"
    rows, files = counts.of(reader, match, (), False, match)
    idf = term.idf if term.rows else counts.idf(reader, rows, files)  # the typed form tells how rare a word is
    return term._replace(match=match, rows=rows, files=files, idf=idf, forms=forms)


def _find(reader: Reader, counts: WordCounts, typed: str, term: QueryTerm) -> tuple[Form, ...]:
    plain = term.tokens[0]
    if not _SHORTEST <= len(plain) <= _LONGEST or plain in STOP_WORDS:
        return ()
    own = reader.one(_CONTENTS, (plain,))
    read: dict[str, list[tuple[str, int]]] = {}
    found: dict[str, int] = {}
    for language in _present(reader, counts):
        if not _is_usual(reader, language, plain, own):
            continue
        stemmer = _stemmer(reader, language)
        stems = {_only_token(reader, stemmer.stemWord(word)) for word in (typed.lower(), plain)}
        for begin in {_beginning(stem) for stem in stems if stem and len(stem) >= _SHORTEST}:
            if begin not in read:
                read[begin] = sorted(reader.rows(_BEGINNING, (begin, begin + _LAST, _READ)), key=_commonest_first)
            alike = [(word, contents) for word, contents in read[begin] if stemmer.stemWord(word) in stems]
            # What is rarer than one word of the language hardly is another one's.
            first = (place for place, each in enumerate(alike) if _is_usual(reader, language, *each))
            found |= alike[next(first, len(alike)) :]
    return _new_forms(reader, counts, term, sorted(found.items(), key=_commonest_first))


def _beginning(stem: str) -> str:
    """Return how all words with the stem begin: the last letter of a longer one may be another in some."""
    return stem[:-1] if len(stem) > _SURE else stem


def _new_forms(reader: Reader, counts: WordCounts, term: QueryTerm, words: list[tuple[str, int]]) -> tuple[Form, ...]:
    """Return those of the words, each with its number of contents, that have another stem than the term, one for each
    stem."""
    forms: dict[str, Form] = {}
    for word, contents in words:
        stem = reader.stems(word.encode())[0][2]
        # Texts in English may have the stem, too: that of the Italian `liste` is `list`.
        if (stem,) != term.stems and counts.of_word(reader, word) <= _CHUNKS * contents:
            forms.setdefault(stem, Form(word, stem))
    return tuple(forms.values())[:_FORMS]


def _commonest_first(word: tuple[str, int]) -> tuple[int, str]:
    return -word[1], word[0]


def _stemmer(reader: Reader, language: str) -> Stemmer.Stemmer:
    """Return a stemmer of the reader's own: one may serve one thread only."""
    import Stemmer  # most indexes never need it

    stemmers = reader.scratch.setdefault("stemmers", {})
    assert isinstance(stemmers, dict)
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language)
    return cast("Stemmer.Stemmer", stemmers[language])


def _only_token(reader: Reader, typed: str) -> str | None:
    tokens = reader.tokens(typed)
    return tokens[0] if len(tokens) == 1 else None


def _present(reader: Reader, counts: WordCounts) -> tuple[str, ...]:
    """Return the languages of which a text is in the index."""
    if counts.languages is None:
        pairs = {language: combinations(usual.split()[:_TELLING], 2) for language, usual in _USUAL.items()}
        counts.languages = tuple(language for language, each in pairs.items() if reader.one(_HAS, (_any_pair(each),)))
    return counts.languages


def _any_pair(pairs: Iterable[tuple[str, str]]) -> str:
    return " OR ".join(f"({_quoted(left)} AND {_quoted(right)})" for left, right in pairs)


def _quoted(word: str) -> str:
    return f'"{word}"'


def _is_usual(reader: Reader, language: str, word: str, contents: int | None) -> bool:
    """Whether texts of the language are most of the ``contents`` with a word, or none has it."""
    usual = " OR ".join(map(_quoted, _USUAL[language].split()))
    return not contents or int(reader.one(_COUNT, (f"{_quoted(word)} AND ({usual})",))) >= _SHARE * contents
