"""A query's words against one index: which are asked, how rare each is, and how FTS5 is told.

Invariant: an expression made here is always valid FTS5, whatever was typed: it is put together from tokens that the
tokenizer itself found, each in quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from livedex_indexing.model import Query
from livedex_indexing.query.query_parser import is_phrase, is_prefix
from livedex_indexing.query.spell_repair import Meanings, Repair
from livedex_indexing.store.database import varints
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.path_words import path_text
from livedex_indexing.text.terms import compounds, parts_of
from livedex_indexing.text.unsegmented import RUN, as_asked, folded, pieces_of

MAX_WORDS: Final = 64  # the rarest so many count
_MAX_UNITS: Final = 256  # with the parts of words
_KEPT_STOP_WORDS: Final = 3
_MANY: Final = 1_000  # chunks: of a word in so many it takes long to count them, and a few more change nothing
_SAME_SIZE: Final = 0.02  # by which share the number of all chunks may differ for that
_REMEMBERED: Final = 10_000  # counts of words, about 2 MB
_SENTENCE: Final = 8  # a longer run of Chinese, Thai … that stands nowhere is not one word, but many

_NAME: Final = re.compile(r"[\w.-]+")

# Words that say nothing about what is looked for: articles, pronouns, prepositions, auxiliaries, and what people put
# around a question. Taken from ranking.md's recipe: leaving them out gains .01 and two thirds of the time.
_STOP_TEXT: Final = """
a about above across after again against all also although always am among an and another any anyone anything are around
as at be because been before being below between both but by can cannot could did do does doing don done down during
each either else etc ever every few find for from further get gets getting had has have having he hence her here hers
him his how however i if in into is it its itself just least less let like make many may me might more most much must my
need needs neither no nor not now of off often on once one only onto or other others our out over own per please rather
same shall she should show since so some such than that the their them then there these they thing this those through
thus to together too toward under until up upon us use used uses using very via want wants was way we well were what
whatever when where whether which while who whom whose why will with within without would yes yet you your explain
"""
STOP_WORDS: Final = frozenset(_STOP_TEXT.split())

_COUNT_TERM = "SELECT doc FROM temp.vocabulary WHERE term = ?"
_COUNT_ROWS = "SELECT count(*) FROM postings WHERE postings MATCH ?"
_COUNT_PATHS = "SELECT count(*) FROM paths WHERE paths MATCH ?"
_TOTALS = "SELECT block FROM postings_data WHERE id = 1"  # FTS5's own: the number of rows, then of words


class Unit(NamedTuple):
    """One thing asked: a word, a prefix, words that stand together (``foo_bar``), or a phrase.

    ``tokens`` are folded and not stemmed. ``rows`` is the number of chunks that hold it, ``files`` of paths. ``idf``
    is BM25's, of its rows among all. ``spaceless`` is what was typed where it holds a script without blanks between
    words: its tokens are pairs of characters then, and it is marked by the characters. Of what may be a path
    (``net/tun.c``) ``paths`` finds the files there, and ``name`` has the stems of its last part.
    """

    match: str
    tokens: tuple[str, ...]
    stems: tuple[str, ...]
    prefix: bool
    rows: int
    files: int
    idf: float
    spaceless: str = ""
    paths: str = ""
    name: frozenset[str] = frozenset()

    @property
    def stop(self) -> bool:
        return len(self.tokens) == 1 and (self.tokens[0] in STOP_WORDS or _is_letter(self.tokens[0]))


class Phrase(NamedTuple):
    """A phrase that a file must hold as written: ``text`` is what was typed, ``unit`` finds its candidates."""

    text: str
    unit: Unit


class Asked(NamedTuple):
    """What a search looks for. ``units`` in the order typed, stop words left out unless they stand alone; ``spoken``
    is the same with all stop words (for neighbours). ``total`` is Σ idf, never 0. ``cut``: words were left out.
    ``respelt``: what was typed and its correction, of each word that stands nowhere and has near ones; the units are
    those of the corrections, in ``spoken`` of the nearest alone. ``chunks`` is the number of all there are."""

    units: tuple[Unit, ...]
    spoken: tuple[Unit, ...]
    phrases: tuple[Phrase, ...]
    excluded: tuple[Unit, ...]
    barred: tuple[Phrase, ...]
    total: float
    cut: bool
    respelt: tuple[tuple[str, str], ...] = ()
    chunks: int = 0

    @property
    def any_of(self) -> tuple[Unit, ...]:
        """What a file must hold one of: the words, or the phrases where there are no words."""
        return self.units or tuple(phrase.unit for phrase in self.phrases)

    @property
    def textual(self) -> bool:
        """Whether anything is looked for in texts and paths; otherwise the query lists what the filters admit."""
        return bool(self.units or self.phrases)


class WordCounts:
    """How many rows hold a word: read once a generation, since a common word's list is long to read.

    While much is indexed there are several generations a second: of common words the number in the ``former`` one is
    taken, as long as the index has hardly grown. Of any other an old number would hide what is new.
    """

    def __init__(self, generation: int, former: WordCounts | None = None) -> None:
        self.generation = generation
        self.chunks: int | None = None
        self._known: dict[str, tuple[int, int]] = {}
        self._many: dict[str, int] = {} if former is None else former._many
        self._counted_at: int = 0 if former is None else former._counted_at  # all chunks, when these were counted
        self.meanings: Meanings = Meanings() if former is None else former.meanings

    def all_chunks(self, reader: Reader) -> int:
        if self.chunks is None:
            totals = reader.one(_TOTALS)
            self.chunks = varints(totals)[0] if totals else 0
            if abs(self.chunks - self._counted_at) > _SAME_SIZE * self._counted_at:
                self._many, self._counted_at = {}, self.chunks
        return self.chunks

    def of(self, reader: Reader, match: str, stems: tuple[str, ...], prefix: bool, paths: str) -> tuple[int, int]:
        """(chunks, paths) that hold it."""
        known = self._known.get(match)
        if known is None:
            rows = self._rows(reader, match, stems, prefix)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[match] = (rows, reader.one(_COUNT_PATHS, (paths,)))
        return known

    def _rows(self, reader: Reader, match: str, stems: tuple[str, ...], prefix: bool) -> int:
        self.all_chunks(reader)  # first: it forgets the numbers of an index of another size
        rows = self._many.get(match)
        if rows is None:
            if len(stems) == 1 and not prefix:
                rows = int(reader.one(_COUNT_TERM, (stems[0],)) or 0)
            else:
                rows = int(reader.one(_COUNT_ROWS, (match,)))
            if rows >= _MANY and len(self._many) < _REMEMBERED:
                self._many[match] = rows
        return rows


def ask(reader: Reader, query: Query, counts: WordCounts, *, fresh: bool = True) -> Asked:
    """Reads a query's words against the index. Without ``fresh`` misspelt words may mean what they did lately."""
    words = query.text.split()
    repair = Repair(reader, counts, lambda word: _whole(reader, word, counts), fresh=fresh)
    typed = [_units(reader, word, counts, repair, alone=len(words) == 1) for word in words]
    phrases = [phrase for text in query.phrases if (phrase := _phrase(reader, text, counts)) is not None]
    telling = [units for units in typed if not all(unit.stop for unit in units)]
    if not telling and not phrases:
        telling = sorted((units for units in typed if units), key=_rarity)[:_KEPT_STOP_WORDS]
    counted = sorted(telling, key=_rarity)[:MAX_WORDS]
    alone = all(unit.stop for units in counted for unit in units)
    rarest = {unit for units in counted for unit in units if alone or not unit.stop}
    spoken = list(dict.fromkeys(unit for units in typed for unit in units if unit in rarest or unit.stop))
    typed_too = {unit.match for unit in spoken if unit not in repair.others}
    others = {unit for unit in spoken if unit in repair.others and unit.match in typed_too}
    kept = tuple(unit for unit in spoken if unit in rarest and unit not in others)[:_MAX_UNITS]
    excluded = [_whole(reader, word, counts) for word in query.excluded if not is_phrase(word)]
    barred = [_phrase(reader, text[1:-1], counts) for text in query.excluded if is_phrase(text)]
    scored = (*kept, *(phrase.unit for phrase in phrases))
    longest = max(len(phrases), len(excluded), len(barred))
    return Asked(
        kept,
        tuple(unit for unit in spoken if unit not in repair.others),
        tuple(phrases[:MAX_WORDS]),
        tuple(unit for unit in excluded if unit is not None)[:MAX_WORDS],
        tuple(phrase for phrase in barred if phrase is not None)[:MAX_WORDS],
        sum(unit.idf for unit in scored if unit.rows or unit.files) or 1.0,
        len(counted) < len(set(map(tuple, telling))) or len(kept) + len(others) < len(rarest) or longest > MAX_WORDS,
        tuple(repair.respelt.items()),
        counts.all_chunks(reader),
    )


class _Uncounted(WordCounts):
    """Says of no word how rare it is."""

    def all_chunks(self, reader: Reader) -> int:
        return 0

    def of(self, reader: Reader, match: str, stems: tuple[str, ...], prefix: bool, paths: str) -> tuple[int, int]:
        return 0, 0


def ask_whole(reader: Reader, query: Query) -> Asked:
    """Reads the words of a standing query, which holds only what has all of them: each as a whole and none left out
    for being one of many, so that it says the same whatever the index holds. Stop words count only alone."""
    counts = _Uncounted(0)

    def whole(words: Iterable[str]) -> tuple[Unit, ...]:
        return tuple(dict.fromkeys(unit for word in words if (unit := _whole(reader, word, counts)) is not None))

    def written(texts: Iterable[str]) -> tuple[Phrase, ...]:
        return tuple(phrase for text in texts if (phrase := _phrase(reader, text, counts)) is not None)

    units, phrases = whole(query.text.split()), written(query.phrases)
    telling = tuple(unit for unit in units if not unit.stop)
    return Asked(
        units=telling if telling or phrases else units,
        spoken=(),
        phrases=phrases,
        excluded=whole(word for word in query.excluded if not is_phrase(word)),
        barred=written(text[1:-1] for text in query.excluded if is_phrase(text)),
        total=1.0,
        cut=False,
    )


def any_of(units: Iterable[Unit]) -> str:
    """An FTS5 expression that any of the units satisfies."""
    return " OR ".join(unit.match for unit in units)


def any_path_of(units: Iterable[Unit]) -> str:
    """The same for the words of paths."""
    return " OR ".join(unit.paths or unit.match for unit in units)


def _units(reader: Reader, word: str, counts: WordCounts, repair: Repair, *, alone: bool) -> list[Unit]:
    """A word as asked for: its tokens and the parts of those in mixed case, each for itself.

    ``alone``: a query of one name asks for that name as a whole, where it stands anywhere at all. Among other words
    the parts find more (.004 to .012 on the three sets of ranking.md), and neighbours count in the ranking anyway.
    A name that numbers or a single letter tell from its like (``token17``, ``part_b``) is that one or none; what holds
    other signs (``call(x)``) is no name.
    """
    whole = _whole(reader, word, counts)
    if whole is None:
        return []
    if whole.spaceless:
        return _runs(reader, whole, counts, repair, alone=alone)
    stands = bool(whole.rows or whole.files)
    if whole.prefix or (alone and stands and not repair.is_missing(whole)):
        return [whole]
    joined = [] if stands else _joined(reader, word, counts, repair)
    # The parts of names are ASCII's: cut there, `größe` would be asked for as `gr` and `e`.
    pieces = [(piece, parts_of(piece) if piece.isascii() else []) for piece in _surfaces(reader, word)]
    if alone and _NAME.fullmatch(word) and any(_is_mark(text) for piece, parts in pieces for text in parts or (piece,)):
        return [whole, *joined]
    tokens = [
        [(text, unit) for text in (piece, *parts) if (unit := _whole(reader, text, counts)) is not None]
        for piece, parts in pieces
    ]
    if joined:  # then none of it is a mistake
        return [*(unit for token in tokens for _, unit in token), *joined]
    return repair.of(word, [token for token in tokens if token])


def _joined(reader: Reader, word: str, counts: WordCounts, repair: Repair) -> list[Unit]:
    """``read-only`` as one word, where that stands somewhere. For what is typed with a hyphen and stands nowhere with
    one: else each place with a hyphen would count twice (measured on documentation: a loss of .004)."""
    for start, end, text in compounds(word):
        unit = _whole(reader, text, counts) if (start, end) == (0, len(word)) else None
        if unit is not None and (unit.rows or unit.files):
            repair.others.add(unit)
            return [unit]
    return []


def _whole(reader: Reader, word: str, counts: WordCounts) -> Unit | None:
    """The tokens of a word as one unit; None when it has none (``->``)."""
    prefix = is_prefix(word)
    word = folded(word)[0]
    spaceless = word if RUN.search(word) else ""
    if spaceless:
        word, begins = as_asked(word)
        prefix = begins or (prefix and not RUN.match(spaceless[-2]))
    encoded = word.encode("utf-8", "replace")
    tokens = tuple(token for _, _, token in reader.words(encoded))
    if not tokens:
        return None
    stems = tuple(token for _, _, token in reader.stems(encoded))
    match = f'"{" ".join(tokens)}"{" *" if prefix else ""}'
    paths, name = ("", frozenset[str]()) if spaceless else _as_path(reader, word, match)
    rows, files = counts.of(reader, match, stems, prefix, paths or match)
    idf = idf_of(rows or files, counts.all_chunks(reader))
    return Unit(match, tokens, stems, prefix, rows, files, idf, spaceless, paths, name)


def _as_path(reader: Reader, word: str, match: str) -> tuple[str, frozenset[str]]:
    """What finds the files at a path, and the stems of its last part: no row of words reaches from the folder, which is
    a column of its own, into the name."""
    folder, _, name = (part.encode("utf-8", "replace") for part in word.rpartition("/"))
    above = " ".join([token for _, _, token in reader.words(folder)])
    stems = frozenset(stem for _, _, stem in reader.stems(path_text(name).encode()))
    if not above or not stems:
        return "", frozenset()
    last = match[1:].removeprefix(above).lstrip()  # with the star of a prefix
    return f'({match} OR (folder : "{above}" AND name : "{last}))', stems


def _runs(reader: Reader, whole: Unit, counts: WordCounts, repair: Repair, *, alone: bool) -> list[Unit]:
    """What to ask for where runs of a script without blanks are in a word: all as one, or each piece; of a sentence
    that no text holds, its pairs of characters."""
    pieces = pieces_of(whole.spaceless)
    held = bool(whole.rows or whole.files)
    typed_prefix = whole.prefix and whole.spaceless.endswith("*")
    if len(pieces) > 1 and not typed_prefix and not (alone and held):
        return [unit for piece in pieces for unit in _units(reader, piece, counts, repair, alone=alone)]
    if held or len(pieces) > 1 or len(pieces[0]) <= _SENTENCE:
        return [whole]
    pairs = (_whole(reader, "".join(pair), counts) for pair in pairwise(pieces[0]))
    return [pair for pair in dict.fromkeys(pairs) if pair is not None and (pair.rows or pair.files)] or [whole]


def _phrase(reader: Reader, text: str, counts: WordCounts) -> Phrase | None:
    unit = _whole(reader, text.rstrip("*"), counts)
    return None if unit is None else Phrase(text, unit)


def _surfaces(reader: Reader, word: str) -> list[str]:
    """The pieces of a word that are tokens, as they are written."""
    encoded = word.encode("utf-8", "replace")
    return [encoded[start:end].decode("utf-8", "replace") for start, end, _ in reader.words(encoded)]


def _rarity(units: Sequence[Unit]) -> tuple[int, str]:
    """Orders the words of a query: first the one with the rarest part."""
    return min((unit.rows, unit.match) for unit in units)


def idf_of(rows: int, total: int) -> float:
    """BM25's, never negative: a word in over half of the rows says next to nothing."""
    return max(1e-6, math.log((max(total, rows) - rows + 0.5) / (rows + 0.5)))


def _is_mark(text: str) -> bool:
    """Whether a part of a name only tells it from its like: a number, a single letter."""
    return _is_letter(text) or any(character.isdigit() for character in text)


def _is_letter(token: str) -> bool:
    """A single letter of an alphabet; one character of Chinese or Japanese is a word."""
    return len(token) == 1 and ord(token) < 0x2E80
