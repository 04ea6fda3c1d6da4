"""A file of vectors that a search cannot read: it hears of it, and never takes it for a file without near chunks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from helpers.made_model import DIMENSIONS
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.vectors import vector_database
from livedex_indexing.vectors.nearest import VectorIndex
from livedex_indexing.vectors.vector_store import ContentKey, VectorStore

VECTOR = [1.0] * DIMENSIONS
IDS = list(range(1, 51))


@pytest.fixture(params=[1 << 20, 0], ids=["vec0", "bits"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorStore]:
    made = VectorStore(str(tmp_path / "vectors.db"), "meanings-1", DIMENSIONS, exact_bytes=request.param)
    texts = [bytes([number]) * 16 for number in IDS]
    made.add_texts(dict.fromkeys(texts, VECTOR))
    made.put([(ContentKey(1, b"h", b"s", 1), [made.known(texts)[text] for text in texts])])
    yield made
    made.close()


def test_one_that_is_gone(store: VectorStore) -> None:
    assert store.loss() is None
    vector_database.remove(store.path)
    assert store.loss() == "deleted"
    with pytest.raises(EmbedderUnavailable, match="vectors cannot be read: "):
        store.index.nearest(VECTOR, 5)
    assert not store.index.damaged, "perhaps there was no free descriptor"


def test_one_that_was_cut_short(store: VectorStore) -> None:
    store.sweep()
    path = Path(store.path)
    path.write_bytes(path.read_bytes()[:4096])
    assert store.loss() == "truncated"
    faults = []
    store.index.on_fault = lambda: faults.append(1)
    with pytest.raises(EmbedderUnavailable, match="the file of vectors is damaged: it is made again"):
        store.index.cosines(VECTOR, IDS)
    assert store.index.damaged and faults == [1]


def test_one_that_was_replaced(store: VectorStore, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    apsw.Connection(str(other)).execute("CREATE TABLE other (name)")
    other.rename(store.path)
    assert store.loss() == "replaced"


@pytest.mark.parametrize("store", [1 << 20], indirect=True)
def test_one_whose_table_of_the_nearest_is_damaged(store: VectorStore) -> None:
    apsw.Connection(store.path).execute("UPDATE nearest_chunks SET validity = x'00'")
    with pytest.raises(EmbedderUnavailable, match="damaged"):
        store.index.nearest(VECTOR, 5)
    assert store.index.damaged


@pytest.mark.parametrize("store", [1 << 20], indirect=True)
def test_nothing_is_missed_while_it_is_made_again(store: VectorStore) -> None:
    """A search sees the table as it was, or as it will be."""
    seen: list[int] = []

    def look(*_: object) -> bool:
        seen.append(len(store.index.nearest(VECTOR, 50)))
        return False

    with closing(vector_database.open_writer(store.path, "meanings-1", DIMENSIONS)) as writer:
        index = VectorIndex(store.path, DIMENSIONS)
        index.load(writer)
        index.remove(writer, range(1_000, 2_100))  # as if so many had been there
        writer.set_progress_handler(look, 20)
        index.tidy(writer)
    assert set(seen) == {50}
