"""The embedder `fastembed` with the real library, and a model that the test writes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.made_model import DIMENSIONS
from helpers.onnx_model import write_onnx_model
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable, EmbeddingSettings
from livedex_indexing.embeddings.models import FASTEMBED
from livedex_indexing.embeddings.process_embedder import ProcessEmbedder

pytest.importorskip("fastembed", reason="the extra `fastembed` is not installed")


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessEmbedder]:
    made = made_of(write_onnx_model(tmp_path_factory.mktemp("model")))
    yield made
    made.close()


def made_of(folder: Path) -> ProcessEmbedder:
    return ProcessEmbedder(FASTEMBED, EmbeddingSettings(embedder=FASTEMBED, model=str(folder)))


def cosine(a: list[float], b: list[float]) -> float:
    return math.sumprod(a, b) if hasattr(math, "sumprod") else sum(x * y for x, y in zip(a, b, strict=True))


def test_texts_of_one_meaning_are_near(embedder: ProcessEmbedder) -> None:
    assert embedder.dimensions == DIMENSIONS
    boat, ship, bread = embedder.embed_batch(["sailing boat", "the vessel left the harbour", "a loaf"])
    assert cosine(boat, ship) > 2 * cosine(boat, bread)
    assert cosine(boat, boat) == pytest.approx(1.0, abs=1e-5)
    assert embedder.embed("sailing boat") == pytest.approx(boat, abs=1e-5)


def test_vectors_come_in_the_order_of_the_texts(embedder: ProcessEmbedder) -> None:
    texts = [" ".join(["loaf"] * count) + " vessel" * (count % 3) for count in range(1, 20)]
    together = embedder.embed_batch(texts)
    assert together == [pytest.approx(embedder.embed(text), abs=1e-5) for text in texts]


def test_another_model_has_another_identity(embedder: ProcessEmbedder, tmp_path: Path) -> None:
    same, other = (made_of(write_onnx_model(tmp_path / name)) for name in ("same", "other"))
    tokenizer = tmp_path / "other" / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"vessel"', '"vessels"'))
    assert same.identity == embedder.identity != other.identity
    for one in (same, other):
        one.close()


@pytest.mark.parametrize("spoiled", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_spoiled_model_is_unavailable(tmp_path: Path, spoiled: str) -> None:
    folder = write_onnx_model(tmp_path / "model")
    (folder / spoiled).write_bytes(b"{")
    broken = made_of(folder)
    with pytest.raises(EmbedderUnavailable, match="fastembed cannot read the model"):
        _ = broken.dimensions
    broken.close()


def test_a_name_that_is_not_on_the_disk_is_not_downloaded() -> None:
    unknown = ProcessEmbedder(FASTEMBED, EmbeddingSettings(embedder=FASTEMBED, model="BAAI/bge-small-en-v1.5"))
    with pytest.raises(EmbedderUnavailable, match=r"cannot read the model 'BAAI/bge-small-en-v1\.5'"):
        _ = unknown.dimensions
    unknown.close()
