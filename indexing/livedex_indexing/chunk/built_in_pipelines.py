"""The built-in pipelines as plugins see them: under their names in the registry, with spans of a text as their result.

Invariant: the spans tile the text, and are those of a file that has this text and is indexed. The chunker is imported
only when a text is cut: the daemon itself never cuts one.
"""

from __future__ import annotations

from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.plugins import Registrar, Span


class BuiltInPipeline:
    """A Pipeline by its name: ``markdown``, ``code`` or ``plain``. A plugin may delegate to one."""

    def __init__(self, name: str, chunk_size: int = 2048) -> None:
        self._name = name
        self._chunk_size = chunk_size

    def chunk(self, text: str, suffix: str) -> list[Span]:
        """Return the spans of a text; ``suffix``, with its dot, tells the language of code."""
        from livedex_indexing.chunk.chunker import chunk_content

        settings = ChunkSettings(chunk_size=self._chunk_size, overlap=0, pipelines={suffix.lower(): self._name})
        content = chunk_content(text.encode("utf-8"), b"text" + suffix.encode(), settings)
        spans: list[Span] = []
        at = 0
        for one in content.chunks:
            spans.append(Span(at, at + len(one.text), one.kind, one.metadata))
            at += len(one.text)
        if at != len(text):
            raise ValueError(f"a text of {len(text)} characters was decoded as {at}")
        return spans


def register(registry: Registrar) -> None:
    """Register the built-in pipelines, so that no plugin can take their names."""
    for name in chunk_plan.PIPELINES:
        registry.register_pipeline(name, lambda _config, name=name: BuiltInPipeline(name))  # type: ignore[misc]
