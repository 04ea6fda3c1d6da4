"""`python -m bench.vectors`: made vectors in a file of the daemon's kind: recall and CPU of the nearest.

Invariant: the exact answer is computed from the same vectors as floats, block by block.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from typing import Any

import numpy as np

from livedex_indexing.vectors.vector_store import ContentKey, VectorStore

BLOCK = 10_000
PART = 1_000
QUESTIONS = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.vectors", description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--clusters", type=int, default=2_000)
    options = parser.parse_args()
    draw = np.random.default_rng(1)
    centres = draw.standard_normal((options.clusters, options.dimensions), dtype=np.float32)
    blocks = max(1, options.chunks // BLOCK)
    asked = [_question(centres, number * blocks // QUESTIONS) for number in range(QUESTIONS)]
    exact: list[list[tuple[float, int]]] = [[] for _ in asked]
    with tempfile.TemporaryDirectory(prefix="livedex-vectors-") as folder:
        store = VectorStore(os.path.join(folder, "v.db"), "made", options.dimensions)
        filled = 0.0
        for block in range(blocks):
            vectors = _block(centres, block)
            for best, question in zip(exact, asked, strict=True):
                cosines = vectors @ question
                top = np.argsort(-cosines)[:10]
                best[:] = sorted([*best, *((float(cosines[i]), block * BLOCK + int(i) + 1) for i in top)])[-10:]
            began = time.process_time()
            _fill(store, vectors, block * BLOCK)
            filled += time.process_time() - began
        recall, times = [], []
        for best, question in zip(exact, asked, strict=True):
            began = time.process_time()
            found = [*store.index.nearest(question.tolist(), 150)][:10]
            times.append((time.process_time() - began) * 1000)
            recall.append(len({chunk for _, chunk in best} & set(found)) / 10)
        way = "bits" if store.index.is_compact else "vec0"
        print(f"{blocks * BLOCK} x {options.dimensions}, {way}: recall@10 {statistics.fmean(recall):.3f}, "
              f"CPU {statistics.median(times):.1f} ms a search, {filled / blocks / BLOCK * 1e6:.0f} us a vector, "
              f"{os.path.getsize(store.path) / 1e6:.0f} MB")  # fmt: skip
        store.close()
    return 0


def _block(centres: Any, number: int) -> Any:
    draw = np.random.default_rng(1000 + number)
    noise = draw.standard_normal((BLOCK, centres.shape[1]), dtype=np.float32)
    vectors = centres[draw.integers(0, len(centres), BLOCK)] + 0.7 * noise
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _question(centres: Any, block: int) -> Any:
    draw = np.random.default_rng(block)
    return _block(centres, block)[7] + 0.05 * draw.standard_normal(centres.shape[1], dtype=np.float32)


def _fill(store: VectorStore, vectors: Any, first: int) -> None:
    for start in range(0, len(vectors), PART):
        hashes = [(first + start + i).to_bytes(16, "big") for i in range(PART)]
        store.add_texts(dict(zip(hashes, vectors[start : start + PART].tolist(), strict=True)))
        known = store.known(hashes)
        key = ContentKey((first + start) // PART + 1, b"h", b"s", first + start + 1)
        store.put([(key, [known[value] for value in hashes])])


if __name__ == "__main__":
    raise SystemExit(main())
