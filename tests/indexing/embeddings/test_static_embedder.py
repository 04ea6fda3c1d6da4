"""The static embedder: a table of token vectors in a folder or a package, read without running a model."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest

from helpers.made_model import DIMENSIONS, write_model
from livedex_indexing.conformance import check_embedder
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable

pytest.importorskip("tokenizers", reason="the extra `semantic` is not installed")

from livedex_indexing.embeddings.static_embedder import StaticEmbedder
from livedex_indexing.embeddings.token_table import PACKAGE, TokenTable, find


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_model(tmp_path_factory.mktemp("model")))


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


def test_it_conforms(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", ["line", "word", "text"])
    assert check_embedder(lambda: StaticEmbedder(str(model))) == []


def test_words_of_one_meaning_are_near(folder: str) -> None:
    embedder = StaticEmbedder(folder)
    car = embedder.embed("the automobile")
    assert cosine(car, embedder.embed("a car")) > 0.8 > cosine(car, embedder.embed("a loaf"))


@pytest.mark.parametrize("text", ["car boat", "", "unknown words", "Car\x00", "a" * 5000, "\ud800"])
def test_a_batch_gives_what_each_text_gives_alone(folder: str, text: str) -> None:
    embedder = StaticEmbedder(folder, [0.01] * StaticEmbedder(folder).tokens)
    (first, second) = embedder.embed_batch([text, "oven"])
    assert first == pytest.approx(embedder.embed(text), abs=1e-6)
    assert second == pytest.approx(embedder.embed("oven"), abs=1e-6)


def test_frequent_tokens_count_less(folder: str) -> None:
    plain = StaticEmbedder(folder)
    shares = [count / 10 for count in plain.count(["car"] * 9 + ["loaf"])]
    weighed = plain.with_frequencies(shares)
    loaf = plain.embed("loaf")
    assert cosine(weighed.embed("car loaf"), loaf) > cosine(plain.embed("car loaf"), loaf)
    assert weighed.identity != plain.identity


def test_a_folder_of_model2vec_may_weigh_and_share_rows(tmp_path: Path) -> None:
    write_model(tmp_path, ["car", "boat"])
    rows = [[1.0, 0.0], [0.0, 1.0]]
    tensors = {"embeddings": ("F32", [2, 2], struct.pack("<4f", *rows[0], *rows[1]))}
    tensors |= {"weights": ("F32", [3], struct.pack("<3f", 0.0, 2.0, 3.0))}
    tensors |= {"mapping": ("I64", [3], struct.pack("<3q", 0, 1, 1))}
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    import json

    head = json.dumps(header).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + data)
    embedder = StaticEmbedder(str(tmp_path))
    assert embedder.embed("car boat") == pytest.approx([0.0, 1.0])
    assert embedder.embed_batch(["car boat"])[0] == pytest.approx([0.0, 1.0])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"12345678",
        struct.pack("<Q", 1 << 40) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 4) + b"null",
    ],
)
def test_a_file_that_is_no_table_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(EmbedderUnavailable, match=r"model\.safetensors"):
        TokenTable(str(path))


def test_a_tensor_beyond_the_end_is_refused(tmp_path: Path) -> None:
    path = write_model(tmp_path) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-DIMENSIONS])
    with pytest.raises(EmbedderUnavailable, match="outside the file"):
        TokenTable(str(path))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"nowhere has no model\.safetensors"):
        find(str(tmp_path / "nowhere"))


def test_the_extra_needs_no_download() -> None:
    pytest.importorskip(PACKAGE, reason="the extra `semantic` is not installed")
    embedder = StaticEmbedder()
    car = embedder.embed("repair the automobile")
    assert embedder.dimensions == 256
    assert cosine(car, embedder.embed("fix a car")) > cosine(car, embedder.embed("a recipe for soup"))
