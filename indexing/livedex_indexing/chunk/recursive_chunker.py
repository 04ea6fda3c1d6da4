"""Cut plain text at paragraphs, then lines, sentences and words: chonkie's RecursiveChunker, made exact and bounded.

Invariant: the chunks tile the text, none is longer than the chunk size, and memory and time grow only with the length
of the text, whatever its content.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from chonkie.chunker.recursive import RecursiveChunker
from chonkie.pipeline import chunker
from chonkie.tokenizer import Tokenizer
from chonkie.types import Chunk, RecursiveLevel, RecursiveRules

# The library keeps each level's splits of a whole text in memory at once, so it gets the text in stretches of this many
# characters (a 50 MB line then costs a few MB more than itself).
_STRETCH = 64 * 1024
# The library joins splits shorter than this until one is not. A run of short lines would become one split of any
# length, then be cut anywhere, even inside words. With one character it joins none.
_MIN_SPLIT = 1

# As unique as the library's own ids, but without a random number, and so a system call, for each.
_ids = map("chnk_%032x".__mod__, count(secrets.randbits(120)))

RULES = RecursiveRules(
    levels=[
        RecursiveLevel(delimiters=["\n\n", "\r\n\r\n"]),
        RecursiveLevel(delimiters=["\n", "\r"]),
        RecursiveLevel(delimiters=[". ", "! ", "? ", "。", "！", "？"]),
        RecursiveLevel(delimiters=[";", ",", "{", "}", ")", "]", ">", "|", ":"]),
        RecursiveLevel(whitespace=True),
        RecursiveLevel(),
    ]
)


def piece(text: str, start: int, metadata: dict[str, Any] | None = None) -> Chunk:
    """Return a chonkie chunk that begins at character ``start``."""
    size = len(text)
    metadata = {} if metadata is None else metadata
    return Chunk(next(_ids), text, start, start + size, size, None, None, metadata)


class CharacterTokenizer(Tokenizer):
    """One token per code point. The library's own tokenizer grows a vocabulary shared between threads."""

    def __init__(self) -> None:
        """Skip the base class's vocabulary: a code point needs none."""

    def __repr__(self) -> str:
        return "CharacterTokenizer()"

    def tokenize(self, text: str) -> Sequence[str]:
        return list(text)

    def encode(self, text: str) -> Sequence[int]:
        return list(map(ord, text))

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))

    def count_tokens(self, text: str) -> int:
        return len(text)


@chunker("livedex_text")
class TextChunker(RecursiveChunker):
    """``RecursiveChunker`` over characters with livedex's rules. ``chunk_size`` is in characters."""

    def __init__(self, chunk_size: int = 2048) -> None:
        super().__init__(
            tokenizer=CharacterTokenizer(),
            chunk_size=chunk_size,
            rules=RULES,
            min_characters_per_chunk=_MIN_SPLIT,
        )

    def _estimate_token_count(self, text: str) -> int:  # type: ignore[override]
        # The library would cache this by text forever: 4,096 strings of any length.
        return len(text)

    def _make_chunks(self, text: str, _token_count: int, _level: int, start_offset: int) -> Chunk:
        return piece(text, start_offset)

    def chunk(self, text: str) -> list[Chunk]:
        """Return chunks with character offsets; none for an empty text."""
        size = self.chunk_size
        if len(text) <= size:
            return [piece(text, 0)] if text else []
        chunks: list[Chunk] = []
        for start, end in _stretches(text, max(_STRETCH, 4 * size)):
            chunks += self._recursive_chunk(text[start:end], 0, start)
        return chunks


def _stretches(text: str, length: int) -> Iterator[tuple[int, int]]:
    """Yield spans of at most ``length`` characters that tile the text. Cut after a blank line or a line if possible."""
    start = 0
    while len(text) - start > length:
        end = text.rfind("\n\n", start + length // 2, start + length) + 2
        if end == 1:
            end = text.rfind("\n", start, start + length) + 1 or start + length
        yield start, end
        start = end
    yield start, len(text)
