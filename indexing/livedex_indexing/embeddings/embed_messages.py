"""The messages between the daemon and a process that embeds, as bytes on two pipes.

Invariant: a frame is a length (4 bytes, little-endian) and a msgpack body. The first frame of each side is `Start` and
`Ready` or `Failure`; then each `Texts` gets one `Vectors` or `Failure`, in order.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

HEADER = 4
FAILURE_CHARS = 500

T = TypeVar("T")


class Start(msgspec.Struct, frozen=True, tag=True):
    """What to embed with. ``frequencies`` are 4-byte floats in the machine's order, None for none."""

    embedder: str
    model: str
    frequencies: bytes | None


class Ready(msgspec.Struct, frozen=True, tag=True):
    version: bytes
    dimensions: int
    identity: str


class Texts(msgspec.Struct, frozen=True, tag=True):
    texts: list[str]


class Vectors(msgspec.Struct, frozen=True, tag=True):
    """All vectors, one after the other, as 4-byte floats in the machine's order."""

    numbers: bytes


class Failure(msgspec.Struct, frozen=True, tag=True):
    message: str


FromChild = Ready | Vectors | Failure
ToChild = Start | Texts

_encode = msgspec.msgpack.Encoder().encode
from_child = msgspec.msgpack.Decoder(FromChild).decode
to_child = msgspec.msgpack.Decoder(ToChild).decode


def frame(message: object) -> bytes:
    body = _encode(message)
    return len(body).to_bytes(HEADER, "little") + body
