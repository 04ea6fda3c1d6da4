"""Finds the blocks of code whose inside changes neither where a file is cut nor what is named in it.

Parsing is most of what an index of source code costs, and most of the code stands inside functions. A block that fits
into a chunk is never cut, and in some languages nothing inside a function is a definition: there the parser is spared
what lies between such a block's braces. A long table of numbers is as well cut at its lines.

Invariant: what is left out is balanced in its braces, comments, quotes and conditionals, so that the code around it
means what it meant; in doubt nothing is left out. The work is linear in the text.
"""

from __future__ import annotations

import re

LANGUAGES = frozenset({"c", "cpp"})

_WORTH = 64  # bytes; to leave out a shorter block costs as much as to parse it
_TABLE = 4  # chunks; a shorter one is packed better by its syntax
_HEAD = 200  # bytes before a brace that tell what it opens
_INDENTS = b" \t"
_STAR = ord("*")
# Lines of numbers, braces and comments. Possessive, so that nothing is tried twice.
_NUMBERS = re.compile(rb"(?:[-+0-9a-fA-FxXuUlL,{}. \t]*+(?:/\*[^*\n]*+\*/[-+0-9a-fA-FxXuUlL,{}. \t]*+)*+\n)*+")
_NOT_BRACES = bytes(set(range(256)) - set(b"{}"))
_CONDITIONAL = re.compile(rb"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)
# What stands before the body of a function or a statement, and before a scope of C++ in which names are looked for.
_RUN = re.compile(rb"(?:\)|\belse|\bdo)\s*(?:(?:const|noexcept|override|final|volatile|&&?)\s*)*\Z")
_SCOPE = re.compile(rb"\b(?:class|struct|union|namespace|extern|enum)\b")


def insides(language: str, data: bytes, limit: int) -> list[tuple[int, int]]:
    """Spans of bytes that need no parse, in order and apart from each other: whole lines inside of a pair of braces.

    ``limit`` is the most bytes that a block may have, its braces included: what fits into one chunk. Only of a long
    table of numbers is more left out; it is then cut without its syntax. With a limit of 0 nothing is left out.
    """
    found: list[tuple[int, int]] = []
    if language not in LANGUAGES or not limit:
        return found
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
        if not _holds_no_names(language, data[max(0, brace - _HEAD) : brace].rstrip()):
            continue
        closing = b"\n" + data[line : brace - len(head)] + b"}"
        last = data.find(closing, at - 1, line + limit) + 1  # the line feed after the brace ends an empty block
        if last - at >= _WORTH and _is_balanced(data[at:last]):
            found.append((at, last))
            at = last
    return found


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


def _holds_no_names(language: str, before: bytes) -> bool:
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
