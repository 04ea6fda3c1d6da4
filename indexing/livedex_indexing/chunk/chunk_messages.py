"""What the daemon and its chunk process say to each other, as bytes on two pipes.

Invariant: a frame is a length (4 bytes, little-endian), a kind (1 byte) and a msgpack body; one job frame is answered
by exactly one result frame, in order, and the first frame of a child says that it is ready.
"""

from __future__ import annotations

import msgspec

from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.model import ChunkedContent

HEADER = 5  # bytes before a body
JOB = 0
CONTENT = 1
FAILURE = 2
READY = 3  # sent once, with an empty body, when the child has imported all it needs


class ChunkJob(msgspec.Struct, frozen=True, array_like=True):
    """One file to cut. ``name`` is its last path component: it and the bytes decide the plan."""

    name: bytes
    data: bytes
    settings: ChunkSettings


class ChunkFailure(msgspec.Struct, frozen=True, array_like=True):
    """Why a file was not cut. ``stage`` is ``parse`` or ``chunk``; ``message`` holds no text of the file."""

    stage: str
    message: str


_encoder = msgspec.msgpack.Encoder()
_job = msgspec.msgpack.Decoder(ChunkJob)
_content = msgspec.msgpack.Decoder(ChunkedContent)
_failure = msgspec.msgpack.Decoder(ChunkFailure)


def frame(kind: int, message: object) -> bytearray:
    """A message as the bytes that go over the pipe."""
    out = bytearray(HEADER)
    _encoder.encode_into(message, out, HEADER)
    out[:4] = (len(out) - HEADER).to_bytes(4, "little")
    out[4] = kind
    return out


def split_header(header: bytes | bytearray | memoryview) -> tuple[int, int]:
    """Body length and kind."""
    return int.from_bytes(header[:4], "little"), header[4]


def read_job(body: bytes | bytearray | memoryview) -> ChunkJob:
    return _job.decode(body)


def read_result(kind: int, body: bytes | bytearray | memoryview) -> ChunkedContent | ChunkFailure:
    """Raises msgspec.MsgspecError when the body is not what its kind says."""
    return _content.decode(body) if kind == CONTENT else _failure.decode(body)
