"""Make the pieces of any chunker cover their text exactly.

Invariant: the tiles in order give the text, without duplicates or gaps; their texts are slices of it. As far as the
chunk size allows, no tile is only blanks unless the whole text is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from chonkie.types import Chunk

from livedex_indexing.chunk.recursive_chunker import TextChunker


class Tile(NamedTuple):
    """A piece of the text. ``anchor`` is the character where it began before blanks were added in front."""

    piece: Chunk
    anchor: int


def tile(pieces: Iterable[Chunk], text: str, chunk_size: int) -> list[Tile]:
    """Return the pieces as tiles of the text. Trust their offsets, not their texts; fill gaps, cut off overlaps."""
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
    """Append a piece. Blanks alone join the previous piece, or else the next one, if they fit."""
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
