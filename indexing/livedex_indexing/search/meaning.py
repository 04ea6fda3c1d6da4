"""Decides whether a search asks for its meaning too, and gets the vector of its text.

Invariant: a search without an embedder, or whose embedder does not answer, is the keyword search that it would have
been, with a warning.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final, Literal, NamedTuple, Protocol

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.hits.answer_json import warning
from livedex_indexing.plugins import VectorModel
from livedex_indexing.query.query_parser import parse
from livedex_indexing.query.typed_name import may_be_pasted
from livedex_indexing.rank.similarity import Similarity
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.vectors.nearest import VectorIndex
from livedex_ipc.wire_results import AnswerWarning

Fusion = Literal["score", "rrf"]

EMBED_S: Final = 1.0  # for the vector of a query, at most; never more than half of what the search has
NEAREST: Final = 150  # chunks found by their vectors
_NONE: Final = warning(
    "embedder_unavailable",
    "there are no vectors: no embedder is configured, or its first vectors are still being made",
    "set `embedding.embedder`, as in docs/semantic.md",
)
_REMEDY: Final = "see `livedex status`; searches compare words alone until it answers"


class Vectors(NamedTuple):
    """What a search gets of vectors: those of the chunks, the vector of the query, how to weigh them, and what made
    them; ``model`` is None where no backend can have them, too."""

    of_chunks: VectorIndex
    vector: list[float]
    weight: float
    fusion: Fusion
    model: VectorModel | None = None

    def towards(self, chunk_id: int, share: float) -> Vectors:
        """Return the same with the vector of a chunk added to the query's, where it counts ``share`` as much."""
        other = self.of_chunks.vector_of(chunk_id)
        return self if other is None else self._replace(vector=_moved(self.vector, other, share))

    def similarity(self) -> Similarity:
        return _Similarity(self)


class Semantics(Protocol):
    """The vectors of an index that a searcher uses. Called from any thread."""

    @property
    def pending(self) -> int | None:
        """How many chunks have no vector yet; None without an embedder."""

    def vectors(self, text: str, seconds: float) -> Vectors | None:
        """Return the vectors to compare with, within ``seconds``; None without an embedder. Raises
        EmbedderUnavailable."""


class WithoutVectors(NamedTuple):
    """Vectors that cannot be read, for the search that found out."""

    pending: int | None
    reason: str

    def vectors(self, text: str, seconds: float) -> Vectors | None:
        raise EmbedderUnavailable(self.reason)


class Meaning(NamedTuple):
    """How a search uses vectors. ``mode`` is the one that is used; ``vectors`` is None in mode ``keyword``."""

    mode: Literal["keyword", "hybrid", "semantic"] = "keyword"
    vectors: Vectors | None = None
    warnings: tuple[AnswerWarning, ...] = ()
    pending: int | None = None

    @property
    def is_outdated(self) -> bool:
        """Whether other vectors took the place of these meanwhile: a search may have missed some."""
        return self.vectors is not None and self.vectors.of_chunks.closed

    def similarity(self) -> Similarity | None:
        return None if self.vectors is None else self.vectors.similarity()

    @property
    def fusion(self) -> Literal["score", "rrf", "none"]:
        """How both orders are put together; ``none``: the vectors alone count."""
        if self.mode == "semantic":
            return "none"
        return "score" if self.vectors is None else self.vectors.fusion


KEYWORD: Final = Meaning()


def is_prose(query: str) -> bool:
    """Whether a query is words for a meaning: two and more, and no name, path, phrase or line of code."""
    parsed = parse(query)
    return len(parsed.words) > 1 and not parsed.phrases and not may_be_pasted(" ".join(parsed.words))


def meaning_of(request: SearchRequest, semantics: Semantics | None, seconds: float) -> Meaning:
    """Return how to search. The vector of the query comes within ``seconds``, or a warning does."""
    mode = "keyword" if request.typing and request.mode == "auto" else request.mode
    return meaning_in_mode(request.query, mode, semantics, seconds)


def meaning_in_mode(query: str, mode: str, semantics: Semantics | None, seconds: float) -> Meaning:
    """Return how to search for a query in a mode: ``auto``, ``keyword``, ``semantic`` or ``hybrid``."""
    is_explicit = mode in ("hybrid", "semantic")
    pending = None if semantics is None else semantics.pending
    parsed = parse(query)
    text = " ".join((*parsed.words, *parsed.phrases))
    if not text or not (is_explicit or (mode == "auto" and is_prose(query))):
        return Meaning(pending=pending)
    try:
        vectors = None if semantics is None else semantics.vectors(text, seconds)
    except EmbedderUnavailable as fault:
        return Meaning(warnings=(warning("embedder_unavailable", f"{fault}", _REMEDY),), pending=pending)
    if vectors is None:
        return Meaning(warnings=(_NONE,) if is_explicit else (), pending=pending)
    return Meaning("semantic" if mode == "semantic" else "hybrid", vectors, (), pending)


class _Similarity:
    """The vectors of an index, compared with one query's."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self.weight = vectors.weight

    def nearest(self, among: Collection[int] | None) -> dict[int, float]:
        vectors = self._vectors
        return vectors.of_chunks.nearest(vectors.vector, NEAREST, None if among is None else list(among))

    def cosines(self, ids: Collection[int]) -> dict[int, float]:
        return self._vectors.of_chunks.cosines(self._vectors.vector, ids)

    def towards(self, chunk_id: int, share: float) -> Similarity:
        return self._vectors.towards(chunk_id, share).similarity()


def _moved(vector: Sequence[float], other: Sequence[float], share: float) -> list[float]:
    """Return the sum of both directions, of which the other counts ``share`` as much."""
    factor = share * math.hypot(*vector) / math.hypot(*other)
    return [own + factor * theirs for own, theirs in zip(vector, other, strict=True)]
