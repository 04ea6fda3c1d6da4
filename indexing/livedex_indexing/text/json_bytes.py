"""Encodes plain data as JSON, also where memory lacks.

Invariant: too little memory is a MemoryError of the caller, never the end of the process.
"""

from __future__ import annotations

from typing import Final

import msgspec

_encoder: Final = msgspec.json.Encoder()  # a tenth of the standard library's time


def json_bytes(value: object) -> bytearray:
    """Return the JSON of a value in UTF-8. Raises MemoryError; TypeError for a value that JSON cannot express; and
    UnicodeEncodeError for a lone surrogate."""
    encoded = bytearray()
    _encoder.encode_into(value, encoded)  # ``encode`` ends the process where memory lacks (msgspec 0.22)
    return encoded
