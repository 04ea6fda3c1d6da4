"""Ranks by a backend of a plugin: hands it the query, and turns its hits into places of the index.

Invariant: only what the index has, passes the filters and is served becomes a place: what a backend says of a file that
changed or left is dropped. Text never comes from the backend.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from livedex_indexing import relpath
from livedex_indexing.model import Query
from livedex_indexing.plugins import Hit, QueryTerm, VectorModel
from livedex_indexing.plugins import Query as PluginQuery
from livedex_indexing.query.filters import ResolvedFilters
from livedex_indexing.query.scope import relative
from livedex_indexing.rank.fusion import reciprocal
from livedex_indexing.rank.placed import Placed
from livedex_indexing.rank.postings import CONTENT_OF
from livedex_indexing.rank.score import SIMILAR
from livedex_indexing.rank.similarity import Similarity, nearest_chunks
from livedex_indexing.search.meaning import NEAREST, Meaning, Vectors
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.vectors.quantize import from_bytes, to_bytes

FUSED: Final = 200  # hits of a backend that are put together with what vectors found: the same number for each page
_MORE: Final = 20  # hits above what a page needs: some are copies, or of files that have changed
_FARTHEST: Final = 2**62  # a place: SQLite takes no larger number
_FILE: Final = """SELECT d.id, d.content_id, t.first_chunk, t.chunks FROM files d JOIN contents t ON t.id = d.content_id
                  WHERE d.root_id = ? AND d.folder = ? AND d.name = ? AND {}"""
_CHUNK: Final = "SELECT 1 FROM chunks c WHERE c.id = ? AND {}"
_AT_LINE: Final = """SELECT id FROM chunks WHERE id BETWEEN ? AND ? AND start_line <= ? AND end_line >= ?
                     ORDER BY id LIMIT 1"""


class RankingFailed(Exception):
    """The backend cannot rank now; the message says why. The index ranks instead."""


class Ranker(Protocol):
    """A backend that ranks instead of the index. Both calls raise RankingFailed."""

    def search(self, query: PluginQuery) -> list[Hit]: ...

    def nearest(self, query: PluginQuery, model: VectorModel, vector: Sequence[float]) -> list[Hit] | None:
        """Return the chunks nearest to a vector; None if it lacks vectors of this model."""


class BackendQuery(NamedTuple):
    """What is asked of a backend, and what its hits are held against."""

    query: Query
    request: SearchRequest
    roots: Mapping[int, bytes]
    reader: Reader
    resolved: ResolvedFilters
    has_phrases: Callable[[int], bool]  # of a content

    @property
    def by_file(self) -> bool:
        return self.request.group == "file"


def order(backend: Ranker, wanted: BackendQuery, meaning: Meaning) -> list[Placed] | None:
    """Return the places for the pages up to the request's and more, best first: as the backend ranks them, put together
    with what vectors found in mode ``hybrid``, by vectors alone in mode ``semantic``. None if only the vectors of the
    index can be used. Raises RankingFailed."""
    vectors, by_file = meaning.vectors, wanted.by_file
    if vectors is None:
        return _ranked(backend, wanted, 0)
    if meaning.mode == "semantic":
        alone = _nearest_of_backend(backend, wanted, vectors, wanted.request.offset + wanted.request.limit)
        return None if alone is None else [_alone(hit, place) for place, hit in enumerate(alone, 1)]
    ranked = _ranked(backend, wanted, FUSED)
    if ranked and ranked[0].chunk_id is not None:
        vectors = vectors.towards(ranked[0].chunk_id, 1.0)  # what resembles the backend's best is near, too
    near = _nearest_of_backend(backend, wanted, vectors, 0)
    if near is None:
        near = nearest(wanted.reader, vectors.similarity(), wanted.resolved, wanted.has_phrases, by_file=by_file)
    return fused(ranked, near[:NEAREST], by_file=by_file)


def _ranked(backend: Ranker, wanted: BackendQuery, least: int) -> list[Placed]:
    """Return the places of the backend's hits, ``least`` of them if there are as many."""
    request, roots = wanted.request, wanted.roots
    most = max(request.offset + request.limit, least) + _MORE
    hits = [hit for one in _queries(wanted.query, request, roots, most) for hit in backend.search(one)]
    return placed(wanted.reader, _best_first(hits), wanted.resolved, roots, by_file=wanted.by_file)


def _nearest_of_backend(backend: Ranker, wanted: BackendQuery, vectors: Vectors, least: int) -> list[Placed] | None:
    """Return the places nearest in meaning by the backend's vectors; None if it lacks some."""
    if vectors.model is None:
        return None
    hits: list[Hit] = []
    vector = from_bytes(to_bytes(vectors.vector))  # as the stored ones: the cosines are those of the index
    for one in _queries(wanted.query, wanted.request, wanted.roots, max(least, NEAREST) + _MORE):
        found = backend.nearest(one, vectors.model, vector)
        if found is None:
            return None
        hits += found
    near = placed(wanted.reader, _best_first(hits), wanted.resolved, wanted.roots, by_file=wanted.by_file)
    return [hit for hit in near if wanted.has_phrases(hit.content_id)]


def _alone(hit: Placed, place: int) -> Placed:
    return hit._replace(parts=(*(0.0,) * SIMILAR, hit.score), ranks=(None, place))


def _best_first(hits: list[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: -hit.score)


def placed(
    reader: Reader, hits: list[Hit], resolved: ResolvedFilters, roots: Mapping[int, bytes], *, by_file: bool
) -> list[Placed]:
    """Return the hits that are in the index and pass the filters, each content's chunk (or, ``by_file``, each content)
    once."""
    found: dict[tuple[int, int | None], Placed] = {}
    sql, wanted = _FILE.format(resolved.files.sql), _CHUNK.format(resolved.chunks.sql)
    for hit in hits:
        place = relative(hit.path.encode("utf-8", "replace"), roots)
        rows = reader.rows(sql, (*_key(place), *resolved.files.values)) if place is not None else ()
        for file_id, content_id, first, chunks in rows:
            chunk_id = _chunk(reader, hit, first, chunks)
            if chunk_id is not None and reader.rows(wanted, (chunk_id, *resolved.chunks.values)):
                key = content_id, None if by_file else chunk_id
                former = found.setdefault(key, Placed(content_id, file_id, chunk_id, hit.score, ()))
                if former.score == hit.score and former.file_id != file_id:  # copies
                    found[key] = former._replace(file_id=None)
    return list(found.values())


def nearest(
    reader: Reader, similarity: Similarity, resolved: ResolvedFilters, has_phrases: Callable[[int], bool],
    *, by_file: bool,
) -> list[Placed]:  # fmt: skip
    """Return the chunks nearest to the query in meaning, of each content the nearest if ``by_file``."""
    cosines = nearest_chunks(reader, similarity, resolved)
    content_of = dict(reader.rows_of(CONTENT_OF, cosines))
    found: dict[tuple[int, int | None], Placed] = {}
    for chunk_id in sorted(content_of, key=lambda chunk_id: (-cosines[chunk_id], chunk_id)):
        content_id = content_of[chunk_id]
        if has_phrases(content_id):
            key = content_id, None if by_file else chunk_id
            found.setdefault(key, Placed(content_id, None, chunk_id, cosines[chunk_id], ()))
    return list(found.values())


def fused(ranked: list[Placed], near: list[Placed], *, by_file: bool) -> list[Placed]:
    """Put the orders of a backend and of the vectors together by their places alone: their scores cannot be compared.
    Hits of the backend beyond `FUSED` follow."""

    def key(hit: Placed) -> tuple[int, int | None]:
        return hit.content_id, None if by_file else hit.chunk_id

    by_words = {key(hit): place for place, hit in enumerate(ranked[:FUSED], 1)}
    by_meaning = {key(hit): place for place, hit in enumerate(near, 1)}
    hits = {key(hit): hit for hit in (*near, *ranked[:FUSED])}
    together = []
    for one, hit in hits.items():
        places = by_words.get(one), by_meaning.get(one)
        together.append(hit._replace(score=sum(map(reciprocal, places)), ranks=places))
    together.sort(key=lambda hit: (-hit.score, hit.content_id, hit.chunk_id or 0))
    rest = [hit for hit in ranked[FUSED:] if key(hit) not in hits]
    return together + [hit._replace(score=0.0, ranks=(FUSED + n, None)) for n, hit in enumerate(rest, 1)]


def _key(place: tuple[int, bytes]) -> tuple[int, bytes, bytes]:
    root_id, path = place
    return (root_id, *relpath.split(path))


def _chunk(reader: Reader, hit: Hit, first: int, chunks: int) -> int | None:
    """Return the chunk that a hit means, by its ordinal or its first line; None if there is none."""
    if hit.ordinal is not None:
        return first + hit.ordinal if 0 <= hit.ordinal < chunks else None
    rows = reader.rows(_AT_LINE, (first, first + chunks - 1, hit.start_line, hit.start_line))
    return next((row[0] for row in rows), None)


def _queries(query: Query, request: SearchRequest, roots: Mapping[int, bytes], limit: int) -> list[PluginQuery]:
    """Return the query, once for each place that limits it."""
    places = query.places if query.places is not None else (None,)
    served = [root for root_id, root in roots.items() if not query.root_ids or root_id in query.root_ids]
    return [
        PluginQuery(
            text=query.text,
            excluded=query.excluded,
            phrases=query.phrases,
            terms=tuple(QueryTerm(term.name, term.value, term.excluded) for term in query.terms),
            limit=limit,
            path=None if place is None else _text(relpath.absolute(roots[place.root_id], place.path)),
            globs=query.globs,
            languages=query.languages,
            kinds=query.kinds,
            roots=tuple(_text(root) for root in served) if query.root_ids else (),
            modified_after=None if query.modified_after is None else query.modified_after / 1e9,
            modified_before=None if query.modified_before is None else query.modified_before / 1e9,
            group=request.group,
        )
        for place in places
        if place is None or place.root_id in roots
    ]


def _text(path: bytes) -> str:
    return path.decode("utf-8", "replace")


def checked(hits: object, most: int) -> list[Hit]:
    """Return the hits if they are what the Protocol says, at most ``most``. Raises RankingFailed."""
    if not isinstance(hits, list):
        raise RankingFailed(f"it returns {type(hits).__name__}, not a list of hits")
    if len(hits) > most:  # to look at each may take all the time of a search
        raise RankingFailed(f"it returns {len(hits):,} hits, though at most {most} were wanted")
    for hit in hits:
        if not isinstance(hit, Hit) or not isinstance(hit.path, str):
            raise RankingFailed(f"it returns a list of {type(hit).__name__}, not of Hit")
        if not isinstance(hit.score, int | float) or not math.isfinite(hit.score):
            raise RankingFailed(f"it returns the score {hit.score!r}")
        place = hit.start_line if hit.ordinal is None else hit.ordinal
        if type(place) is not int or abs(place) > _FARTHEST or "\0" in hit.path:
            raise RankingFailed("it returns a hit without a place")
    return hits
