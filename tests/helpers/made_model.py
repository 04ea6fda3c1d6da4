"""Small models for tests: a table of token vectors in which words of one meaning point the same way, and an embedder
of the same kind that counts what it is asked.

Invariant: nothing is downloaded; a word that no meaning has points to a corner of its own.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

from livedex_indexing.plugins import BaseEmbedder

MEANINGS = (
    ("car", "automobile", "vehicle", "driving", "motor"),
    ("ship", "boat", "vessel", "sailing", "harbour"),
    ("bread", "loaf", "baking", "oven", "dough"),
    ("rain", "storm", "thunder", "weather", "clouds"),
)
DIMENSIONS = 16


def vector_of(word: str) -> list[float]:
    """The vector of a word: mostly its meaning's direction, a little its own."""
    vector = [0.0] * DIMENSIONS
    for place, words in enumerate(MEANINGS):
        if word in words:
            vector[place] = 1.0
    vector[4 + sum(word.encode()) % (DIMENSIONS - 4)] += 0.2
    return vector


def write_model(folder: Path, words: list[str] | None = None) -> Path:
    """Write a folder as model2vec has it."""
    known = ["[UNK]", *(words or [word for meaning in MEANINGS for word in meaning])]
    folder.mkdir(parents=True, exist_ok=True)
    data = b"".join(
        struct.pack(f"<{DIMENSIONS}f", *(vector_of(word) if word != "[UNK]" else [0.01] * DIMENSIONS)) for word in known
    )
    shape = [len(known), DIMENSIONS]
    header = json.dumps({"embeddings": {"dtype": "F32", "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
    tokenizer: dict[str, object] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(known)}, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


class MeaningEmbedder(BaseEmbedder):
    """The same vectors without files. ``asked`` has every text in order."""

    identity = "meanings-1"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, text: str) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        self.asked += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        total = [0.001] * DIMENSIONS
        for word in text.lower().split():
            total = [a + b for a, b in zip(total, vector_of(word.strip(".,\n")), strict=True)]
        return total
