"""Embeds with a model in ONNX by the package fastembed: from a local folder, or by the name of a model it has stored.

Invariant: fastembed may not use the network here: a model that is not on the disk is unavailable at once.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any, Final

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins import BaseEmbedder

EXTRA: Final = "livedex[fastembed]"
_BATCH: Final = 8  # memory is batch x tokens²: 0.7 GB at 8, 2.1 GB at 32
_FORMAT: Final = 1


class FastembedEmbedder(BaseEmbedder):
    """``model`` is a folder with ``model.onnx``, ``tokenizer.json``, ``tokenizer_config.json``, ``config.json`` and
    ``special_tokens_map.json``, or a name. The vectors are means over the tokens, with length 1."""

    def __init__(self, model: str) -> None:
        """Raises EmbedderUnavailable."""
        os.environ["HF_HUB_OFFLINE"] = "1"  # else a missing model is asked for, again and again, for 39 s
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise EmbedderUnavailable(f"the package fastembed is not installed: pip install '{EXTRA}'") from error
        try:
            self._model = _of_folder(TextEmbedding, model) if os.path.isdir(model) else TextEmbedding(model, threads=1)
            self.dimensions = len(next(iter(self._model.embed(["size"]))))
        except Exception as error:
            raise EmbedderUnavailable(f"fastembed cannot read the model {model!r}: {type(error).__name__}") from error
        self.identity = f"fastembed/{_FORMAT}/{_digest(model) if os.path.isdir(model) else model}"

    dimensions: int = 0

    def embed(self, text: str) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        found = list(self._model.embed([texts[place] for place in order], batch_size=_BATCH))
        vectors: list[list[float]] = [[]] * len(texts)
        for place, vector in zip(order, found, strict=True):
            vectors[place] = vector.tolist()
        return vectors


def _of_folder(text_embedding: Any, folder: str) -> Any:
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"livedex/{_digest(folder)}"
    text_embedding.add_custom_model(
        model=name,
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(url="http://localhost/unused"),
        dim=_dimensions(folder),
        model_file="model.onnx",
    )
    return text_embedding(name, specific_model_path=folder, threads=1)


def _dimensions(folder: str) -> int:
    """Return what the model's own configuration says; fastembed only reports it."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    return int(config.get("hidden_size") or config.get("dim") or 1)


def _digest(folder: str) -> str:
    """Return a hash of the model's files, in hex."""
    digest = hashlib.blake2b(digest_size=16)
    for name in ("model.onnx", "tokenizer.json"):
        with open(os.path.join(folder, name), "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
