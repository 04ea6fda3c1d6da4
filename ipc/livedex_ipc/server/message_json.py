"""Encodes the server's messages as JSON: one line each, in UTF-8, whatever text a handler's result contains.

Invariant: every answer can be read by a strict JSON parser.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from livedex_ipc.wire_results import ErrorObject

_encoder = msgspec.json.Encoder()


def answer(request_id: str | int | None, result: object) -> bytes:
    """Encode the answer to a request. Raises TypeError if ``result`` contains a value that JSON cannot express."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def failure(request_id: str | int | None, error: ErrorObject) -> bytes:
    """Encode the answer to a failed request; ``error`` as returned by LivedexError.to_wire()."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "error": error})


def notification(method: str, params: Mapping[str, object]) -> bytes:
    """Encode a message that expects no answer."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def text(value: object) -> str:
    """Encode a value that is no message of its own."""
    return _encode(value).decode()


def _encode(message: object) -> bytes:
    encoded = bytearray()
    try:
        # Not ``encode``: where memory lacks, it ends the process (msgspec 0.22), and this raises MemoryError.
        _encoder.encode_into(message, encoded)
        return encoded  # type: ignore[return-value]  # nobody changes it, and a copy takes as long as the encoding
    except UnicodeEncodeError:
        # A lone surrogate, for example from a file's name: UTF-8 cannot express it, so "?" replaces it.
        return json.dumps(msgspec.to_builtins(message), ensure_ascii=False).encode("utf-8", "replace")
