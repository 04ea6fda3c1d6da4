"""The lines around a place of a text, in the encoding of its file.

Invariant: offsets are those of the file on disk, whatever part of it was read; a line that goes on outside of that part
is never cut in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from livedex_indexing.text.decoder import decode_slice

CONTEXT_CHARS: Final = 2_000  # of a line before or after the snippet
_LONGEST_CHAR: Final = 4  # bytes


class BeyondPartError(Exception):
    """A line continues outside the part of the file that was read."""


class Lines:
    """The lines around an offset, in the file's encoding. ``data`` is the file's bytes from ``base`` on; the file has
    ``size`` bytes (None: ``data`` reaches its end). All offsets count from the start of the file.

    Of a line, only ``CONTEXT_CHARS`` characters and its end are returned; ``is_cut``: one was longer.
    """

    def __init__(self, data: bytes, encoding: str, base: int = 0, size: int | None = None) -> None:
        self._data = data
        self._encoding = encoding
        self._base = base
        self._size = base + len(data) if size is None else size
        self._feed = b"\n" if encoding == "utf-8" else "\n".encode(encoding)
        find_spans = "\ufeff".encode(encoding) if encoding.startswith("utf") else b""
        self._bom = len(find_spans) if find_spans and not base and data.startswith(find_spans) else 0
        self.is_cut = False

    def bytes_of(self, text: str) -> int:
        """Return how many bytes a slice of the file's text takes on disk."""
        return byte_length(text, self._encoding)

    def column(self, at: int) -> int:
        """Return the column, 1-based, in bytes, without a byte order mark. Raises BeyondPartError."""
        return at - (self._start(at) or min(self._bom, at)) + 1

    def around(self, at: int) -> tuple[str, str | None]:
        """Return the text of a line before ``at``, and the whole line without its end; None for the whole line if it is
        longer than ``CONTEXT_CHARS`` characters. Raises BeyondPartError."""
        start = self._start(at) or min(self._bom, at)
        try:
            end = self._end(at)
        except BeyondPartError:  # more than the bytes that are read around each chunk
            end = self._size
        fits = end - start <= (CONTEXT_CHARS + 2) * _LONGEST_CHAR
        whole = _without_end(self._decoded(start, end)) if fits else None
        return self._decoded(start, at), whole if whole is not None and len(whole) <= CONTEXT_CHARS else None

    def before(self, at: int, count: int) -> str:
        """Return at most ``count`` lines before the line that contains ``at``. Raises BeyondPartError."""
        starts = [self._start(at)]
        while len(starts) <= count and starts[-1]:
            starts.append(self._start(starts[-1] - len(self._feed)))
        if not starts[-1]:
            starts[-1] = min(self._bom, starts[0])
        return self._text(starts[::-1])

    def after(self, at: int, count: int) -> str:
        """Return at most ``count`` lines after the line that contains ``at``. Raises BeyondPartError."""
        ends = [self._end(at)]
        while len(ends) <= count and ends[-1] < self._size:
            ends.append(self._end(ends[-1]))
        return self._text(ends)

    def _text(self, borders: Sequence[int]) -> str:
        """Return the lines between neighbours of ``borders``."""
        if borders[-1] - borders[0] <= CONTEXT_CHARS:  # the usual case: no line can be too long
            return self._decoded(borders[0], borders[-1])
        return "".join(self._line(start, end) for start, end in pairwise(borders))

    def _line(self, start: int, end: int) -> str:
        longest = (CONTEXT_CHARS + 2) * _LONGEST_CHAR  # with the line's end
        text = self._decoded(start, min(end, start + longest))
        whole = _without_end(text) if end - start <= longest else text
        if len(whole) <= CONTEXT_CHARS:
            return text
        self.is_cut = True
        tail = self._decoded(max(start, end - 2 * len(self._feed)), end)
        return text[:CONTEXT_CHARS] + tail[len(_without_end(tail)) :]

    def _decoded(self, start: int, end: int) -> str:
        return decode_slice(self._data, self._encoding, start - self._base, end - self._base)

    def _start(self, at: int) -> int:
        """Return the start of the line that contains ``at``; 0 for the first."""
        width, place = len(self._feed), at - self._base
        found = place
        while (found := self._data.rfind(self._feed, 0, found)) >= 0:
            if (place - found) % width == 0:  # not the second half of one character and the first of the next
                return self._base + found + width
            found += width - 1
        if self._base:
            raise BeyondPartError
        return 0

    def _end(self, at: int) -> int:
        """Return the start of the line after the one that contains ``at``, or the end of the file."""
        width, place = len(self._feed), at - self._base
        found = place
        while (found := self._data.find(self._feed, found)) >= 0:
            if (found - place) % width == 0:
                return self._base + found + width
            found += 1
        if self._base + len(self._data) < self._size:
            raise BeyondPartError
        return self._size


def _without_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def byte_length(text: str, encoding: str) -> int:
    """Return the length in bytes, on disk, of a slice of a decoded file. In cp1252 every byte has one character, even
    a faulty one; elsewhere the character for a fault is as long as its replacement, or the slice is exact."""
    return (
        len(text)
        if encoding == "cp1252" or (text.isascii() and encoding == "utf-8")
        else len(text.encode(encoding, "replace"))
    )
