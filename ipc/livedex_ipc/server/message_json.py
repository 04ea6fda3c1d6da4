"""Writes the server's messages as JSON: one line each, in UTF-8, whatever a handler put into its result.

Invariant: no result makes an answer that a strict JSON reader refuses.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder()


def answer(request_id: str | int | None, result: Any) -> bytes:
    """The answer to a request. TypeError when ``result`` holds what JSON has no form for."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def failure(request_id: str | int | None, error: dict[str, Any]) -> bytes:
    """The answer to a request that failed; ``error`` as LivedexError.to_wire() gives it."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "error": error})


def notification(method: str, params: dict[str, Any]) -> bytes:
    """A message that expects no answer."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def _encode(message: dict[str, Any]) -> bytes:
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:
        # Half a surrogate pair, from a file's name say: "?" takes its place, as UTF-8 has no form for it.
        return json.dumps(msgspec.to_builtins(message), ensure_ascii=False).encode("utf-8", "replace")
