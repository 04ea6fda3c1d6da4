"""The two sieves of packed bits: what is near by its cosine passes both, whatever was removed and what is admitted."""

from __future__ import annotations

from typing import Any

import pytest

from livedex_indexing.vectors.packed_bits import RESCORED, PackedBits

np = pytest.importorskip("numpy", reason="numpy is not installed")

COUNT, DIMENSIONS, CLUSTERS = 12_000, 100, 3_000  # dimensions that fill no whole word


def made() -> tuple[Any, Any]:
    """Vectors in weak clusters: each has few near ones, and all others are alike. And queries near some of them."""
    draw = np.random.default_rng(1)
    centres = draw.standard_normal((CLUSTERS, DIMENSIONS))
    vectors = centres[draw.integers(0, CLUSTERS, COUNT)] + 0.7 * draw.standard_normal((COUNT, DIMENSIONS))
    return vectors, vectors[::600] + 0.05 * draw.standard_normal((COUNT // 600, DIMENSIONS))


def packed(vectors: Any) -> PackedBits:
    bits = PackedBits(DIMENSIONS)
    scaled = np.round(vectors * 127 / np.abs(vectors).max(axis=1, keepdims=True)).astype(np.int8)
    bits.add([(number, row.tobytes()) for number, row in enumerate(scaled)])
    return bits


def nearest(vectors: Any, query: Any) -> set[int]:
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1)
    return {int(number) for number in np.argsort(-cosines)[:10]}


def test_the_nearest_pass_both_sieves() -> None:
    vectors, queries = made()
    bits = packed(vectors)
    found = [set(bits.nearest(query.tolist(), None)) for query in queries]
    assert {len(one) for one in found} == {RESCORED.start}
    shares = [len(nearest(vectors, query) & one) / 10 for query, one in zip(queries, found, strict=True)]
    assert sum(shares) / len(shares) > 0.92  # .95; by the number of signs alone .895


def test_what_is_removed_or_not_admitted_passes_none() -> None:
    vectors, queries = made()
    bits = packed(vectors)
    gone = sorted(nearest(vectors, queries[0]))[:5]
    bits.remove(gone)
    assert not set(gone) & set(bits.nearest(queries[0].tolist(), None))
    few = [*gone, 7, 8, 9]
    assert sorted(bits.nearest(queries[0].tolist(), few)) == sorted({7, 8, 9} - set(gone))
    assert bits.nearest(queries[0].tolist(), []) == []
