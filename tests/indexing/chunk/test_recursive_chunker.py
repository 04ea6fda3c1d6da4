"""Plain text is cut at the best boundary: never inside a line, or a word, that would fit into a chunk."""

from __future__ import annotations

import pytest

from livedex_indexing.chunk.recursive_chunker import TextChunker

SIZE = 256


@pytest.mark.parametrize("length", range(1, 40))
def test_lines_are_kept_whole_however_short(length: int) -> None:
    text = ("w" * length + "\n") * 500
    chunks = TextChunker(SIZE).chunk(text)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(chunk.text.endswith("\n") and len(chunk.text) <= SIZE for chunk in chunks)


@pytest.mark.parametrize("length", range(1, 40))
def test_words_are_kept_whole_however_short(length: int) -> None:
    text = ("w" * length + " ") * 500
    chunks = TextChunker(SIZE).chunk(text)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(chunk.text.endswith(" ") and len(chunk.text) <= SIZE for chunk in chunks)


def test_a_run_of_short_lines_among_long_ones() -> None:
    text = "a line that is long enough to stand alone\n" * 20 + "ab cd\n" * 300 + "and one more line at the end\n" * 20
    assert all(chunk.text.endswith("\n") for chunk in TextChunker(SIZE).chunk(text))
