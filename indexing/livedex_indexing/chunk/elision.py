"""Finds C and C++ code that the parser can skip: it affects neither where a file may be cut nor what is named in it.

Parsing is most of the cost of indexing source code, and most code is inside functions. No definition is looked for
inside a function, and a block that fits into one chunk is never cut. So the parser does not need to see it. With a
chunk size (``limit``) of 2,048 bytes, the lines marked ``|`` are left out and the parser sees ``int total(…) {}``::

    int total(const int *values, int count)
    {
  |     int sum = 0;
  |     for (int i = 0; i < count; i++)
  |         sum += values[i];
  |     return sum;
    }

A function that is longer than a chunk must be cut, and it is cut between statements. The parser then needs to see some
ends of statements, about eight per chunk (`_RUNS`). With a limit of 512 bytes and 24 such calls, pairs of statements
are left out, each pair without its last semicolon. The parser sees ``void all(…) { ; ; ; }``::

    void all(int *values, int count)
    {
  |     step_00(values, count);
  |     step_01(values, count)
    ;
  |     step_02(values, count);
  |     step_03(values, count)
    ;
        …
    }

A table of numbers longer than four chunks is left out whole: it is cut at its lines instead.

Invariant: what is left out is balanced in its braces, comments, quotes and conditionals, so that the code around it
keeps its meaning; in doubt nothing is left out. The work is linear in the text.
"""

from __future__ import annotations

import re
from functools import lru_cache

LANGUAGES = frozenset({"c", "cpp"})

MIN_ELIDED = 32  # bytes; leaving out fewer costs as much as parsing them
_TABLE = 4  # chunks; a shorter one is packed better by its syntax
_RUNS = 8  # spans of statements left out per chunk
_HEAD = 200  # bytes before a brace, enough to tell what it opens
_DEEPEST = 64  # blanks before a statement
_INDENTS = b" \t"
_STAR = ord("*")
_BLANKS = re.compile(rb"\n*([ \t]*)")
# Lines of numbers, braces and comments. Possessive, so that nothing is tried twice.
_NUMBERS = re.compile(rb"(?:[-+0-9a-fA-FxXuUlL,{}. \t]*+(?:/\*[^*\n]*+\*/[-+0-9a-fA-FxXuUlL,{}. \t]*+)*+\n)*+")
_NOT_BRACES = bytes(set(range(256)) - set(b"{}"))
_QUOTED = re.compile(rb"""'[{}]'|"(?:\\.|[^"\\\n])*+\"""")  # quotes with text of any kind, or with one brace
_CONDITIONAL = re.compile(rb"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)
# What precedes the body of a function or a statement, and what precedes a scope of C++ that may define names.
_RUN = re.compile(rb"(?:\)|\belse|\bdo)\s*(?:(?:const|noexcept|override|final|volatile|&&?)\s*)*\Z")
_SCOPE = re.compile(rb"\b(?:class|struct|union|namespace|extern|enum)\b")


class _Body:
    """The body of a function or statement in braces that does not fit into a chunk."""

    def __init__(self, indent: bytes, closing: bytes, begin: int) -> None:
        """``indent`` precedes each of its statements; ``closing`` ends it: a line feed, blanks and a brace."""
        self.indent = indent
        self.closing = closing
        self._open_until = begin

    def has_ended(self, data: bytes, at: int) -> bool:
        ended = data.find(self.closing, self._open_until, at) >= 0
        self._open_until = at
        return ended


def elidable_spans(language: str, data: bytes, limit: int) -> list[tuple[int, int]]:
    """Return the spans of bytes that need no parse, in order and disjoint. Each starts at the start of a line.

    ``limit`` is the chunk size in bytes. A block of at most that size, braces included, is left out whole. From a
    longer block, runs of whole statements are left out, except the last semicolon of each run; the runs are short
    enough for chunks to fill up well. A long table of numbers is left out whole and cut without its syntax. With a
    limit of 0 nothing is left out.
    """
    found: list[tuple[int, int]] = []
    if language not in LANGUAGES or not limit:
        return found
    bodies: list[_Body] = []  # around `at`, outermost first, each indented further than the one before
    at = scanned = 0
    begin, end = _comment(data, 0)
    while (brace := data.find(b"{", at)) >= 0:  # searching for one byte is several times as fast as for two
        at = brace + 1
        if data[at : at + 1] != b"\n":
            continue
        at += 1
        while end <= brace:
            begin, end = _comment(data, end)
        if begin < brace:  # inside a comment: a comment in the block may be the end of this one
            continue
        line = data.rfind(b"\n", 0, brace) + 1
        head = data[line:brace].lstrip(_INDENTS)
        if head.startswith(b"#"):
            continue
        if at >= scanned:
            numbers = _NUMBERS.match(data, at)
            scanned = numbers.end() if numbers else at
            if scanned - at > _TABLE * limit and _is_balanced(data[at:scanned]):
                found.append((at, scanned))
                at = scanned
                continue
        before = data[max(0, brace - _HEAD) : brace].rstrip()
        if not _defines_no_names(language, before):
            continue
        indent = data[line : brace - len(head)]
        while bodies and bodies[-1].has_ended(data, brace):
            bodies.pop()
        closing = b"\n" + indent + b"}"
        last = data.find(closing, at - 1, line + limit) + 1  # the line feed after the brace ends an empty block
        if last and _leave_out(data, at, last, found):
            at = _statements(data, last + len(indent) + 1, bodies, indent, limit, found)
        elif not last and _RUN.search(before) is not None:
            inner = _BLANKS.match(data, at)[1]  # type: ignore[index]  # it matches everywhere
            if len(indent) < len(inner) <= _DEEPEST:
                while bodies and len(bodies[-1].indent) >= len(inner):
                    bodies.pop()
                bodies.append(_Body(inner, closing, at))
                at = _statements(data, at - 1, bodies, inner, limit, found)
    return found


def _statements(
    data: bytes, at: int, bodies: list[_Body], indent: bytes, limit: int, found: list[tuple[int, int]]
) -> int:
    """Leave out statements after the line that ends at ``at``, while they belong to the innermost body and have its
    indentation. Where that body ends, continue with the body around it. Return the offset reached."""
    while bodies and bodies[-1].indent == indent and data[at : at + 1] == b"\n":
        start, border = at + 1, None
        for end in _borders(indent).finditer(data, start, start + limit):
            if border is not None and end.start() - start > limit // _RUNS:
                break
            border = end
        stop = border.start() if border is not None else start + limit
        closing = bodies[-1].closing
        closed = data.find(closing, at, stop)
        if closed >= 0 and _leave_out(data, start, closed + 1, found):
            bodies.pop()
            indent = closing[1:-1]
            at = closed + len(closing)
        elif closed < 0 and border is not None and _leave_out(data, start, stop, found):
            at = border.end() - 1
        else:
            break
    return at


@lru_cache(maxsize=256)
def _borders(indent: bytes) -> re.Pattern[bytes]:
    """Match the end of a statement that is followed by another with this indentation. A line of a comment or of a loop
    head may look the same; that does no harm, because the parser sees only semicolons of what is left out."""
    return re.compile(rb";\n+(?=%b[^ \t\n{}#])(?!%belse\b)" % (indent, indent))


def _leave_out(data: bytes, start: int, end: int, found: list[tuple[int, int]]) -> bool:
    if end - start < MIN_ELIDED or not _is_balanced(data[start:end]):
        return False
    found.append((start, end))
    return True


def _comment(data: bytes, at: int) -> tuple[int, int]:
    """Return the span of the first comment from ``at`` on; a span past the end if there is none. Text in quotes may be
    taken for a comment: then less is left out."""
    begin = data.find(b"/", at)
    while begin >= 0 and data[begin + 1 : begin + 2] != b"*":
        begin = data.find(b"/", begin + 1)
    if begin < 0:
        return len(data), len(data) + 1
    last = data.find(b"/", begin + 3)
    while last >= 0 and data[last - 1] != _STAR:
        last = data.find(b"/", last + 1)
    return begin, len(data) if last < 0 else last + 1


def _defines_no_names(language: str, before: bytes) -> bool:
    """Whether no definition is looked for in the block that follows ``before``."""
    if language == "c":
        return not before.endswith(b'"')  # extern "C"
    return _RUN.search(before) is not None and _SCOPE.search(before, before.rfind(b"\n") + 1) is None


def _is_balanced(text: bytes) -> bool:
    return (
        _has_balanced_braces(text)
        and (b"/" not in text or text.count(b"/*") == text.count(b"*/"))
        and not text.count(b'"') % 2
        and (b"#" not in text or _has_whole_conditionals(text))
    )


def _has_balanced_braces(text: bytes) -> bool:
    braces = text.translate(None, _NOT_BRACES)
    quoted = bool(braces) and (b'"' in text or b"'" in text)
    while b"{}" in braces:
        braces = braces.replace(b"{}", b"")
    return not braces and (not quoted or _has_balanced_braces(_QUOTED.sub(b" ", text).translate(None, b"\"'")))


def _has_whole_conditionals(text: bytes) -> bool:
    found = _CONDITIONAL.findall(text)
    return found.count(b"if") == found.count(b"endif")
