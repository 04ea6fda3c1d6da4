"""Finds the other forms that a word has in texts of the index: ``Häuser`` for ``Haus``, ``búsqueda`` for ``búsquedas``.

The index itself unites the forms of English words. For other languages the stemmers of Snowball decide
(https://snowballstem.org), over the words that texts of that language have; where there is none, what words begin with.

Invariant: a word that texts of other languages mostly have, has no forms and is no form. What is found depends on the
state of the index alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING, Final, cast

from livedex_indexing.query.query_terms import STOP_WORDS, QueryTerm
from livedex_indexing.query.word_counts import Form, WordCounts
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.letters import fold_letters, with_vowel_signs

if TYPE_CHECKING:
    import Stemmer

# Words that nearly every text of a language has, and hardly one of another language. The first word of a key names the
# stemmer.
_USUAL: Final = {
    "arabic": "من في على هذا التي أو",
    "armenian": "որ են համար կամ այս մեջ",
    "basque": "eta edo dira bat ez duen",
    "catalan": "amb els aquest una dels perque",
    "czech": "nebo jako pro ktere jsou neni",
    "danish": "og ikke det eller som af",
    "dutch": "het een niet voor wordt deze",
    "esperanto": "kaj kiu estas ne tiu au",
    "estonian": "ning kui oma ei voi ole",
    "finnish": "etta mutta joka ovat kun tai",
    "french": "dans avec une cette qui sont",
    "german": "und nicht eine oder werden wird",
    "greek": "και του της για στο που",
    "hindi": "और में है के नहीं यह",
    "hungarian": "hogy nem egy vagy van amely",
    "indonesian": "yang dan untuk dengan tidak adalah",
    "irish": "agus leis chun seo nach bhfuil",
    "italian": "che della una sono gli nel",
    "lithuanian": "yra kad arba jei kaip buvo",
    "nepali": "छ लागि गर्न पनि यो तपाईं",
    "norwegian": "og ikke det eller som av",
    "persian": "این برای است که در شود",
    "polish": "nie jest oraz dla lub przez",
    "portuguese": "uma nao como pelo sao voce",
    "romanian": "este pentru sau sunt acest din",
    "russian": "что для как не это или",
    "serbian": "koji nije ili kako ako samo",
    "serbian cyrillic": "који није или како ако само",
    "spanish": "los una las pero esta cuando",
    "swedish": "och att inte som eller ett",
    "tamil": "மற்றும் இந்த ஒரு அல்லது என உள்ள",
    "turkish": "bir icin ile olarak ve veya",
    "yiddish": "און איז די פון ניט דער",
}
# The same for languages without a stemmer, whose words have their forms at their end.
_USUAL_WITHOUT: Final = {
    "assamese": "আৰু বাবে এই কৰা",
    "belarusian": "гэта што каб або як не",
    "bengali": "এবং জন্য এই করা না হয়",
    "bulgarian": "че като или за да се",
    "galician": "unha coa dunha tamen pode como",
    "gujarati": "છે અને માટે તમે આ નથી",
    "latvian": "vai lai nav kas ir par",
    "macedonian": "дека што како или се за",
    "marathi": "आहे आणि किंवा तुम्ही साठी या",
    "slovak": "alebo ktore ako nie moze bude",
    "slovenian": "ki ali kot tudi lahko je",
    "telugu": "మరియు లేదా ఈ ఒక మీరు మీ",
    "ukrainian": "що або це для як не",
}
_STEM: Final = 4  # letters that two forms of a word begin with, where there is no stemmer, at least …
_ENDING: Final = 3  # … and letters behind these, at most, in each form …
_ENDINGS: Final = 5  # … and in both
_OF_PERSIAN: Final = str.maketrans("كي", "کی")  # as its stemmer knows them
_ARTICLES: Final = ("", "ال", "وال", "بال", "لل", "و", "ب", "ل")  # in front of words, as Arabic has them
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
    if len(term.tokens) > 1 or term.prefix or term.unsegmented or not fold_letters(typed).isalpha():
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
    is_usual = partial(_is_usual, reader, counts)
    read: dict[str, list[tuple[str, int]]] = {}
    found: dict[str, int] = {}
    for language in _present(reader, counts):
        if not is_usual(language, plain, own):
            continue
        beginnings, is_form = _forms_in(reader, language, typed, plain)
        for begin in beginnings:
            if begin not in read:
                read[begin] = sorted(reader.rows(_BEGINNING, (begin, begin + _LAST, _READ)), key=_commonest_first)
            alike = [(word, contents) for word, contents in read[begin] if is_form(word)]
            # What is rarer than one word of the language hardly is another one's.
            first = (place for place, each in enumerate(alike) if is_usual(language, *each))
            found |= alike[next(first, len(alike)) :]
    return _new_forms(reader, counts, term, sorted(found.items(), key=_commonest_first))


def _forms_in(reader: Reader, language: str, typed: str, plain: str) -> tuple[set[str], Callable[[str], bool]]:
    """Return how the forms of a word begin, and what tells whether a word of the index is one."""
    if language in _USUAL_WITHOUT:
        return {plain[: max(_STEM, len(plain) - _ENDING)]}, partial(have_one_stem, plain)
    stem_of = partial(_stem_of, _stemmer(reader, language), language)
    stems = {_only_token(reader, stem) for stem in (stem_of(typed.lower()), stem_of(plain))}
    return _beginnings(language, plain, stems), lambda word: stem_of(word) in stems


def have_one_stem(left: str, right: str) -> bool:
    """Whether two words look like forms of one: they begin alike, and only short endings differ."""
    differ = (at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other)
    stem = next(differ, min(len(left), len(right)))
    endings = (len(left) - stem, len(right) - stem)
    return stem >= max(_STEM, sum(endings)) and max(endings) <= _ENDING and sum(endings) <= _ENDINGS


def _stem_of(stemmer: Stemmer.Stemmer, language: str, word: str) -> str:
    """Return the stem of a word, or of one as the index has it, as the index would have it."""
    spelt = word.translate(_OF_PERSIAN) if language == "persian" else with_vowel_signs(word)
    return fold_letters(stemmer.stemWord(spelt))


def _beginnings(language: str, word: str, stems: Iterable[str | None]) -> set[str]:
    """Return how all words with one of the stems begin: the last letter of a longer stem may be another in some, and
    that of a word in Serbia's other script is in Latin letters."""
    found = set()
    for stem in stems:
        if stem and len(stem) >= _SHORTEST:
            begin = stem if stem[0] == word[0] or language == "arabic" else word[: len(stem)]
            found.add(begin[:-1] if len(begin) > _SURE else begin)
    return {article + begin for begin in found for article in (_ARTICLES if language == "arabic" else ("",))}


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
        stemmers[language] = Stemmer.Stemmer(language.partition(" ")[0])
    return cast("Stemmer.Stemmer", stemmers[language])


def _only_token(reader: Reader, typed: str) -> str | None:
    tokens = reader.tokens(typed)
    return tokens[0] if len(tokens) == 1 else None


def _present(reader: Reader, counts: WordCounts) -> dict[str, int]:
    """Return the languages of which a text is in the index, each with the number of contents with a usual word."""
    if counts.languages is None:
        pairs = {language: combinations(_usual(language)[:_TELLING], 2) for language in _USUAL | _USUAL_WITHOUT}
        found = [language for language, each in pairs.items() if reader.one(_HAS, (_any_pair(each),))]
        counts.languages = {language: int(reader.one(_COUNT, (_any_usual(language),))) for language in found}
    return counts.languages


@cache
def _usual(language: str) -> list[str]:
    return fold_letters((_USUAL | _USUAL_WITHOUT)[language]).split()


def usual_words() -> frozenset[str]:
    """Return the words that tell the languages, as the index has them."""
    return frozenset(word for language in _USUAL | _USUAL_WITHOUT for word in _usual(language))


def _any_pair(pairs: Iterable[tuple[str, str]]) -> str:
    return " OR ".join(f"({_quoted(left)} AND {_quoted(right)})" for left, right in pairs)


def _quoted(word: str) -> str:
    return f'"{word}"'


@cache
def _any_usual(language: str) -> str:
    return " OR ".join(map(_quoted, _usual(language)))


def _is_usual(reader: Reader, counts: WordCounts, language: str, word: str, contents: int | None) -> bool:
    """Whether texts of the language are most of the ``contents`` with a word, or none has it."""
    if not contents:
        return True
    if _present(reader, counts)[language] < _SHARE * contents:
        return False  # at once, for the words of all other texts
    return int(reader.one(_COUNT, (f"{_quoted(word)} AND ({_any_usual(language)})",))) >= _SHARE * contents
