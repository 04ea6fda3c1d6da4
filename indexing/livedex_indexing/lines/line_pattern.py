"""A pattern that matches line by line, as ripgrep does with ``-S --crlf``.

Invariant: no match crosses the end of a line, ``^`` and ``$`` match only at the ends of a line, and the time of a
search grows only with the length of the text (google-re2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import re2

from livedex_indexing.lines.expression import BadPattern, Expression, literal, read
from livedex_indexing.lines.required_literals import RequiredLiterals, required_literals
from livedex_indexing.query.query_parser import QUERY_BYTES

_LONE_RETURN: Final = b"\xff"  # replaces a carriage return inside a line: nothing in UTF-8 matches this byte


class Line(NamedTuple):
    """A line with a match. ``number`` is 1-based; the rest are byte offsets into the text, without the line's end."""

    number: int
    start: int
    end: int
    spans: list[tuple[int, int]]


class Pattern:
    """A compiled pattern. ``required``: what a matching line must contain. Raises BadPattern, which names the fault."""

    def __init__(self, text: str, *, exact: bool) -> None:
        expression = _expression(text, exact=exact)
        self.required: RequiredLiterals = required_literals(expression)
        self._search = _compiled(f"(?m){expression.written}", fold=expression.fold).search

    def lines(self, text: bytes, reach: int, ended: Callable[[], bool]) -> Iterator[Line]:
        """Yield the matching lines of UTF-8 text, in order. Each has those of its matches that begin within ``reach``
        bytes of the first. Stops when ``ended()``, called after each match, is true."""
        number, counted = 1, 0
        line: Line | None = None
        for start, end in self._matches(text):
            if line is not None and start > line.end:
                yield line
                line = None
            if line is None:
                begin = text.rfind(b"\n", 0, start) + 1
                number += text.count(b"\n", counted, begin)
                counted = begin
                line = Line(number, begin, _line_end(text, end), [])
            if start <= line.spans[0][0] + reach if line.spans else True:
                line.spans.append((start, end))
            if ended():
                return
        if line is not None:
            yield line

    def _matches(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield all matches, without overlap; no empty match directly after the previous match or outside of a line."""
        subject = _without_returns(text)
        at, last = 0, -1
        while at <= len(subject):
            match = self._search(subject, at)
            if match is None:
                return
            start, end = match.span()
            if end > start:
                yield start, end
                at = last = end
                continue
            if start != last and not _is_no_place(text, start):
                yield start, end
            at = start + 1
            while at < len(subject) and subject[at] & 0xC0 == 0x80:  # not into the middle of a character
                at += 1


def _expression(text: str, *, exact: bool) -> Expression:
    if not text:
        raise BadPattern("an empty pattern matches every line: give some text")
    try:
        if len(text.encode()) > QUERY_BYTES:
            raise BadPattern(f"a pattern has at most {QUERY_BYTES} bytes")
    except UnicodeEncodeError:
        raise BadPattern("half of a surrogate pair is not a character") from None
    if exact:
        return literal(text)
    _compiled(text, fold=False)  # so that an error message refers to the pattern as typed
    return read(text)


def _compiled(pattern: str, *, fold: bool) -> re2._Regexp:
    options = re2.Options()
    options.never_nl = True  # classes do not contain the line feed
    options.never_capture = True
    options.case_sensitive = not fold
    options.log_errors = False
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args else "it is too large"
        raise BadPattern(f"the pattern does not compile: {reason}") from None
    finally:
        re2.purge()  # its cache would keep up to 8 MiB for each pattern ever compiled


def _without_returns(text: bytes) -> bytes:
    """Return the text at the same length, with two line feeds for CR LF, and a byte that no pattern matches for any
    other CR."""
    if b"\r" not in text:
        return text
    return text.replace(b"\r\n", b"\n\n").replace(b"\r", _LONE_RETURN)


def _line_end(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    if end < 0:
        return len(text)
    return end - 1 if end > at and text[end - 1] == 0x0D else end


def _is_no_place(text: bytes, at: int) -> bool:
    """Whether an empty match cannot be at an offset: between CR and LF, and after the end of the last line, there is no
    line."""
    if at == len(text):
        return text.endswith(b"\n") or not text
    return text[at : at + 1] == b"\n" and text[at - 1 : at] == b"\r" if at else False
