"""The messages between the daemon and its chunk process, as bytes on two pipes.

Invariant: a frame is a length (4 bytes, little-endian), a kind (1 byte) and a msgpack body. Each job frame gets exactly
one result frame, in order. The first frame of a child says that it is ready.
"""

from __future__ import annotations

import msgspec

from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.model import ChunkedContent

HEADER = 5  # bytes before a body
JOB = 0
CONTENT = 1
FAILURE = 2
READY = 3  # sent once, after the child's imports; the body is its ``code_version``
READY_BYTES = 64  # no body of READY is longer


class ChunkJob(msgspec.Struct, frozen=True, array_like=True):
    """One file to cut. ``name`` is its last path component; the name and the bytes decide the plan.

    ``is_converted``: the bytes are the Markdown that a parser made of a document.
    """

    name: bytes
    data: bytes
    settings: ChunkSettings
    is_converted: bool = False


class ChunkFailure(msgspec.Struct, frozen=True, array_like=True):
    """Why a file was not cut. ``stage`` is ``parse`` or ``chunk``; ``message`` quotes no text of the file."""

    stage: str
    message: str


_encoder = msgspec.msgpack.Encoder()
_job = msgspec.msgpack.Decoder(ChunkJob)
_content = msgspec.msgpack.Decoder(ChunkedContent)
_failure = msgspec.msgpack.Decoder(ChunkFailure)
_version = msgspec.msgpack.Decoder(bytes)


def frame(kind: int, message: object) -> bytearray:
    """Return a message as the bytes of its frame."""
    out = bytearray(HEADER)
    _encoder.encode_into(message, out, HEADER)
    out[:4] = (len(out) - HEADER).to_bytes(4, "little")
    out[4] = kind
    return out


def split_header(header: bytes | bytearray | memoryview) -> tuple[int, int]:
    """Return the body length (bytes) and the kind."""
    return int.from_bytes(header[:4], "little"), header[4]


def read_job(body: bytes | bytearray | memoryview) -> ChunkJob:
    return _job.decode(body)


def read_result(kind: int, body: bytes | bytearray | memoryview) -> ChunkedContent | ChunkFailure:
    """Decode a result. Raise msgspec.MsgspecError if the body does not fit its kind."""
    if kind == CONTENT:
        return _content.decode(body)
    if kind == FAILURE:
        return _failure.decode(body)
    raise msgspec.DecodeError(f"no result: {kind}")


def read_version(body: bytes | bytearray | memoryview) -> bytes | None:
    """Decode the body of READY; None if it has no version."""
    try:
        return _version.decode(body)
    except msgspec.MsgspecError:
        return None
