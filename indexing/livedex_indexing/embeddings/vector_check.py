"""Refuses vectors that are none: of another size, not finite, or zero.

Invariant: what passes can be stored and compared; nothing else reaches SQLite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable

MOST_DIMENSIONS = 8_192  # more than any known model has; sqlite-vec's limit

_SHORTEST = 1e-150  # of a vector: what is shorter, or as long as its inverse, cannot be calculated with


def check_dimensions(dimensions: object) -> int:
    """Return the size of an embedder's vectors. Raises EmbedderUnavailable if it is no size."""
    if isinstance(dimensions, bool) or not isinstance(dimensions, int) or not 1 <= dimensions <= MOST_DIMENSIONS:
        raise EmbedderUnavailable(f"the embedder says that its vectors have {dimensions!r} dimensions")
    return dimensions


def checked(vectors: Sequence[Sequence[float]], count: int, dimensions: int) -> list[list[float]]:
    """Return ``count`` vectors of ``dimensions`` numbers. Raises EmbedderUnavailable if one is not."""
    if not isinstance(vectors, (list, tuple)) or len(vectors) != count:
        got = len(vectors) if isinstance(vectors, (list, tuple)) else type(vectors).__name__
        raise EmbedderUnavailable(f"the embedder answered {got} vectors for {count} texts")
    return [_checked(vector, dimensions) for vector in vectors]


def _checked(vector: Sequence[float], dimensions: int) -> list[float]:
    try:
        values = [float(value) for value in vector]
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbedderUnavailable("the embedder answered a vector that is not a list of numbers") from error
    if len(values) != dimensions:
        another = "if its model is another one now, restart the daemon: `livedex down`, then any command"
        raise EmbedderUnavailable(
            f"the embedder answered a vector of {len(values)} numbers instead of {dimensions} ({another})"
        )
    length = math.hypot(*values)
    if not length < 1 / _SHORTEST:  # neither is one with a NaN
        raise EmbedderUnavailable("the embedder answered a vector that is not finite")
    if length < _SHORTEST:
        raise EmbedderUnavailable("the embedder answered a vector of zeros")
    return values
