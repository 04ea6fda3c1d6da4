"""A model in ONNX for tests, written byte by byte: one table of token vectors, of which each token takes its row.

Invariant: its vectors are those of `made_model`, and neither the package onnx nor the network is needed.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

from helpers.made_model import DIMENSIONS, MEANINGS, vector_of, write_model

_FLOAT, _INT64 = 1, 7  # types of elements
_IR_VERSION, _OPSET = 8, 13


def write_onnx_model(folder: Path) -> Path:
    """Write the five files that fastembed reads."""
    words = [word for meaning in MEANINGS for word in meaning]
    write_model(folder, words)
    (folder / "model.safetensors").unlink()
    table = [[0.01] * DIMENSIONS, *map(vector_of, words)]
    (folder / "model.onnx").write_bytes(_model(table))
    (folder / "config.json").write_text(json.dumps({"hidden_size": DIMENSIONS, "pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 128, "pad_token": "[UNK]"}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[UNK]"}))
    return folder


def _model(table: list[list[float]]) -> bytes:
    """Return a ModelProto: last_hidden_state = Gather(table, input_ids)."""
    node = _text(1, "table") + _text(1, "input_ids") + _text(2, "last_hidden_state") + _text(4, "Gather")
    raw = b"".join(struct.pack(f"<{DIMENSIONS}f", *row) for row in table)
    initializer = (
        _number(1, len(table)) + _number(1, DIMENSIONS) + _number(2, _FLOAT) + _text(8, "table") + _bytes(9, raw)
    )
    graph = _bytes(1, node) + _text(2, "graph") + _bytes(5, initializer)
    for name in ("input_ids", "attention_mask"):
        graph += _bytes(11, _value(name, _INT64, ("batch", "tokens")))
    graph += _bytes(12, _value("last_hidden_state", _FLOAT, ("batch", "tokens", DIMENSIONS)))
    return _number(1, _IR_VERSION) + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, _OPSET))


def _value(name: str, element: int, shape: tuple[str | int, ...]) -> bytes:
    """Return a ValueInfoProto of a tensor."""
    sizes = [_text(2, size) if isinstance(size, str) else _number(1, size) for size in shape]
    tensor = _number(1, element) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])
