"""Puts the order by words and the order by meaning together where scores are not added, and tells the place in each.

Invariant: pure; the parts of a score still sum up to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from livedex_indexing.rank.score import SIMILAR, Copy, Ranked, covered
from livedex_indexing.rank.similarity import Cosines, Similarity

_RANK: Final = 60.0  # of reciprocal rank fusion: 1 / (60 + place)


def towards_best(similarity: Similarity, ranked: Sequence[Ranked]) -> Similarity:
    """Return the similarity to the query and to the best chunk that its words found, which counts by how many of them
    its file has: pseudo-relevance feedback (Rocchio, 1971)."""
    if not ranked or not ranked[0].chunks:
        return similarity
    return similarity.towards(ranked[0].chunks[0][1], covered(ranked[0]))


def with_ranks(files: Sequence[Ranked], content_of: Mapping[int, int], cosines: Cosines) -> list[Ranked]:
    """Note the place of each file by its words alone and by its nearest chunk, from 1 on; None: not found so."""
    best: dict[int, float] = {}
    for chunk_id in cosines.nearest:
        content_id = content_of.get(chunk_id)
        if content_id is not None:
            best[content_id] = max(best.get(content_id, -1.0), cosines.by_chunk[chunk_id])
    by_words = sorted([file for file in files if has_words(file)], key=lambda file: (-_words(file), file.copy.path))
    word_place = {file.content_id: place for place, file in enumerate(by_words, 1)}
    ordered = sorted(best, key=lambda content_id: (-best[content_id], content_id))
    near_place = {content_id: place for place, content_id in enumerate(ordered, 1)}
    return [file._replace(ranks=(word_place.get(file.content_id), near_place.get(file.content_id))) for file in files]


def by_reciprocal_rank(files: Sequence[Ranked]) -> list[Ranked]:
    """Order files by the sum of 1 / (60 + place) of both orders. Their ``ranks`` must be set."""
    fused = [_fused(file) for file in files]
    return sorted(fused, key=lambda file: (-file.score, file.copy.path, file.content_id))


def reciprocal(place: int | None) -> float:
    """Return what a place in one order adds to the score of both; None: not found so."""
    return 0.0 if place is None else 1.0 / (_RANK + place)


def by_similarity(
    content_of: Mapping[int, int], copies: Mapping[int, Sequence[Copy]], cosines: Mapping[int, float]
) -> list[Ranked]:
    """Order files by the cosine of their nearest chunk alone."""
    chunks: dict[int, list[tuple[float, int]]] = {}
    for chunk_id, content_id in content_of.items():
        chunks.setdefault(content_id, []).append((cosines[chunk_id], chunk_id))
    files = []
    for content_id, those in copies.items():
        found = sorted(chunks.get(content_id, ()), key=lambda pair: (-pair[0], pair[1]))
        if not found or not those:
            continue
        top = found[0][0]
        copy = min(those, key=lambda one: (one.auxiliary, len(one.path), one.path))
        shares = [(cosine / top if top > 0 else 1.0, chunk_id) for cosine, chunk_id in found]
        files.append(Ranked(content_id, copy, top, (*(0.0,) * SIMILAR, top), 1.0, shares))
    files.sort(key=lambda file: (-file.score, file.copy.path, file.content_id))
    return [file._replace(ranks=(None, place)) for place, file in enumerate(files, 1)]


def has_words(file: Ranked) -> bool:
    """Whether a file was found by words, of its text or of its path."""
    return any(file.sums[:SIMILAR]) or bool(file.copy.path_score or file.copy.name or file.copy.called)


def _words(file: Ranked) -> float:
    return file.score - file.sums[SIMILAR] / file.total


def _fused(file: Ranked) -> Ranked:
    """Return the file with its new score; the parts of its words are those of the sum, in proportion."""
    of_words, of_meaning = map(reciprocal, file.ranks or (None, None))
    words = _words(file)
    factor = of_words / words if words else 0.0
    sums = [value / file.total * factor for value in file.sums]
    sums[SIMILAR] = of_meaning
    return file._replace(score=sum(sums), sums=sums, total=1.0)
