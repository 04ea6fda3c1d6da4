"""Makes the vector of a text from the vectors of its tokens, without running a model.

Invariant: the vector of a text is the same whether it is embedded alone or in a batch, up to rounding. One text needs
no numpy: the daemon embeds its queries itself and keeps its memory.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Final

from livedex_indexing.embeddings.token_table import TokenTable, find, read_tokenizer
from livedex_indexing.plugins import BaseEmbedder

USUAL: Final = 1e-3  # a of a / (a + p): tokens much rarer than this count in full
_FORMAT: Final = 1  # grows with a change of how vectors are made


class StaticEmbedder(BaseEmbedder):
    """The mean of the vectors of a text's tokens, each weighted a / (a + p) by its frequency p.

    ``frequencies``: the share of each token among all tokens of the texts to be found; None weights all the same.
    """

    def __init__(self, model: str = "", frequencies: Sequence[float] | None = None) -> None:
        """Raises EmbedderUnavailable."""
        self._model = model
        files = find(model)
        self._table = TokenTable(files.table)
        self._tokenizer = read_tokenizer(files.tokenizer)
        self._frequencies = None if frequencies is None else array("f", frequencies)

    @property
    def dimensions(self) -> int:
        return self._table.dimensions

    @cached_property
    def identity(self) -> str:
        weights = b"" if self._frequencies is None else self._frequencies.tobytes()
        return f"static/{_FORMAT}/{self._table.digest()}/{hashlib.blake2b(weights, digest_size=8).hexdigest()}"

    @property
    def tokens(self) -> int:
        """How many tokens there are: the length of ``frequencies``."""
        return int(self._tokenizer.get_vocab_size())

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count each token in the texts."""
        counts = [0] * self.tokens
        for tokens in self._tokens(texts):
            for token in tokens:
                counts[token] += 1
        return counts

    def with_frequencies(self, frequencies: Sequence[float]) -> StaticEmbedder:
        return StaticEmbedder(self._model, frequencies)

    def embed(self, text: str) -> list[float]:
        (tokens,) = self._tokens([text])
        total = [0.0] * self.dimensions
        for token in tokens:
            weight = self._weight(token)
            total = [value + weight * part for value, part in zip(total, self._table.row(token), strict=True)]
        length = math.sqrt(math.fsum(value * value for value in total))
        return [value / length for value in total] if length else self._nothing()

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        import numpy as np

        all_tokens = self._tokens(texts)
        flat = np.array(list(chain.from_iterable(all_tokens)), dtype=np.int64)
        distinct, places = np.unique(flat, return_inverse=True)
        rows = self._rows(distinct) * self._weights[distinct][:, None]  # each vector once for the whole batch
        ends = np.cumsum([len(tokens) for tokens in all_tokens]).tolist()
        vectors = []
        for start, end in pairwise((0, *ends)):
            total = np.bincount(places[start:end], minlength=len(distinct)) @ rows
            length = float(np.linalg.norm(total))
            vectors.append((total / length).tolist() if length else self._nothing())
        return vectors

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        return [entry.ids for entry in self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)]

    def _nothing(self) -> list[float]:
        """Return what a text without a token gets: no direction of its own."""
        return [1.0 / math.sqrt(self.dimensions)] * self.dimensions

    def _weight(self, token: int) -> float:
        of_model = self._table.weights
        weight = 1.0 if of_model is None else float(of_model[token]) if token < len(of_model) else 0.0
        if self._frequencies is None:
            return weight
        return weight * USUAL / (USUAL + self._frequencies[token])

    @cached_property
    def _weights(self) -> Any:
        import numpy as np

        return np.array([self._weight(token) for token in range(self.tokens)], dtype=np.float32)

    @cached_property
    def _matrix(self) -> Any:
        import numpy as np

        of_file = np.dtype(self._table.tensor.code).newbyteorder("<")
        return np.frombuffer(self._table.buffer, dtype=of_file).reshape(self._table.size, self.dimensions)

    def _rows(self, tokens: Any) -> Any:
        """Return the vectors of tokens; zeros for those beyond the table."""
        import numpy as np

        rows = tokens
        if self._table.rows is not None:
            mapping = np.asarray(self._table.rows)
            rows = np.where(tokens < len(mapping), mapping[np.minimum(tokens, len(mapping) - 1)], -1)
        inside = (rows >= 0) & (rows < self._table.size)
        found = self._matrix[np.where(inside, rows, 0)].astype(np.float32)
        return found if inside.all() else found * inside[:, None]
