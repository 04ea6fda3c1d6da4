"""A pattern that matches line by line, as ripgrep does with ``-S --crlf``.

Invariant: no match crosses the end of a line, ``^`` and ``$`` match only at the ends of a line, and the time of a
search grows only with the length of the text (google-re2). Between two stretches of the text, a search can be stopped;
the harder the pattern, the shorter the stretches.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Final, Literal, NamedTuple

import re2

from livedex_indexing.lines.expression import BadPattern, Expression, literal, read, within_words
from livedex_indexing.lines.required_literals import RequiredLiterals, required_literals
from livedex_indexing.query.query_parser import QUERY_BYTES

MOST_PROGRAM: Final = 100_000  # instructions of a compiled pattern
FIRST_STRETCH: Final = 64 << 10  # bytes of the first stretch of an ordinary pattern …
MOST_STRETCH: Final = 1 << 20  # … and of those of a pattern that proved quick
HARD_STRETCH: Final = 16 << 10  # … and of those of a pattern with many instructions, which may still be quick
LEAST_STRETCH: Final = 4 << 10
_LOOK_S: Final = 0.1  # the time between two looks at the clock
_WORST_S: Final = 17e-9

_LONE_RETURN: Final = b"\xff"  # replaces a carriage return inside a line: nothing in UTF-8 matches this byte
_PARTING_RETURN: Final = b"\x1e"  # the same where it must part words, which only a character does

Case = Literal["smart", "ignore", "sensitive"]


class Line(NamedTuple):
    """A line with a match. ``number`` is 1-based; the rest are byte offsets into the text, without the line's end."""

    number: int
    start: int
    end: int
    spans: list[tuple[int, int]]


class Pattern:
    """A compiled pattern. ``required``: what a matching line must contain. Raises BadPattern, which names the fault."""

    def __init__(self, text: str, *, exact: bool, case: Case = "smart", whole_words: bool = False) -> None:
        """``case`` ``smart`` ignores it if ``text`` has no upper-case letter. ``whole_words``: no letter, digit or
        underscore comes before or after a match."""
        expression = _expression(text, exact=exact)
        fold = expression.fold if case == "smart" else case == "ignore"
        self.required: RequiredLiterals = required_literals(expression)
        # A piece of a word, in any case: the words of the index tell which texts without folded letters have it.
        self.word_piece = text.lower() if fold and not whole_words and text.isascii() and text.isalnum() else None
        self._group = 1 if whole_words else 0
        written = within_words(expression) if whole_words else expression.written
        self._compile = partial(_compiled, f"(?m){written}", fold=fold, capture=whole_words)
        if not exact:
            _ = self._compiled  # raises BadPattern

    @cached_property
    def _compiled(self) -> re2._Regexp:
        # On demand: most exact texts that are no line of any file are found not to be one by their words.
        return self._compile()

    @cached_property
    def _pace(self) -> Pace:
        return Pace(self._compiled.programsize)

    def lines(self, text: bytes, reach: int, ended: Callable[[], bool]) -> Iterator[Line]:
        """Yield the matching lines of UTF-8 text, in order. Each has those of its matches that begin within ``reach``
        bytes of the first. Stops when ``ended()``, called after each match and each stretch, is true."""
        subject = _without_returns(text, _PARTING_RETURN if self._group else _LONE_RETURN)
        number, counted = 1, 0
        line: Line | None = None
        for start, end in self._matches(text, subject, reach, ended):
            if line is not None and start > line.end:
                yield line
                line = None
            if line is None:
                begin = text.rfind(b"\n", 0, start) + 1
                number += text.count(b"\n", counted, begin)
                counted = begin
                line = Line(number, begin, _line_end(text, end), [])
            line.spans.append((start, end))
            if ended():
                return
        if line is not None:
            yield line

    def _matches(self, text: bytes, subject: bytes, reach: int, ended: Callable[[], bool]) -> Iterator[tuple[int, int]]:
        """Yield the matches, without overlap; no empty match directly after the previous match or outside of a line.

        Beyond ``reach`` bytes after the first match of a line, no more are looked for: a line may have millions.
        """
        search = self._compiled.search
        at, last = 0, -1
        line_end, within = -1, 0  # of the line of the last match
        while at <= len(subject):
            stretch_end = self._stretch_end(subject, at, ended)
            if stretch_end is None:
                return
            began = time.perf_counter()
            while at <= stretch_end:
                match = search(subject, at, stretch_end)
                if match is None:
                    break
                start, end = match.span(self._group)
                if end > start:
                    at = last = end
                else:
                    at = start + 1
                    while at < len(subject) and subject[at] & 0xC0 == 0x80:  # not into the middle of a character
                        at += 1
                    if start == last or _is_no_place(text, start):
                        continue
                if start > line_end:
                    line_end, within = _line_end(text, end), start + reach
                if start <= within:
                    yield start, end
                if at > within:
                    at = line_end + 1
            at = stretch_end + 1
            if at <= len(subject):
                self._pace.took(time.perf_counter() - began)
                if ended():
                    return

    def _stretch_end(self, subject: bytes, at: int, ended: Callable[[], bool]) -> int | None:
        """Return the end of the line at which the stretch that begins at ``at`` ends; None if the search must stop.

        A line that is longer than a stretch cannot be cut, since a match may be as long as the line. Growing parts of
        it are searched first, only for the time that they take: so a line that takes too long is never begun.
        """
        size = self._pace.stretch
        if at + size >= len(subject):
            return len(subject)
        feed = subject.rfind(b"\n", at, at + size)
        if feed >= 0:
            return feed
        feed = subject.find(b"\n", at + size)
        line_end = feed if feed >= 0 else len(subject)
        while at + size < line_end:
            began = time.perf_counter()
            self._compiled.search(subject, at, at + size)
            seconds = time.perf_counter() - began
            if ended():
                return None
            size *= self._pace.growth(seconds)
        return line_end


class Pace:
    """How much text to search at once, by the size of the program and by how long the last search took.

    Where re2 leaves its automaton, each byte costs up to ``_WORST_S`` for each instruction.
    """

    def __init__(self, program: int) -> None:
        self._most = min(MOST_STRETCH, max(HARD_STRETCH, int(_LOOK_S / (_WORST_S * program))))
        self.stretch = min(self._most, FIRST_STRETCH)

    def took(self, seconds: float) -> None:
        """Note how long a stretch took."""
        if seconds > _LOOK_S:
            self.stretch = max(LEAST_STRETCH, self.stretch // 2)
        elif seconds < _LOOK_S / 8:
            self.stretch = min(self._most, 2 * self.stretch)

    def growth(self, seconds: float) -> int:
        """Return how many times as long as the last part of a long line, which took ``seconds``, the next may be."""
        if seconds > _LOOK_S:
            return 2
        return 4 if self._most < FIRST_STRETCH else 32


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


_LOOK_AROUND = re.compile(r"\(\?<?[=!]")


def _compiled(pattern: str, *, fold: bool, capture: bool = False) -> re2._Regexp:
    options = re2.Options()
    options.never_nl = True  # classes do not contain the line feed
    options.never_capture = not capture
    options.case_sensitive = not fold
    options.log_errors = False
    try:
        compiled = re2.compile(pattern.encode(), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args else "it is too large"
        if _LOOK_AROUND.search(pattern) and "perl operator" in reason:
            reason = "look-around is not supported (RE2 takes linear time because it has none)"
        raise BadPattern(f"the pattern does not compile: {reason}") from None
    finally:
        re2.purge()  # its cache would keep up to 8 MiB for each pattern ever compiled
    if compiled.programsize > MOST_PROGRAM:
        raise BadPattern("the pattern is too large: repeat less, above all classes such as \\w")
    return compiled


def _without_returns(text: bytes, lone: bytes) -> bytes:
    """Return the text at the same length, with two line feeds for CR LF, and ``lone`` for any other CR."""
    if b"\r" not in text:
        return text
    return text.replace(b"\r\n", b"\n\n").replace(b"\r", lone)


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
