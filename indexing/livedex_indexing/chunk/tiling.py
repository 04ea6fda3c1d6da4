"""Makes whatever a chunker returned cover its text exactly.

Invariant: the tiles in order give the text, nothing doubled and nothing left out; their texts are slices of it; and
none but a text of blanks alone is only blanks, as far as the chunk size allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from chonkie.types import Chunk

from livedex_indexing.chunk.recursive_chunker import TextChunker


class Tile(NamedTuple):
    """``anchor`` is the character where the piece began before blanks were put in front of it."""

    piece: Chunk
    anchor: int


def tile(pieces: Iterable[Chunk], text: str, chunk_size: int) -> list[Tile]:
    """The pieces as tiles of the text. Offsets are believed, texts are not; gaps are filled, overlaps cut off."""
    tiles: list[Tile] = []
    at = 0
    for piece in sorted(pieces, key=lambda one: one.start_index):
        start, end = max(piece.start_index, at), min(piece.end_index, len(text))
        if start >= end:
            continue
        if start > at:
            _fill(tiles, text, at, start, chunk_size)
        _set(piece, text, start, end)
        _put(tiles, piece, text, chunk_size)
        at = end
    if at < len(text):
        _fill(tiles, text, at, len(text), chunk_size)
    return tiles


def _fill(tiles: list[Tile], text: str, start: int, end: int, chunk_size: int) -> None:
    for piece in TextChunker(chunk_size).chunk(text[start:end]):
        _set(piece, text, piece.start_index + start, piece.end_index + start)
        _put(tiles, piece, text, chunk_size)


def _put(tiles: list[Tile], piece: Chunk, text: str, chunk_size: int) -> None:
    """Append a piece; blanks alone go to the piece before, or else to the one after, where they fit."""
    before = tiles[-1].piece if tiles else None
    if before is not None and piece.end_index - before.start_index <= chunk_size:
        if piece.text.isspace():
            _set(before, text, before.start_index, piece.end_index)
            return
        if before.text.isspace():
            tiles.pop()
            anchor = piece.start_index
            _set(piece, text, before.start_index, piece.end_index)
            tiles.append(Tile(piece, anchor))
            return
    tiles.append(Tile(piece, piece.start_index))


def _set(piece: Chunk, text: str, start: int, end: int) -> None:
    piece.start_index, piece.end_index = start, end
    piece.text = text[start:end]
    piece.token_count = end - start
