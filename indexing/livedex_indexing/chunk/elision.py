"""Finds the code whose syntax matters neither for where a file may be cut nor for what is named in it.

Parsing is most of what an index of source code costs, and most of the code stands inside functions. A block that fits
into a chunk is never cut, and in some languages nothing inside a function is a definition: there the parser is spared
what lies between such a block's braces. Of a longer function it needs no more than the semicolons that say where
statements end, some eight of them in a chunk. A long table of numbers is as well cut at its lines.

Invariant: what is left out is balanced in its braces, comments, quotes and conditionals, so that the code around it
means what it meant; in doubt nothing is left out. The work is linear in the text.
"""

from __future__ import annotations

import re
from functools import lru_cache

LANGUAGES = frozenset({"c", "cpp"})

MIN_ELIDED = 32  # bytes; to leave out less costs as much as to parse it
_TABLE = 4  # chunks; a shorter one is packed better by its syntax
_RUNS = 8  # of statements that are left out together, in a chunk
_HEAD = 200  # bytes before a brace that tell what it opens
_DEEPEST = 64  # blanks before a statement
_INDENTS = b" \t"
_STAR = ord("*")
_BLANKS = re.compile(rb"\n*([ \t]*)")
# Lines of numbers, braces and comments. Possessive, so that nothing is tried twice.
_NUMBERS = re.compile(rb"(?:[-+0-9a-fA-FxXuUlL,{}. \t]*+(?:/\*[^*\n]*+\*/[-+0-9a-fA-FxXuUlL,{}. \t]*+)*+\n)*+")
_NOT_BRACES = bytes(set(range(256)) - set(b"{}"))
_CONDITIONAL = re.compile(rb"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)
# What stands before the body of a function or a statement, and before a scope of C++ in which names are looked for.
_RUN = re.compile(rb"(?:\)|\belse|\bdo)\s*(?:(?:const|noexcept|override|final|volatile|&&?)\s*)*\Z")
_SCOPE = re.compile(rb"\b(?:class|struct|union|namespace|extern|enum)\b")


class _Body:
    """A function or a statement in braces that does not fit into a chunk."""

    def __init__(self, indent: bytes, closing: bytes, begin: int) -> None:
        """``indent`` stands before each statement in it; ``closing`` ends it: a line feed, blanks and a brace."""
        self.indent = indent
        self.closing = closing
        self._open_until = begin

    def has_ended(self, data: bytes, at: int) -> bool:
        ended = data.find(self.closing, self._open_until, at) >= 0
        self._open_until = at
        return ended


def elidable_spans(language: str, data: bytes, limit: int) -> list[tuple[int, int]]:
    """Spans of bytes that need no parse, in order and apart from each other. Each begins with a line.

    ``limit`` is the most bytes that a block may have, its braces included, to be left out whole: what fits into one
    chunk. Of a longer one, runs of whole statements are, the last one's semicolon excepted; they are short enough for
    chunks to be filled well. Of a long table of numbers all is left out; it is then cut without its syntax. With a
    limit of 0 nothing is left out.
    """
    found: list[tuple[int, int]] = []
    if language not in LANGUAGES or not limit:
        return found
    bodies: list[_Body] = []  # that `at` stands in, each further to the right than the one before
    at = looked = 0
    begin, end = _comment(data, 0)
    while (brace := data.find(b"{", at)) >= 0:  # a search for one byte is several times as fast as one for two
        at = brace + 1
        if data[at : at + 1] != b"\n":
            continue
        at += 1
        while end <= brace:
            begin, end = _comment(data, end)
        if begin < brace:  # inside a comment: what looks like one within the block may be its end
            continue
        line = data.rfind(b"\n", 0, brace) + 1
        head = data[line:brace].lstrip(_INDENTS)
        if head.startswith(b"#"):
            continue
        if at >= looked:
            numbers = _NUMBERS.match(data, at)
            looked = numbers.end() if numbers else at
            if looked - at > _TABLE * limit and _is_balanced(data[at:looked]):
                found.append((at, looked))
                at = looked
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
    """Leaves out the statements that follow a line which ends at ``at``, as far as the innermost body goes and as it
    has that indentation; the same for the body around it where it ends. Returns what was got through."""
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
    """The end of a statement where another one begins with that indentation. Where a line of a comment or of a loop's
    head looks the same no harm is done: of what is left out the parser sees nothing but semicolons."""
    return re.compile(rb";\n+(?=%b[^ \t\n{}#])(?!%belse\b)" % (indent, indent))


def _leave_out(data: bytes, start: int, end: int, found: list[tuple[int, int]]) -> bool:
    if end - start < MIN_ELIDED or not _is_balanced(data[start:end]):
        return False
    found.append((start, end))
    return True


def _comment(data: bytes, at: int) -> tuple[int, int]:
    """The first comment from ``at`` on, as a span; one behind the end where there is none. What stands in quotes may
    pass for one: then less is left out."""
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
    """Whether the block after ``before`` is none in which definitions are looked for."""
    if language == "c":
        return not before.endswith(b'"')  # extern "C"
    return _RUN.search(before) is not None and _SCOPE.search(before, before.rfind(b"\n") + 1) is None


def _is_balanced(text: bytes) -> bool:
    braces = text.translate(None, _NOT_BRACES)
    while b"{}" in braces:
        braces = braces.replace(b"{}", b"")
    return (
        not braces
        and (b"/" not in text or text.count(b"/*") == text.count(b"*/"))
        and not text.count(b'"') % 2
        and (b"#" not in text or _has_whole_conditionals(text))
    )


def _has_whole_conditionals(text: bytes) -> bool:
    found = _CONDITIONAL.findall(text)
    return found.count(b"if") == found.count(b"endif")
