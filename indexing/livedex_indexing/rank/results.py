"""Lists everything that matches a query, in the order served: first the ranked matches, then all others.

Invariant: the order depends only on the index's generation and the query, not on the requested page. So the pages of
one generation neither overlap nor skip a match, and every match can be paged to.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from livedex_indexing.query.filters import OF_CONTENT, files_with_chunks
from livedex_indexing.query.query_parser import with_words
from livedex_indexing.query.query_terms import CompiledQuery, match_any, match_any_path
from livedex_indexing.rank import postings
from livedex_indexing.rank.auxiliary import auxiliary_degree, is_news, wants_auxiliary, wants_news
from livedex_indexing.rank.called_files import CalledFiles
from livedex_indexing.rank.defined_names import DEFINED
from livedex_indexing.rank.document_sections import all_sections_count
from livedex_indexing.rank.features import FeatureTable, MatchFeatures, extract, scored_terms, written
from livedex_indexing.rank.fusion import by_reciprocal_rank, by_similarity, towards_best, with_ranks
from livedex_indexing.rank.name_match import NameMatch, NameMatcher
from livedex_indexing.rank.name_places import AT_LINE, VERBATIM, NamePlaces
from livedex_indexing.rank.passages import chunks_with_all, passages_first
from livedex_indexing.rank.phrase_filter import FileFilter
from livedex_indexing.rank.placed import Placed, arrange, diversify, lowered
from livedex_indexing.rank.postings import first_chunks
from livedex_indexing.rank.ranking_request import Arrangement, TypedText
from livedex_indexing.rank.score import Copy, Ranked, code_answers, prose_later, rank_files
from livedex_indexing.rank.similarity import NO_COSINES, Cosines, Similarity, cosines_of, nearest_chunks
from livedex_indexing.rank.whole_query import of_matches
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import IN_CONTENT

_BATCH: Final = 500
EXAMINED: Final = 150  # chunks whose features are extracted, at most, and for a few words …
EXAMINED_PER_WORD: Final = 50  # … this many for each: there BM25 alone puts the best near the top
_SMALL_INDEX: Final = 5_000  # chunks: below, few words get as many rows (topics of `help()`: .787, not .727)
BY_PATH: Final = 15  # path-only matches whose chunks are examined …
FIRST_CHUNKS: Final = 4  # … at least this many of each, besides those with a rare word
ALL_CHUNKS: Final = 1_000  # chunks of such files: up to here all are examined if the query has a prefix
_COPIES: Final = 64  # copies of one content whose names are examined
_USUAL_NAME: Final = 12  # characters in the name of a file of code

_CHUNKS = "SELECT id, content_id, language FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
_TO_LINE = f"""SELECT c.id, c.content_id, c.language, c.end_line FROM contents t JOIN chunks c ON {IN_CONTENT}
               WHERE t.id IN (SELECT value FROM json_each(?)) AND c.start_line <= ? AND {{}} ORDER BY c.id"""
_CONTENT_OF_FILE = "SELECT id, content_id FROM files WHERE id IN (SELECT value FROM json_each(?))"
_COPIES_OF = f"""SELECT d.content_id, d.id, d.root_id, d.folder, d.name, t.chunks, t.pipeline = 'code'
                FROM json_each(?) i CROSS JOIN contents t ON t.id = i.value
                CROSS JOIN {OF_CONTENT} ON d.content_id = t.id WHERE {{}}"""
_ROOTS = "SELECT id, path FROM roots"
_CHUNKS_OF = f"""SELECT c.id, c.content_id, c.language FROM contents t JOIN chunks c ON {IN_CONTENT}
                WHERE t.id IN (SELECT value FROM json_each(?)) AND {{}}"""
_NEWEST = """SELECT d.content_id, d.id, max(d.mtime_ns) FROM files d WHERE {}
             GROUP BY d.content_id ORDER BY 3 DESC, d.folder, d.name, d.root_id, d.content_id"""


class _Batch(NamedTuple):
    """Contents to rank: by the ids of chunks, and by the ids of files that match by their path alone."""

    chunks: Mapping[int, int]
    files: Mapping[int, int]


class RankedResults:
    """The matches of one query in one snapshot of the index. ``late`` is set when the deadline cut the ranking.

    ``typed``: what was typed; None where its words alone count.
    """

    def __init__(
        self,
        reader: Reader,
        compiled: CompiledQuery,
        file_filter: FileFilter,
        arrangement: Arrangement,
        typed: TypedText | None = None,
    ) -> None:
        self._typed = typed
        text, place = ("", None) if typed is None else (typed.text, typed.place)
        self._called = CalledFiles(text, place, is_sentence=arrangement.is_sentence)
        self._places: NamePlaces | None = None
        if typed is not None and not typed.is_place:
            self._places = NamePlaces(typed.names, typed.files)
        self._similarity, self._fusion = arrangement.similarity, arrangement.fusion
        self._reader, self._compiled, self._resolved = reader, compiled, file_filter.resolved
        self._borders = file_filter.borders
        self._group_by_file, self._no_file_limit = arrangement.group_by_file, arrangement.no_file_limit
        self._is_sentence = arrangement.is_sentence
        self._scored = scored_terms(compiled)
        self._names = NameMatcher(reader, compiled, self._scored, is_sentence=arrangement.is_sentence)
        self._languages: dict[int, int | None] = {}  # of chunks
        self._pasted: list[int] = []  # chunks that may have the text as it was typed
        self._line: dict[int, float] = {}  # those with the typed line
        self._has_text = False  # some chunk has the text as it was typed
        self._is_defined = False  # … or surely defines it as a name
        self.not_as_typed: set[int] = set()  # chunks that were rated for a text like it
        self._left: list[int] = []  # candidate chunks that are not examined, best first
        words = [token for term in compiled.any_of for token in term.tokens]
        self._demote_auxiliary = arrangement.demote and not wants_auxiliary(words)
        self._demote_news = arrangement.demote and not wants_news(words)
        self._demote_prose = arrangement.demote and not arrangement.is_sentence
        self._prose_later = False  # once it is known that code answers
        self.added: set[int] = set()  # ranked chunks that no word of the query proposed
        self.named: set[int] = set()  # contents that only their path brought: each shows its first chunk
        self.late = False

    def placed(self, has_phrases: Callable[[int], bool]) -> Iterator[Placed]:
        """Yield the hits in order. ``has_phrases``: whether a content has the phrases. Raises DeadlinePassed."""
        if not self._compiled.textual:
            return (hit for hit in self._newest() if has_phrases(hit.content_id))
        hits = (hit for hit in self._all() if has_phrases(hit.content_id))
        return hits if self._group_by_file or self._no_file_limit else diversify(hits)

    def _all(self) -> Iterator[Placed]:
        if self._similarity is not None and self._fusion == "none":
            yield from self._arranged(self._nearest(self._similarity))
            return
        ranked = self._ranked()
        self.named = {file.content_id for file in ranked if not file.chunks}
        self.added &= (seen := {chunk_id for file in ranked for _, chunk_id in file.chunks})
        floor = math.inf
        for hit in self._arranged(ranked):
            floor = hit.score
            yield hit
        if self.late:
            return
        seen.update(first_chunks(self._reader, self.named, self._resolved))
        yield from self._below(floor, self._batches(seen, {file.content_id for file in ranked}))

    def _arranged(self, ranked: Sequence[Ranked]) -> Iterator[Placed]:
        return arrange(ranked, group_by_file=self._group_by_file, no_file_limit=self._no_file_limit)

    def _below(self, floor: float, batches: Iterable[_Batch]) -> Iterator[Placed]:
        """Yield the hits of batches, one after the other, each ranked as the first hits are. The scores of a batch are
        scaled down so that none is above the ``floor`` that the hits before it reached."""
        for chunks, files in batches:
            if not (copies := self._copies({*chunks.values(), *files.values()}, dict.fromkeys(files, 0.0))):
                continue
            features = self._features(chunks, None)  # a chunk may have no scored word: it is a hit all the same
            features = features._replace(typed=dict.fromkeys(chunks, 0.0))
            ranked = rank_files(features, chunks, copies, self._compiled.total)
            ranked = prose_later(ranked) if self._prose_later else ranked
            scale = min(1.0, floor / ranked[0].score) if ranked and ranked[0].score else 1.0
            for hit in self._arranged(ranked):
                floor = min(floor, hit.score * scale)
                yield lowered(hit, floor)

    def _batches(self, seen: set[int], contents: set[int]) -> Iterator[_Batch]:
        """Yield what matches besides the ranked chunks in ``seen``: the candidates that were not examined, all other
        chunks, files that have a phrase across a border of chunks, files that match by their path alone. With
        ``group_by_file``, contents that were yielded before are left out."""
        for chunks in chain(self._not_examined(), self._other_chunks()):
            new = {
                chunk_id: content_id
                for chunk_id, content_id in chunks.items()
                if chunk_id not in seen and not (self._group_by_file and content_id in contents)
            }
            seen |= new.keys()
            contents.update(chunks.values())
            if new:
                yield _Batch(new, {})
        over = {chunk: content_id for content_id, chunk in self._over_borders().items() if content_id not in contents}
        contents.update(over.values())
        yield _Batch(over, {})
        for files in self._other_files():
            alone = {file_id: content_id for file_id, content_id in files.items() if content_id not in contents}
            contents.update(alone.values())
            yield _Batch({}, alone)

    def _ranked(self) -> list[Ranked]:
        compiled, resolved = self._compiled, self._resolved
        if self._similarity is None and not any(term.rows or term.files for term in compiled.any_of):
            return []  # a dozen statements would find that out
        found = postings.collect(self._reader, compiled, resolved)
        self.late = found.late
        with self._reader.without_deadline():
            proposed = sorted(found.chunks, key=lambda chunk_id: (-found.chunks[chunk_id], chunk_id))
            most = EXAMINED if compiled.chunks < _SMALL_INDEX else min(EXAMINED, EXAMINED_PER_WORD * len(self._scored))
            named = {} if found.late else self._with_name(proposed)
            self._is_defined = DEFINED in named.values()
            self._pasted, headed = ([], []) if found.late else self._with_text(proposed)
            together = [] if found.late else chunks_with_all(self._reader, self._scored, self._resolved, self._typed)
            ids = dict.fromkeys((*proposed[:most], *named, *self._pasted, *headed, *together))
            self._left = [chunk_id for chunk_id in proposed[most:] if chunk_id not in ids]
            content_of = self._contents(self._reader.rows_of(_CHUNKS, ids))
            of_files = dict(self._reader.rows_of(_CONTENT_OF_FILE, found.paths))
            if not found.late:
                content_of |= self._chunks_found_by_path(found.paths, of_files, set(content_of.values()))
                at_line = self._at_line()
                content_of |= at_line
                self._line = dict.fromkeys(at_line, AT_LINE)
            features = self._features(content_of, None if found.late else named)
            self.added = {*features.rows, *features.typed}.difference(found.chunks)
            matching = {content_of[chunk_id] for chunk_id in (*features.rows, *features.typed)}
            copies = self._copies(matching.union(of_files.values()), found.paths)
        ranked = rank_files(features, content_of, copies, compiled.total)
        cosines = NO_COSINES
        if self._similarity is not None:
            similarity = towards_best(self._similarity, ranked)
            with self._reader.without_deadline():
                cosines = self._add_nearest(similarity, content_of, copies)
            ranked = rank_files(features, content_of, copies, compiled.total, cosines)
        ranked = ranked if found.late else passages_first(self._reader, ranked, features.rows, self._typed)
        ranked = all_sections_count(ranked) if self._is_sentence else ranked
        self._prose_later = self._demote_prose and code_answers(ranked)
        ranked = prose_later(ranked) if self._prose_later else ranked
        if self._similarity is None:
            return ranked
        ranked = with_ranks(ranked, content_of, cosines)
        return by_reciprocal_rank(ranked) if self._fusion == "rrf" else ranked

    def _nearest(self, similarity: Similarity) -> list[Ranked]:
        with self._reader.without_deadline():
            nearest = nearest_chunks(self._reader, similarity, self._resolved)
            content_of = self._contents(self._reader.rows_of(_CHUNKS, nearest))
            return by_similarity(content_of, self._copies({*content_of.values()}, {}), nearest)

    def _add_nearest(self, near: Similarity, content_of: dict[int, int], copies: dict[int, list[Copy]]) -> Cosines:
        """Add the nearest chunks and the copies of their files; return the cosines of all. What is added has no words
        here: what words found keeps its scores."""
        found = [*content_of]
        nearest = nearest_chunks(self._reader, near, self._resolved)
        content_of |= self._contents(self._reader.rows_of(_CHUNKS, nearest))
        copies |= self._copies({*content_of.values()} - copies.keys(), {})
        return cosines_of(near, nearest, found)

    def _chunks_found_by_path(
        self, paths: Mapping[int, float], of_files: Mapping[int, int], known: set[int]
    ) -> dict[int, int]:
        """Load chunks of path-only matches, to rank them and to pick the best chunk as the hit: of the best `BY_PATH`
        such files, and of each the chunks with a rare word, or else the first ones."""
        best = sorted(paths, key=lambda file_id: (-paths[file_id], file_id))
        contents = list(dict.fromkeys(of_files[i] for i in best if i in of_files and of_files[i] not in known))
        sql, values = self._resolved.chunks
        chunks = self._contents(self._reader.rows_of(_CHUNKS_OF.format(sql), contents[:BY_PATH], values))
        if len(chunks) <= ALL_CHUNKS and any(term.prefix for term in self._scored):
            return chunks  # each query for a prefix reads all words with it: `extract` does that once for all chunks
        matching = postings.matching_chunks(
            self._reader, self._scored, chunks, self._compiled.chunks, small=self._resolved.small
        )
        found = {chunk_id: chunks[chunk_id] for chunk_id in matching}
        taken = Counter(found.values())
        for chunk_id, content_id in chunks.items():
            if taken[content_id] < FIRST_CHUNKS:
                taken[content_id] += 1
                found[chunk_id] = content_id
        return found

    def _copies(self, contents: Collection[int], paths: Mapping[int, float]) -> dict[int, list[Copy]]:
        sql, values = self._resolved.files
        rows = self._reader.rows_of(_COPIES_OF.format(sql), contents, values)
        if not rows:
            return {}
        if len(rows) > _COPIES:
            rows.sort(key=lambda row: len(row[3]) + len(row[4]))
        roots = dict(self._reader.rows(_ROOTS))
        copies: dict[int, list[Copy]] = {}
        names: dict[bytes, tuple[NameMatch, bool]] = {}
        for content_id, file_id, root, folder, name, chunks, is_code in rows:
            those = copies.setdefault(content_id, [])
            if len(those) < _COPIES or file_id in paths:
                if name not in names:
                    names[name] = self._names.match(name), self._demote_news and is_news(name)
                (score, title, counts), news = names[name]
                path = b"/".join((roots[root], folder, name) if folder else (roots[root], name))
                auxiliary = auxiliary_degree(folder, name, is_code=is_code) if self._demote_auxiliary else 0
                brevity = math.log((1 + _USUAL_NAME) / (1 + len(name))) if is_code else 0.0
                called = self._called.rate(
                    folder, name, has_words=score > 0, has_text=self._has_text, is_defined=self._is_defined
                )
                those.append(
                    Copy(
                        file_id,
                        path,
                        score,
                        title,
                        paths.get(file_id, 0.0),
                        counts,
                        chunks,
                        auxiliary,
                        brevity,
                        self._compiled.total * called,
                        news,
                        not is_code,
                        self._names.above(folder),
                    )
                )
        return copies

    def _with_name(self, proposed: Sequence[int]) -> dict[int, float]:
        """Rate the chunks that have the name which the query may be."""
        typed, respelt = self._typed, dict(self._compiled.respelt)
        if typed is None or self._places is None:
            return {}
        text = typed.without_path
        return self._places.of_name(text, with_words(text, respelt) if respelt else text, proposed)

    def _with_text(self, proposed: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the chunks that may have the text as it was typed, and those with such headings."""
        if self._typed is None or self._places is None:
            return [], []
        return self._places.with_text(self._typed.text, proposed), self._places.with_heading(self._typed.text)

    def _features(self, content_of: Mapping[int, int], named: dict[int, float] | None) -> FeatureTable:
        """Return the features of chunks; None: without what is known of the text as it was typed."""
        features = extract(self._reader, self._compiled, content_of)
        files = () if self._typed is None else self._typed.files
        known = content_of if self._compiled.phrases or files else {}
        matching = of_matches(named or {}, features.rows, known, files)
        return features._replace(
            written=written(self._reader, self._scored, {*content_of.values()}),
            lengths={chunk_id: self._compiled.lengths.get(self._languages[chunk_id], 1.0) for chunk_id in content_of},
            typed={} if named is None else self._as_typed(matching, features.rows),
        )

    def _as_typed(self, matching: Mapping[int, float], rows: Mapping[int, MatchFeatures]) -> Mapping[int, float]:
        """Add to the ``matching`` chunks with the typed name those with the typed text or line."""
        typed, spoken = self._typed, self._compiled.spoken
        if typed is None or self._places is None:
            return {**matching, **self._line}
        found = self._places.with_those_of_text(matching, typed.text, rows, (spoken, self._scored), self._pasted)
        of_text = {chunk_id: value for chunk_id, value in found.items() if chunk_id not in matching}
        self.not_as_typed = {chunk_id for chunk_id, value in of_text.items() if value < VERBATIM}
        self._has_text = len(self.not_as_typed) < len(of_text)
        return {**found, **self._line}

    def _contents(self, rows: Iterable[tuple[int, int, int | None]]) -> dict[int, int]:
        """Note the languages of chunks; return their contents. Each row: chunk, content, language."""
        content_of = {}
        for chunk_id, content_id, language in rows:
            content_of[chunk_id] = content_id
            self._languages[chunk_id] = language
        return content_of

    def _at_line(self) -> dict[int, int]:
        """Return the contents of the chunks with the typed line; of the last chunks where no file meant is so long."""
        typed = self._typed
        if typed is None or typed.place is None or not typed.at_line:
            return {}
        passing, of_chunks = self._resolved.chunks
        rows = self._reader.rows_of(_TO_LINE.format(passing), typed.place.contents, (typed.place.line, *of_chunks))
        last = {row[1]: row for row in rows}.values()
        return self._contents(row[:3] for row in [row for row in last if row[3] >= typed.place.line] or last)

    def _not_examined(self) -> Iterator[dict[int, int]]:
        """Yield the candidates of the full-text index beyond those examined, with their contents."""
        for start in range(0, len(self._left), EXAMINED):
            yield self._contents(self._reader.rows_of(_CHUNKS, self._left[start : start + EXAMINED]))

    def _other_chunks(self) -> Iterator[dict[int, int]]:
        """Yield all chunks that match, by their ids, with their contents."""
        terms = [term for term in self._compiled.any_of if term.rows]
        last, match = 0, match_any(terms)
        while terms:
            found = postings.other_chunks(self._reader, match, last, self._resolved, _BATCH)
            yield self._contents(self._reader.rows_of(_CHUNKS, found))
            if len(found) < _BATCH:
                return
            last = found[-1]

    def _over_borders(self) -> dict[int, int]:
        """Return the contents that contain a phrase across the border of two chunks, each with the first such chunk, if
        the query has nothing but phrases."""
        if self._compiled.terms:
            return {}
        found = {chunk_id for by_content in self._borders.values() for ids in by_content.values() for chunk_id in ids}
        passing = postings.filter_chunks(self._reader, found, self._resolved) if found else []
        content_of = self._contents(self._reader.rows_of(_CHUNKS, passing))
        return {content_of[chunk_id]: chunk_id for chunk_id in sorted(passing, reverse=True)}

    def _other_files(self) -> Iterator[dict[int, int]]:
        """Yield all files that match by their path, with their contents."""
        terms = [term for term in self._compiled.terms if term.files]
        last, match = 0, match_any_path(terms)
        while terms:
            found = postings.other_files(self._reader, match, last, self._resolved, _BATCH)
            yield dict(self._reader.rows_of(_CONTENT_OF_FILE, found))
            if len(found) < _BATCH:
                return
            last = found[-1]

    def _newest(self) -> Iterator[Placed]:
        sql, values = files_with_chunks(self._resolved)
        for content_id, file_id, _ in self._reader.rows(_NEWEST.format(sql), values):
            yield Placed(content_id, file_id, None, 0.0, ())
