"""Finds and reads a table of token vectors and its tokenizer: in a folder, or in an installed package.

Invariant: nothing is downloaded and no code of the package runs. The table is mapped, not read: a query touches only
the rows of its own tokens.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import mmap
import os
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE: Final = "wordllama"
EXTRA: Final = "livedex[semantic]"
_TENSORS: Final = ("embeddings", "embedding.weight")  # of model2vec, and of wordllama and sentence-transformers
_FORMATS: Final = {"F16": ("e", 2), "F32": ("f", 4), "F64": ("d", 8), "I64": ("q", 8), "I32": ("i", 4)}
_MOST_HEADER: Final = 1 << 24  # bytes


class Tensor(NamedTuple):
    """A tensor of a file: its place in bytes, ``code`` as in ``struct``, and its shape."""

    start: int
    code: str
    width: int
    shape: tuple[int, ...]


class ModelFiles(NamedTuple):
    """The two files of a model."""

    table: str
    tokenizer: str


def find(model: str) -> ModelFiles:
    """Return the files of a folder, or of the installed package if ``model`` is empty. Raises EmbedderUnavailable."""
    if not model:
        spec = importlib.util.find_spec(PACKAGE)  # finds the package without running it
        if spec is None or not spec.submodule_search_locations:
            raise EmbedderUnavailable(f"the package {PACKAGE} is not installed: pip install '{EXTRA}'")
        folder = spec.submodule_search_locations[0]
        table = _only(os.path.join(folder, "weights"), ".safetensors", folder)
        return ModelFiles(table, _only(os.path.join(folder, "tokenizers"), ".json", folder))
    for folder in (model, os.path.join(model, "0_StaticEmbedding")):
        files = ModelFiles(os.path.join(folder, "model.safetensors"), os.path.join(folder, "tokenizer.json"))
        if all(map(os.path.isfile, files)):
            return files
    raise EmbedderUnavailable(f"{model} has no model.safetensors with a tokenizer.json: name the folder of a model")


def _only(folder: str, suffix: str, package: str) -> str:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(suffix))
    except OSError:
        names = []
    if not names:
        raise EmbedderUnavailable(f"{package} has no file *{suffix}: pip install '{EXTRA}'")
    return os.path.join(folder, names[0])


class TokenTable:
    """The vectors of all tokens. ``weights`` and ``rows`` are those of a model2vec folder: the weight and the row of
    each token, None where each token has a row of its own."""

    def __init__(self, path: str) -> None:
        """Raises EmbedderUnavailable."""
        try:
            with open(path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            tensors = _read_header(self._map)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise EmbedderUnavailable(f"{path} is no table of vectors: {error}") from error
        found = [tensors[name] for name in _TENSORS if name in tensors]
        if not found or len(found[0].shape) != 2 or found[0].code not in "ef" or not all(found[0].shape):
            raise EmbedderUnavailable(f"{path} has no table of vectors ({' or '.join(_TENSORS)})")
        self.tensor = found[0]
        self.size, self.dimensions = self.tensor.shape
        self.weights = self._numbers(tensors.get("weights"), "efd")
        self.rows = self._numbers(tensors.get("mapping"), "qi")

    def digest(self) -> str:
        """Return a hash of the whole file, in hex."""
        return hashlib.blake2b(self._map, digest_size=16).hexdigest()

    @property
    def buffer(self) -> memoryview:
        """The bytes of the table."""
        start = self.tensor.start
        return memoryview(self._map)[start : start + self.size * self.dimensions * self.tensor.width]

    def row(self, token: int) -> Sequence[float]:
        """Return the vector of a token, without its weight; of zeros for a token beyond the table."""
        if self.rows is not None:
            token = int(self.rows[token]) if token < len(self.rows) else -1
        if not 0 <= token < self.size:
            return (0.0,) * self.dimensions
        line = self.dimensions * self.tensor.width
        return _numbers(self.buffer[token * line : (token + 1) * line], self.tensor.code)

    def _numbers(self, tensor: Tensor | None, codes: str) -> Sequence[float] | None:
        if tensor is None or tensor.code not in codes or len(tensor.shape) != 1:
            return None
        data = memoryview(self._map)[tensor.start : tensor.start + tensor.shape[0] * tensor.width]
        return _numbers(data, tensor.code)


def _numbers(data: memoryview, code: str) -> Sequence[float]:
    return struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)


def _read_header(data: mmap.mmap) -> dict[str, Tensor]:
    """Read the header of a safetensors file: 8 bytes of length, then JSON. Raises ValueError, KeyError, TypeError."""
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= min(_MOST_HEADER, len(data) - 8):
        raise ValueError("its header is too long")
    begin = 8 + length
    tensors = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name == "__metadata__" or entry["dtype"] not in _FORMATS:
            continue
        code, width = _FORMATS[entry["dtype"]]
        low, high = entry["data_offsets"]
        shape = tuple(int(size) for size in entry["shape"])
        count = 1
        for size in shape:
            count *= size
        if low < 0 or high - low != count * width or begin + high > len(data):
            raise ValueError(f"the tensor {name} lies outside the file")
        tensors[name] = Tensor(begin + low, code, width, shape)
    return tensors


def read_tokenizer(path: str) -> Tokenizer:
    """Read a tokenizer. It neither pads nor cuts. Raises EmbedderUnavailable."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # one core: livedex shares the machine
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise EmbedderUnavailable(f"the package tokenizers is not installed: pip install '{EXTRA}'") from error
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:  # the library raises bare exceptions
        raise EmbedderUnavailable(f"{path} is no tokenizer: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
