"""Vectors of an index: each text embedded once, kept over changes, compared exactly and by bits."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from helpers.indexed_folder import Indexed
from helpers.made_model import DIMENSIONS, MeaningEmbedder
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins import BaseEmbedder
from livedex_indexing.vectors import vector_database
from livedex_indexing.vectors.filler import Filler
from livedex_indexing.vectors.nearest import VectorIndex
from livedex_indexing.vectors.vector_database import open_writer
from livedex_indexing.vectors.vector_store import ContentKey, VectorStore

FILES = {
    "root/a.md": "the car stops\n" * 12,
    "root/b.md": "a ship sails\n" * 12,
    "root/copy.md": "a ship sails\n" * 12,
    "root/c.md": "fresh bread\n",
}


def filler_of(index: Indexed, embedder: BaseEmbedder, path: str = "vectors.db", batch: int = 2) -> Filler:
    store = VectorStore(str(index.folder / path), "meanings-1", DIMENSIONS)
    return Filler(index.pool, store, embedder, lambda: index.roots, batch)


def fill(filler: Filler) -> None:
    filler.compare()
    while filler.step():
        pass


def test_each_text_is_embedded_once(indexed: Indexed) -> None:
    embedder = MeaningEmbedder()
    filler = filler_of(indexed, embedder)
    fill(filler)
    assert len(embedder.asked) == len(set(embedder.asked)) == 5
    assert (filler.pending, filler.store.counts(), filler.store.complete) == (0, (5, 5), True)


@pytest.mark.parametrize("reopened", [False, True])
def test_nothing_is_embedded_again_for_what_was_known(indexed: Indexed, reopened: bool) -> None:
    embedder = MeaningEmbedder()
    filler = filler_of(indexed, embedder)
    fill(filler)
    indexed.remove("root/c.md")
    indexed.write("root/a.md", "the car stops\n" * 12 + "and the motor too\n")  # its first ten lines stay a chunk
    if reopened:
        filler.store.close()
        filler = filler_of(indexed, embedder)
    asked = len(embedder.asked)
    fill(filler)
    assert len(embedder.asked) == asked + 1
    indexed.write("root/c.md", FILES["root/c.md"])
    indexed.write("root/new.md", FILES["root/b.md"])
    fill(filler)
    assert len(embedder.asked) == asked + 1


def test_a_new_index_of_the_same_files_embeds_nothing(indexed: Indexed, tmp_path: Path) -> None:
    embedder = MeaningEmbedder()
    first = filler_of(indexed, embedder)
    fill(first)
    first.store.close()
    (tmp_path / "again").mkdir()
    with Indexed(tmp_path / "again") as other:
        for path in reversed(FILES):
            other.write(path, FILES[path])
        again = Filler(
            other.pool, VectorStore(first.store.path, "meanings-1", DIMENSIONS), embedder, lambda: other.roots, 2
        )
        fill(again)
        assert len(embedder.asked) == 5
        assert again.store.counts()[0] == 5


class Faulty(MeaningEmbedder):
    """Gives ``wrong`` for each text that contains ``bad``."""

    def __init__(self, bad: str, wrong: list[float]) -> None:
        super().__init__()
        self.bad, self.wrong = bad, wrong

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        vectors = super().embed_batch(texts)
        return [self.wrong if self.bad in text else vector for text, vector in zip(texts, vectors, strict=True)]


WRONG = {
    "nan": [math.nan] * DIMENSIONS,
    "infinite": [math.inf] + [0.0] * (DIMENSIONS - 1),
    "zero": [0.0] * DIMENSIONS,
    "tiny": [5e-324] * DIMENSIONS,
    "huge": [1e308, -1e308] * (DIMENSIONS // 2),
    "whole": [10**400] * DIMENSIONS,
    "short": [1.0],
    "long": [1.0] * (DIMENSIONS + 1),
    "empty": [],
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_useless_vector_never_reaches_the_store(indexed: Indexed, wrong: list[float]) -> None:
    filler = filler_of(indexed, Faulty("bread", wrong), batch=32)
    fill(filler)
    assert filler.store.counts() == (4, 4)  # all but the one text
    useless = filler_of(indexed, Faulty("", wrong), "useless.db")
    with pytest.raises(EmbedderUnavailable, match="vector"):
        fill(useless)
    assert useless.store.counts() == (0, 0)


def test_an_embedder_that_raises_leaves_all_to_be_done_again(indexed: Indexed) -> None:
    class Broken(MeaningEmbedder):
        def embed_batch(self, texts: list[str]) -> list[list[float]]:
            raise RuntimeError("the text: " + texts[0])

    filler = filler_of(indexed, Broken())
    with pytest.raises(EmbedderUnavailable, match=r"the embedder raises RuntimeError$"):
        fill(filler)
    assert filler.pending == 5


def test_vectors_of_another_model_are_not_used(indexed: Indexed) -> None:
    filler = filler_of(indexed, MeaningEmbedder())
    fill(filler)
    filler.store.close()
    other = VectorStore(filler.store.path, "meanings-2", DIMENSIONS)
    assert other.counts() == (0, 0)


def test_a_damaged_file_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    path.write_bytes(b"no database at all" * 500)
    open_writer(str(path), "meanings-1", DIMENSIONS).close()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("exact_bytes", [1 << 20, 0], ids=["vec0", "bits"])
def test_the_nearest_are_those_with_the_largest_cosines(tmp_path: Path, exact_bytes: int) -> None:
    draw = random.Random(1)
    vectors = {i: [draw.gauss(0, 1) for _ in range(64)] for i in range(1, 301)}
    store = VectorStore(str(tmp_path / "v.db"), "m", 64, exact_bytes=exact_bytes)
    store.add_texts({i.to_bytes(16, "big"): vector for i, vector in vectors.items()})
    ids = store.known([i.to_bytes(16, "big") for i in vectors])
    store.put([(ContentKey(1, b"h", b"s", 1), [ids[i.to_bytes(16, "big")] for i in vectors])])
    query = [draw.gauss(0, 1) for _ in range(64)]

    def cosine(vector: list[float]) -> float:
        return sum(map(float.__mul__, query, vector)) / math.hypot(*query) / math.hypot(*vector)

    best = sorted(vectors, key=lambda i: -cosine(vectors[i]))
    found = store.index.nearest(query, 10)
    assert set(found) == set(best[:10])
    assert found[best[0]] == pytest.approx(cosine(vectors[best[0]]), abs=0.01)
    even = [i for i in best if i % 2 == 0]
    assert set(store.index.nearest(query, 5, even)) == set(even[:5])
    assert store.index.cosines(query, [best[7], 999]) == {best[7]: pytest.approx(cosine(vectors[best[7]]), abs=0.01)}
    assert store.index.is_compact == (exact_bytes == 0)
    store.remove([1])
    assert store.index.nearest(query, 10) == {}


def test_the_index_of_a_store_switches_by_size(tmp_path: Path) -> None:
    path = str(tmp_path / "v.db")
    store = VectorStore(path, "m", 8, exact_bytes=80)
    texts = {bytes([i]) * 16: [float(i), 1.0] + [0.0] * 6 for i in range(1, 31)}
    store.add_texts(texts)
    known = store.known(texts)
    for number, digest in enumerate(texts):
        store.put([(ContentKey(number, b"h", b"s", number + 1), [known[digest]])])
        assert store.index.is_compact == (number + 1 > 10)
    assert len(store.index.nearest([1.0, 1.0] + [0.0] * 6, 50)) == 30
    store.remove(range(27))
    store.sweep()
    assert not store.index.is_compact
    assert set(store.index.nearest([1.0, 1.0] + [0.0] * 6, 50)) == {28, 29, 30}
    store.close()
    assert isinstance(VectorStore(path, "m", 8).index, VectorIndex)


def test_what_was_left_while_the_clock_was_ahead_is_kept_a_month_too(tmp_path: Path) -> None:
    now = [1e9]
    store = VectorStore(str(tmp_path / "v.db"), "meanings-1", DIMENSIONS, now=lambda: now[0])
    store.add_texts({b"a" * 16: [1.0] * DIMENSIONS})
    now[0] += 3650 * 86_400.0
    store.sweep()
    now[0] -= 3650 * 86_400.0
    store.sweep()
    assert store.known([b"a" * 16])
    now[0] += 31 * 86_400.0
    store.sweep()
    assert not store.known([b"a" * 16])
    store.close()


@pytest.mark.parametrize("exact_bytes", [0, 1 << 20])
def test_a_search_goes_on_while_other_vectors_take_the_place(tmp_path: Path, exact_bytes: int) -> None:
    path = str(tmp_path / "vectors.db")
    store = VectorStore(path, "meanings-1", DIMENSIONS, exact_bytes=exact_bytes)
    vector = [1.0] * DIMENSIONS
    store.add_texts({b"a" * 16: vector})
    store.put([(ContentKey(1, b"h", b"s", 1), list(store.known([b"a" * 16]).values()))])
    index = store.index
    assert list(index.nearest(vector, 5)) == list(index.cosines(vector, [1])) == [1]
    assert list(index.cosines_of_texts(vector, [b"a" * 16])) == [b"a" * 16]
    store.close()
    vector_database.remove(path)
    assert index.nearest(vector, 5) == index.cosines(vector, [1]) == {}
    assert index.cosines_of_texts(vector, [b"a" * 16]) == {}


def test_a_file_that_is_damaged_in_the_middle_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    store = VectorStore(str(path), "meanings-1", DIMENSIONS)
    vector = [1.0] * DIMENSIONS
    store.add_texts({bytes([n]) * 16: vector for n in range(200)})
    store.put([(ContentKey(1, b"h", b"s", 1), sorted(store.known([bytes([n]) * 16 for n in range(200)]).values()))])
    index = VectorIndex(str(path), DIMENSIONS)
    assert len(index.cosines(vector, range(1, 201))) == 200
    index.close()
    store.close()
    damaged = bytearray(path.read_bytes())
    page = int.from_bytes(damaged[16:18], "big")
    damaged[2 * page :] = b"\xa5" * (len(damaged) - 2 * page)  # its head and the table of the model are whole
    path.write_bytes(damaged)
    searched = VectorIndex(str(path), DIMENSIONS)
    with pytest.raises(EmbedderUnavailable, match="damaged"):
        searched.cosines(vector, range(1, 201))
    assert searched.damaged
    again = VectorStore(str(path), "meanings-1", DIMENSIONS)
    assert again.counts() == (0, 0) and again.index.nearest(vector, 5) == {}
    again.close()
