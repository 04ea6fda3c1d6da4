"""Uses a ``chonkie.Pipeline`` as a Pipeline of livedex.

Invariant: every span is a slice of the text that chonkie says it is; chunks with wrong offsets are an error, not a hit
in the wrong place.
"""

from __future__ import annotations

from typing import Any, Protocol

from livedex_indexing.plugins.plugin_data import Span


class ChonkieRunner(Protocol):
    """The method of ``chonkie.Pipeline`` that is used here."""

    def run(self, *, texts: str) -> Any: ...


class ChonkiePipeline:
    """A Pipeline made of any ``chonkie.Pipeline`` without a fetcher. ``kind``: of all its chunks, None: the file's."""

    def __init__(self, pipeline: ChonkieRunner, *, version: str = "", kind: str | None = None) -> None:
        self.version = version
        self._pipeline = pipeline
        self._kind = kind

    def chunk(self, text: str, suffix: str) -> list[Span]:
        """Return the spans; overlaps are cut off. Raises ValueError if an offset does not fit its chunk's text."""
        if not text:
            return []
        spans: list[Span] = []
        at = 0
        for piece in sorted(self._pipeline.run(texts=text).chunks, key=lambda one: (one.start_index, one.end_index)):
            start, end = piece.start_index, piece.end_index
            if not 0 <= start <= end <= len(text) or text[start:end] != piece.text:
                raise ValueError(f"the chunk at {start} to {end} is not that part of the text")
            if end > max(start, at):
                spans.append(Span(max(start, at), end, self._kind))
                at = end
        return spans
