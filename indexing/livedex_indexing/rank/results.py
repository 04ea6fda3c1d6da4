"""Everything that matches a query, in the order it is served: first the ranked, then all others.

Invariant: the order depends on the index's generation and the query alone, not on the page asked for; so the pages of
one generation neither overlap nor leave out, and every match can be paged to.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import AnyStr, Final

from livedex_indexing.hits.hit_builder import first_chunks
from livedex_indexing.query.filters import OF_CONTENT, holding_admitted
from livedex_indexing.query.query_compiler import Asked, Unit, any_of, any_path_of
from livedex_indexing.rank import postings
from livedex_indexing.rank.auxiliary import is_asked_for, stands_beside
from livedex_indexing.rank.features import scored_units, weigh, written
from livedex_indexing.rank.phrase_filter import Held
from livedex_indexing.rank.score import Copy, Placed, Ranked, arrange, rank_files, spread
from livedex_indexing.rank.synonyms import names_for
from livedex_indexing.store.database import id_list
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import IN_CONTENT
from livedex_indexing.text.path_words import path_text

_BATCH: Final = 500
WEIGHED: Final = 150  # chunks that are looked into, at most, and for a few words …
WEIGHED_A_WORD: Final = 50  # … so many for each: there BM25 alone puts what is best near the top
_SMALL_INDEX: Final = 5_000  # chunks: below, few words get as many rows (topics of `help()`: .787, not .727)
BY_PATH: Final = 15  # files that only their path brought whose chunks are looked into …
FIRST_CHUNKS: Final = 4  # … beside those with a rare word
_ALL_CHUNKS: Final = 1_000  # of such files, which are all looked into where a word is asked by its beginning
_TELLING: Final = 0.5  # idf: a rarer stop word counts in a file's name
_COPIES: Final = 64  # of one content whose names are looked at
AKIN: Final = 0.8  # of a word's worth in a file's name, where the name says it otherwise: `config` for configuration
MEANT: Final = 2.0  # words of a name is one worth that stands there for a word asked: `is` for whether (`synonyms`)
_USUAL_NAME: Final = 12  # characters of a file of code
_AT_PATH: Final = 2.0  # times as much says the name at a path asked for: the file comes before what tells of it
_SHORTEST: Final = 3  # letters of a word that may be short for another, and at least a third of its stem
_INSIDE: Final = 4  # letters of a stem that is found inside of a name's words: `fromarray`

_NOT_NAMED: Final[tuple[float, float, Sequence[float]]] = (0.0, 0.0, ())

_CONTENT_OF = "SELECT id, content_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
_CONTENT_OF_FILE = "SELECT id, content_id FROM files WHERE id IN (SELECT value FROM json_each(?))"
_COPIES_OF = f"""SELECT d.content_id, d.id, d.root_id, d.folder, d.name, t.chunks, t.pipeline = 'code'
                FROM json_each(?) i CROSS JOIN contents t ON t.id = i.value
                CROSS JOIN {OF_CONTENT} ON d.content_id = t.id WHERE {{}}"""
_ROOTS = "SELECT id, path FROM roots"
_CHUNKS_OF = f"""SELECT c.id, c.content_id FROM contents t JOIN chunks c
                ON {IN_CONTENT}
                WHERE t.id IN (SELECT value FROM json_each(?)) AND {{}}"""
_NEWEST = """SELECT d.content_id, d.id, max(d.mtime_ns) FROM files d WHERE {}
             GROUP BY d.content_id ORDER BY 3 DESC, d.folder, d.name, d.root_id, d.content_id"""


class Matching:
    """The matches of one query in one snapshot of the index. ``late`` is set when the deadline cut the ranking.

    ``damps``: tests, examples and their like come after what says as much, unless the query's words ask for them.
    """

    def __init__(
        self, reader: Reader, asked: Asked, held: Held, *, one_each: bool, one_file: bool, damps: bool
    ) -> None:
        self._reader = reader
        self._asked = asked
        self._admission = held.admission
        self._borders = held.borders
        self._one_each = one_each
        self._one_file = one_file
        stops = (unit for unit in asked.spoken if unit.stop and unit.idf >= _TELLING and len(unit.tokens[0]) > 2)
        self._named = tuple(dict.fromkeys((*asked.any_of, *stops)))
        self._begin = _beginnings(self._named)
        self._told = [unit for unit in self._named if _has_kin(unit)]
        self._suffixes: dict[bytes, AbstractSet[str]] = {}
        self._akin: dict[str, Sequence[Unit]] = {}
        # A hundred names a search: a look into a table and a search for all words at once cost a third of asking each.
        self._short: dict[str, list[Unit]] = {}
        for unit in self._told:
            for short in _short_for(unit):
                self._short.setdefault(short, []).append(unit)
        self._inside = {text for unit in self._told for text in _long_enough(unit)}
        self._meant = names_for(token for unit in asked.spoken for token in unit.tokens)
        self._scored = scored_units(asked)
        self._left: list[int] = []  # proposed chunks that are not looked into, best first
        self._damps = damps and not is_asked_for(token for unit in asked.any_of for token in unit.tokens)
        self.late = False

    def placed(self, holds: Callable[[int], bool]) -> Iterator[Placed | None]:
        """The hits in order; None is a place that stays empty (see `spread`).

        ``holds`` says whether a content holds its phrases. Raises DeadlinePassed.
        """
        if not self._asked.textual:
            return (hit for hit in self._newest() if holds(hit.content_id))
        hits = (hit for hit in self._all() if holds(hit.content_id))
        return hits if self._one_each or self._one_file else spread(hits)

    def _all(self) -> Iterator[Placed]:
        ranked = self._ranked()
        yield from arrange(ranked, one_each=self._one_each, crowd=self._one_file)
        if self.late:
            return
        contents = {file.content_id for file in ranked}
        seen = {chunk_id for file in ranked for _, chunk_id in file.chunks}
        # Of a file that only its path brought the first chunk is shown.
        seen.update(
            first_chunks(self._reader, {file.content_id for file in ranked if not file.chunks}, self._admission)
        )
        yield from self._not_weighed(seen, contents)
        yield from self._other_chunks(seen, contents)
        yield from self._over_borders(contents)
        yield from self._other_files(contents)

    def _ranked(self) -> list[Ranked]:
        asked, admission = self._asked, self._admission
        found = postings.collect(self._reader, asked, admission)
        self.late = found.late
        with self._reader.without_deadline():
            proposed = sorted(found.chunks, key=lambda chunk_id: (-found.chunks[chunk_id], chunk_id))
            most = WEIGHED if asked.chunks < _SMALL_INDEX else min(WEIGHED, WEIGHED_A_WORD * len(self._scored))
            ids, self._left = proposed[:most], proposed[most:]
            content_of = self._pairs(_CONTENT_OF, ids)
            of_files = self._pairs(_CONTENT_OF_FILE, found.paths)
            if not found.late:
                content_of |= self._chunks_found_by_path(found.paths, of_files, set(content_of.values()))
            weighed = weigh(self._reader, asked, content_of)
            weighed = weighed._replace(written=written(self._reader, self._scored, {*content_of.values()}))
            copies = self._copies({*content_of.values(), *of_files.values()}, found.paths)
        return rank_files(weighed, content_of, copies, asked.total)

    def _chunks_found_by_path(
        self, paths: Mapping[int, float], of_files: Mapping[int, int], known: set[int]
    ) -> dict[int, int]:
        """The chunks of files that only their path brought: for their place, and so that the hit is the chunk that says
        most. Of the best such files; of a long one without a rare word the first chunks."""
        best = sorted(paths, key=lambda file_id: (-paths[file_id], file_id))
        contents = list(dict.fromkeys(of_files[i] for i in best if i in of_files and of_files[i] not in known))
        sql, values = self._admission.chunks
        chunks = dict(self._reader.rows(_CHUNKS_OF.format(sql), (id_list(contents[:BY_PATH]), *values)))
        if len(chunks) <= _ALL_CHUNKS and any(unit.prefix for unit in self._scored):
            return chunks  # each question about a beginning reads all words that begin so: `weigh` asks, once for all
        matching = postings.matching_chunks(
            self._reader, self._scored, chunks, self._asked.chunks, small=self._admission.small
        )
        found = {chunk_id: chunks[chunk_id] for chunk_id in matching}
        held = Counter(found.values())
        for chunk_id, content_id in chunks.items():
            if held[content_id] < FIRST_CHUNKS:
                held[content_id] += 1
                found[chunk_id] = content_id
        return found

    def _copies(self, contents: Iterable[int], paths: Mapping[int, float]) -> dict[int, list[Copy]]:
        sql, values = self._admission.files
        rows = self._reader.rows(_COPIES_OF.format(sql), (id_list(contents), *values))
        if len(rows) > _COPIES:
            rows.sort(key=lambda row: len(row[3]) + len(row[4]))
        roots = dict(self._reader.rows(_ROOTS))
        copies: dict[int, list[Copy]] = {}
        names: dict[bytes, tuple[float, float, Sequence[float]]] = {}
        for content_id, file_id, root, folder, name, chunks, is_code in rows:
            those = copies.setdefault(content_id, [])
            if len(those) < _COPIES or file_id in paths:
                if name not in names:
                    names[name] = self._in_name(name)
                path = b"/".join((roots[root], folder, name) if folder else (roots[root], name))
                score, title, counts = names[name]
                beside = bool(is_code) and self._damps and stands_beside(folder, name)
                brevity = math.log((1 + _USUAL_NAME) / (1 + len(name))) if is_code else 0.0
                by_path = paths.get(file_id, 0.0)
                those.append(Copy(file_id, path, score, title, by_path, counts, chunks, beside, brevity))
        return copies

    def _in_name(self, name: bytes) -> tuple[float, float, Sequence[float]]:
        """What is asked for that stands in a file's name: Σ idf, the same times the share of the name that it makes up,
        and for each scored word whether it does, empty where none does; all of it `AKIN` for what is said in another
        form. The suffix is no part of the name there, and a word that is meant counts in the share alone."""
        if name.isascii() and not _holds_one(name.lower(), self._begin):
            return _NOT_NAMED
        told, dot, suffix = name.rpartition(b".")
        own = self._words_of(told if told else name)
        stems = own.keys() | self._suffix_stems(suffix) if dot and told else own.keys()
        named = (unit for unit in self._named if _stands_among(unit, stems, own.keys()))
        held = {unit: _AT_PATH if unit.name else 1.0 for unit in named}
        said = {stem for unit in held for stem in unit.stems}
        covered = 0.0
        for stem, word in own.items():
            akin = () if stem in said else self._akin_to(word)
            for unit in akin:
                held.setdefault(unit, AKIN)
            covered += 1.0 if stem in said else AKIN if akin else MEANT if word in self._meant else 0.0
        if not held:
            return _NOT_NAMED
        score = sum(unit.idf * share for unit, share in held.items())
        return score, score * covered / max(1, len(own)), [held.get(unit, 0.0) for unit in self._scored]

    def _akin_to(self, word: str) -> Sequence[Unit]:
        """What is asked for that a word of a name says in another form: it is short for it, or holds it."""
        akin = self._akin.get(word)
        if akin is None:
            told = self._short.get(word, ())
            if _holds_one(word, self._inside):
                told = [unit for unit in self._told if unit in told or _is_inside(word, unit)]
            akin = self._akin[word] = told
        return akin

    def _suffix_stems(self, suffix: bytes) -> AbstractSet[str]:
        if suffix not in self._suffixes:
            self._suffixes[suffix] = self._words_of(suffix).keys()
        return self._suffixes[suffix]

    def _words_of(self, name: bytes) -> dict[str, str]:
        """The words of a name, in lower case, by their stems."""
        text = path_text(name).lower().encode("utf-8", "replace")
        return {stem: text[start:end].decode("utf-8", "replace") for start, end, stem in self._reader.stems(text)}

    def _not_weighed(self, seen: set[int], contents: set[int]) -> Iterator[Placed]:
        """What the full-text index proposed beyond what is looked into, in its order."""
        content_of = self._pairs(_CONTENT_OF, self._left)
        for chunk_id in self._left:
            if chunk_id not in seen:
                seen.add(chunk_id)
                content_id = content_of[chunk_id]
                if not (self._one_each and content_id in contents):
                    yield Placed(content_id, None, chunk_id, 0.0, ())
                contents.add(content_id)

    def _other_chunks(self, seen: set[int], contents: set[int]) -> Iterator[Placed]:
        """All further chunks that match, by their ids; with ``one_each`` one for each content not served yet."""
        units = [unit for unit in self._asked.any_of if unit.rows]
        last, match = 0, any_of(units)
        while units:
            found = postings.other_chunks(self._reader, match, last, self._admission, _BATCH)
            content_of = self._pairs(_CONTENT_OF, found)
            for chunk_id in found:
                content_id = content_of[chunk_id]
                if chunk_id not in seen and not (self._one_each and content_id in contents):
                    yield Placed(content_id, None, chunk_id, 0.0, ())
                contents.add(content_id)
            if len(found) < _BATCH:
                return
            last = found[-1]

    def _over_borders(self, contents: set[int]) -> Iterator[Placed]:
        """Where phrases alone are asked for: files that hold one over the border of two chunks, and nowhere else."""
        if self._asked.units:
            return
        found = {chunk_id for by_content in self._borders.values() for ids in by_content.values() for chunk_id in ids}
        admitted = postings.admitted_chunks(self._reader, found, self._admission) if found else []
        for chunk_id, content_id in sorted(self._pairs(_CONTENT_OF, admitted).items()):
            if content_id not in contents:
                contents.add(content_id)
                yield Placed(content_id, None, chunk_id, 0.0, ())

    def _other_files(self, contents: set[int]) -> Iterator[Placed]:
        """Files that match by their path alone, each content once."""
        units = [unit for unit in self._asked.units if unit.files]
        last, match = 0, any_path_of(units)
        while units:
            found = postings.other_files(self._reader, match, last, self._admission, _BATCH)
            content_of = self._pairs(_CONTENT_OF_FILE, found)
            for file_id in found:
                if content_of[file_id] not in contents:
                    contents.add(content_of[file_id])
                    yield Placed(content_of[file_id], file_id, None, 0.0, ())
            if len(found) < _BATCH:
                return
            last = found[-1]

    def _newest(self) -> Iterator[Placed]:
        sql, values = holding_admitted(self._admission)
        for content_id, file_id, _ in self._reader.rows(_NEWEST.format(sql), values):
            yield Placed(content_id, file_id, None, 0.0, ())

    def _pairs(self, sql: str, ids: Iterable[int]) -> dict[int, int]:
        return dict(self._reader.rows(sql, (id_list(ids),)))


def _stands_among(unit: Unit, stems: AbstractSet[str], own: AbstractSet[str]) -> bool:
    """``own``: those without the suffix, which a path may be typed without."""
    if unit.name:
        return own <= unit.name <= stems
    if unit.prefix:
        return any(stem.startswith(unit.stems[-1]) for stem in stems) and stems >= set(unit.stems[:-1])
    return stems >= set(unit.stems)


def _has_kin(unit: Unit) -> bool:
    """Whether a word is looked for in other forms, too: not stop words, nor what is asked for as it stands."""
    return len(unit.stems) == 1 and not (unit.prefix or unit.stop or unit.spaceless) and unit.tokens[0].isalpha()


def _short_for(unit: Unit) -> Iterator[str]:
    """The beginnings of a word that may stand for it."""
    asked, stem = unit.tokens[0], unit.stems[0]
    return (asked[:letters] for letters in range(_SHORTEST, len(asked) + 1) if 3 * letters >= len(stem))


def _long_enough(unit: Unit) -> Sequence[str]:
    """The forms of a word that count where they stand inside another."""
    return (unit.stems[0], unit.tokens[0]) if len(unit.stems[0]) >= _INSIDE else ()


def _is_inside(word: str, unit: Unit) -> bool:
    return any(text in word for text in _long_enough(unit))


def _beginnings(units: Iterable[Unit]) -> Collection[bytes]:
    """Tells the names that may hold a unit many times faster than the tokenizer tells which do: a stem keeps the
    beginning of its word, of a short one all but the last letter."""
    stems = {unit.stems[-1].encode() for unit in units}
    return {stem[: max(1, min(_SHORTEST, len(stem) - 1))] for stem in stems}


def _holds_one(text: AnyStr, pieces: Iterable[AnyStr]) -> bool:
    """A pattern is as fast to look for, but takes longer to compile than a hundred names to look at."""
    for piece in pieces:  # noqa: SIM110  (any() of a generator takes three times as long)
        if piece in text:
            return True
    return False
