"""Bytes become text here, and a place in the text becomes a place in the bytes again.

Invariant: decoding changes nothing but the alphabet. Line ends, NULs and form feeds stay; a byte order mark is the one
thing left out, and every character knows the bytes it came from.
"""

from __future__ import annotations

import codecs
from array import array
from typing import NamedTuple

from livedex_indexing.text.encoding_detection import REFUSED, detect

VERSION = 2  # of the rules below: a change re-reads every file
BINARY_HEAD = 8192  # bytes looked at for a NUL

# UTF-32 first: its little-endian mark begins with UTF-16's.
_WIDE_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LAST_RESORT = "cp1252"
_PLAIN = "\n\r\t !\"#%&'()*+,-./0123456789:;<=>?ABCXYZ_abcxyz"  # what is the same in every encoding that may be named


def codec_name(name: str) -> str | None:
    """Return Python's name of an encoding that may be named for files; None if it is unknown, or if a slice of a text
    does not decode by itself (a shift state, or two and four bytes a character without a mark)."""
    try:
        found = codecs.lookup(name)
        is_plain = _PLAIN.encode(name) == _PLAIN.encode("ascii") and _PLAIN.encode("ascii").decode(name) == _PLAIN
    except (LookupError, ValueError):
        return None
    return found.name if is_plain and not found.name.replace("-", "_").startswith(REFUSED) else None


class Decoded(NamedTuple):
    """A file's text. ``encoding`` is a stateless codec without a mark, so that any slice between characters decodes.

    ``lossy`` says that some bytes had no character. ``bom_bytes`` is the length of the mark before the text.
    ``starts`` is None unless encoding the text again would give other bytes: then it holds the offset of each
    character and, last, the end.
    """

    text: str
    encoding: str
    lossy: bool
    bom_bytes: int
    starts: array[int] | None = None


def is_binary(head: bytes) -> bool:
    """Whether a file that begins with ``head`` (its first 8 KiB, or all of it) is no text."""
    head = head[:BINARY_HEAD]
    return b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))


def decode(data: bytes, encoding: str = "") -> Decoded:
    """The text of a file: UTF-8, what its byte order mark says, ``encoding`` if it decodes all of it, what detection
    says, or cp1252 with replacements."""
    for bom, wide in _WIDE_BOMS:
        if data.startswith(bom):
            found = _decode_wide(data, bom, wide)
            if found is not None:
                return found
    bom_bytes = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    body = data[bom_bytes:] if bom_bytes else data
    try:
        return Decoded(body.decode("utf-8"), "utf-8", False, bom_bytes)
    except UnicodeDecodeError:
        pass
    named = _decode_exactly(body, encoding, bom_bytes) if encoding else None
    if named is not None:
        return named
    encoding_found = detect(body)
    if encoding_found is not None:
        exact = _decode_exactly(body, encoding_found, bom_bytes)
        if exact is not None:
            return exact
    return Decoded(body.decode(_LAST_RESORT, "replace"), _LAST_RESORT, True, bom_bytes)


def decode_slice(data: bytes, encoding: str, start: int, end: int) -> str:
    """The text of bytes ``start`` to ``end``, both between characters, in an encoding that ``decode`` named."""
    return data[start:end].decode(encoding, "replace")


def byte_ends(decoded: Decoded, pieces: list[str], size: int) -> list[int]:
    """Where each of the pieces that make up the text ends in the file's ``size`` bytes."""
    ends: list[int] = []
    at = decoded.bom_bytes
    if decoded.starts is not None:
        chars = 0
        for piece in pieces:
            chars += len(piece)
            ends.append(at + decoded.starts[chars])
        return ends
    width = _fixed_width(decoded)
    for piece in pieces:
        at += len(piece) * width if width else len(piece.encode(decoded.encoding))
        ends.append(at)
    if ends:
        ends[-1] = size  # a last character cut short stands for fewer bytes than its replacement would take
    return ends


def _fixed_width(decoded: Decoded) -> int:
    """Bytes a character takes, 0 where that differs from one to the next."""
    if decoded.encoding.startswith("utf-32"):
        return 4
    if decoded.encoding.startswith("utf-16"):
        return 0
    return 1 if decoded.encoding == _LAST_RESORT or decoded.text.isascii() else 0


def _decode_wide(data: bytes, bom: bytes, encoding: str) -> Decoded | None:
    body = data[len(bom) :]
    try:
        return Decoded(body.decode(encoding), encoding, False, len(bom))
    except UnicodeDecodeError:
        if bom == codecs.BOM_UTF32_LE and body:
            return None  # far likelier UTF-16 that begins with a NUL
        return Decoded(body.decode(encoding, "replace"), encoding, True, len(bom))


def _decode_exactly(body: bytes, encoding: str, bom: int) -> Decoded | None:
    """The text if all of it decodes and each character's bytes are known, else None."""
    try:
        text = body.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None
    try:
        if text.encode(encoding) == body:
            return Decoded(text, encoding, False, bom)
    except UnicodeEncodeError:
        pass
    # Two byte sequences for one character (cp932 has some): ask the decoder byte by byte where each one begins.
    starts = array("Q", [0])
    decoder = codecs.getincrementaldecoder(encoding)()
    for end in range(1, len(body) + 1):
        made = decoder.decode(body[end - 1 : end])
        if len(made) == 1:
            starts.append(end)
        elif made:
            return None  # two characters from one sequence: no byte lies between them
    return Decoded(text, encoding, False, bom, starts)
