"""Makes hits of matching lines.

Invariant: a hit's bytes are the line's on disk, whatever the file's encoding, and its snippet is cut from that line.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from livedex_indexing.hits.hit import Explanation, Hit, ScorePart
from livedex_indexing.hits.hit_builder import Style, chunk_fields, file_fields, first_line
from livedex_indexing.hits.live_files import FileCopy
from livedex_indexing.hits.text_lines import Lines, byte_length
from livedex_indexing.lines.line_pattern import Line
from livedex_indexing.query.highlight import Span
from livedex_indexing.store.row_types import ChunkRow, ContentRow

_BOM_BYTES: Final = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}  # bytes of the byte order mark
_SHOWN_BEFORE: Final = 4  # in a long line, one part in this many of the snippet precedes the match


class FileText:
    """The bytes of a file and, in ``text``, the same text in UTF-8 without the byte order mark."""

    def __init__(self, data: bytes, encoding: str) -> None:
        self.data = data
        self.encoding = encoding
        utf8_bom = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        self._bom = _BOM_BYTES.get(encoding, utf8_bom)
        body = data[self._bom :] if self._bom else data
        self.text = body if encoding == "utf-8" else body.decode(encoding, "replace").encode("utf-8", "replace")
        self._known = (0, self._bom)  # an offset in the text, and the same place on disk

    def on_disk(self, at: int) -> int:
        """Convert an offset in the text to one in the file. Fast for ascending offsets."""
        if self.encoding == "utf-8":
            return at + self._bom
        before, byte = self._known if self._known[0] <= at else (0, self._bom)
        self._known = at, byte + byte_length(self.text[before:at].decode(), self.encoding)
        return self._known[1]


class Place(NamedTuple):
    """A matching line in one file."""

    copy: FileCopy
    content: ContentRow
    chunk: ChunkRow
    file: FileText
    line: Line


def chunk_at(chunks: Sequence[ChunkRow], file: FileText, line: Line) -> ChunkRow | None:
    """Return the chunk in which the line's first match begins, None if it is in none. ``chunks`` are in order."""
    at = min(file.on_disk(line.spans[0][0]), len(file.data) - 1)
    place = bisect_right(chunks, at, key=attrgetter("start_byte")) - 1
    return chunks[place] if place >= 0 and at < chunks[place].end_byte else None


def hit_of(place: Place, roots: Mapping[int, bytes], style: Style) -> Hit:
    """Return the hit of a line. Its highlights may be empty spans, if the pattern matches the empty string."""
    file, line = place.file, place.line
    text, spans = _decoded(file.text, line)
    left, right = _window(len(text), spans[0], style.max_snippet_chars)
    start, end = file.on_disk(line.start), file.on_disk(line.end)
    lines = Lines(file.data, file.encoding) if style.context_lines else None
    return Hit(
        **file_fields(place.copy, place.content, roots),
        **chunk_fields(place.content, place.chunk, start),
        start_line=line.number,
        end_line=line.number,
        start_column=byte_length(text[: spans[0][0]], file.encoding) + 1,
        start_byte=start,
        end_byte=end,
        score=1.0,
        snippet=text[left:right],
        snippet_line=line.number,
        snippet_byte=start + byte_length(text[:left], file.encoding),
        highlights=[(max(a, left) - left, min(b, right) - left) for a, b in spans if _is_shown((a, b), (left, right))],
        **first_line(line.number, text[: spans[0][0]], text, text[left:right]),
        context_before=None if lines is None else lines.before(start, style.context_lines),
        context_after=None if lines is None else lines.after(end, style.context_lines),
        context_cut=True if lines is not None and lines.is_cut else None,
        explain=Explanation(1.0, [ScorePart("match", 1.0)]) if style.explain else None,
    )


def _is_shown(span: Span, window: Span) -> bool:
    """Whether a part of a span is in the window; an empty one may lie on its borders."""
    (a, b), (left, right) = span, window
    return left <= a <= right if a == b else a < right and b > left


def _decoded(text: bytes, line: Line) -> tuple[str, list[Span]]:
    """Return a line and its matches in characters."""
    whole = text[line.start : line.end]
    if whole.isascii():
        return whole.decode(), [(a - line.start, b - line.start) for a, b in line.spans]
    spans: list[Span] = []
    chars, at = 0, line.start
    for start, end in line.spans:
        first = chars + len(text[at:start].decode())
        chars, at = first + len(text[start:end].decode()), end
        spans.append((first, chars))
    return whole.decode(), spans


def _window(length: int, first: Span, chars: int) -> Span:
    """Return the part of a line to show: all of it, or ``chars`` characters around its first match."""
    if length <= chars:
        return 0, length
    before = max(0, min(chars // _SHOWN_BEFORE, chars - (first[1] - first[0])))
    left = max(0, min(first[0] - before, length - chars))
    return left, left + chars
