"""One line of an ignore file, read and matched exactly as git does, in a pattern class that pathspec holds.

Invariant: a pattern matches what git's wildmatch would match, byte by byte: text stands for bytes one to one (latin-1),
so ``?`` is one byte of a name whatever its encoding. Matching is google-re2's: its time grows with the length of the
name, whatever the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import re2
from pathspec.pattern import RegexPattern

SPECIAL = re.compile(r"[*?\[\\]")
FOLDER = "\0"  # marks a subject as a folder: the one byte, beside the slash, that no name can hold
ONE = r"[^/\x{0}]"  # any byte of a name
_FOLDER_END, _ANY_END = r"\x{0}", r"\x{0}?"
_NEVER = frozenset((ord("/"), ord(FOLDER)))  # what no wildcard matches
MAX_PATTERN = 4096  # bytes; no name is longer than 255, so a longer pattern can only be meant to hurt
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/-~ ,=@%:#")
_CLASSES: dict[str, frozenset[int]] = {
    "alnum": frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
    "alpha": frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
    "blank": frozenset(b" \t"),
    "cntrl": frozenset((*range(32), 127)),
    "digit": frozenset(b"0123456789"),
    "graph": frozenset(range(33, 127)),
    "lower": frozenset(b"abcdefghijklmnopqrstuvwxyz"),
    "print": frozenset(range(32, 127)),
    "punct": frozenset(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "space": frozenset(b" \t\n\r"),
    "upper": frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "xdigit": frozenset(b"0123456789abcdefABCDEF"),
}


class _Lazy:
    """Looks like a compiled expression to pathspec, and is compiled when it is first asked to match."""

    __slots__ = ("_compiled", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._compiled: Any = None

    def search(self, text: str) -> Any:
        if self._compiled is None:
            self._compiled = re2.compile(self.pattern)
        return self._compiled.search(text)

    match = search  # pathspec knows a compiled expression by this name


class GitPattern(RegexPattern):
    """A pattern of an ignore file.

    ``include`` is True where a match ignores and False where it re-includes (``!``). ``glob`` is what is matched,
    without the marks around it; ``anchored``: against the whole path from the ignore file's folder, else against the
    name alone; ``folders_only``: a folder alone can match. ``line`` is 1-based, ``source`` the line as it was written.
    The subject to match is the path or name, with FOLDER at its end for a folder.
    """

    __slots__ = ("anchored", "folders_only", "glob", "line", "source")

    def __init__(self, glob: str, *, include: bool, anchored: bool, folders_only: bool, line: int, source: str) -> None:
        super().__init__(None)
        self.include = include
        self.glob = glob
        self.anchored = anchored
        self.folders_only = folders_only
        self.line = line
        self.source = source

    def for_names(self, name: str) -> GitPattern:
        """The same pattern for the entries of one folder: only their names are matched, against ``name``."""
        return GitPattern(
            name,
            include=bool(self.include),
            anchored=False,
            folders_only=self.folders_only,
            line=self.line,
            source=self.source,
        )

    def prepare(self) -> bool:
        """Make the expression, once, before pathspec takes the pattern; False when nothing can ever match it."""
        if self.regex is None:
            body = translate(self.glob, pathname=self.anchored)
            if body is None:
                return False
            self.match_whole(body)
        return True

    def match_whole(self, body: str) -> None:
        """Match subjects that are the expression ``body`` from their first to their last character."""
        self.regex = _Lazy(rf"(?s)\A{body}{_FOLDER_END if self.folders_only else _ANY_END}\z")  # type: ignore[assignment]


def parse_lines(data: bytes) -> Iterator[GitPattern]:
    """The patterns of an ignore file's bytes, in order; comments, blank lines and patterns too long are left out."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, 1):
        if line and line[0] != 0x23:  # "#"
            pattern = parse_line(trimmed(line.removesuffix(b"\r").partition(b"\0")[0]), number)
            if pattern is not None:
                yield pattern


def parse_line(line: bytes, number: int) -> GitPattern | None:
    """The pattern of one line without its line end; None for one that matches nothing or is over MAX_PATTERN."""
    source = glob = line.decode("latin-1")
    include = not glob.startswith("!")
    if not include:
        glob = glob[1:]
    folders_only = glob.endswith("/")
    if folders_only:
        glob = glob[:-1]
    anchored = "/" in glob
    if anchored:
        glob = glob.removeprefix("/")
    if not glob or len(glob) > MAX_PATTERN:
        return None
    if anchored and glob.startswith("**/") and "/" not in (name := glob[3:]) and name.strip("*"):
        glob, anchored = name, False  # "**/name" is "name": at any depth
    return GitPattern(
        glob, include=include, anchored=anchored, folders_only=folders_only, line=number, source=shown(source)
    )


def shown(source: str) -> str:
    """A pattern held as latin-1, as the text that its bytes are."""
    return source if source.isascii() else source.encode("latin-1").decode("utf-8", "replace")


def trimmed(line: bytes) -> bytes:
    """The line without spaces at its end, but for one that a backslash protects."""
    if not line.endswith(b" "):
        return line
    keep = len(line.rstrip(b" "))
    backslashes = keep - len(line[:keep].rstrip(b"\\"))
    return line[: keep + backslashes % 2]


def translate(glob: str, *, pathname: bool) -> str | None:
    """The glob as an expression of re2 for the whole subject, not anchored; None when nothing can match it.

    With ``pathname`` a ``*`` stays inside one component and ``**`` between slashes crosses them. Without, the subject
    is one name. A character of the glob stands for a byte.
    """
    first = SPECIAL.search(glob)
    literal = first.start() if first else len(glob)
    out = [escape(glob[:literal])]
    at, end = literal, len(glob)
    while at < end:
        char = glob[at]
        if char == "*":
            piece, at = _stars(glob, at, literal, pathname)
            out.append(piece)
        elif char == "?":
            out.append(ONE)
            at += 1
        elif char == "[":
            found = bracket(glob, at)
            if found is None or not found[0]:
                return None
            out.append(found[0])
            at = found[1]
        elif char == "\\":
            if at + 1 == end:
                return None
            out.append(escape(glob[at + 1]))
            at += 2
        else:
            out.append(char if char in _SAFE else escape(char))
            at += 1
    return "".join(out)


def _stars(glob: str, at: int, literal: int, pathname: bool) -> tuple[str, int]:
    """The expression for a run of stars and where it ends. Git sees ``**`` as such at the start, after a slash, or
    (because it compares the literal beginning apart) as the first thing that is not literal."""
    after = at
    while after < len(glob) and glob[after] == "*":
        after += 1
    starts = at == literal or glob[at - 1] == "/"
    ends = after == len(glob) or glob[after] == "/" or glob.startswith("\\/", after)
    if not (pathname and after - at >= 2 and starts and ends):
        return ONE + "*", after
    if after < len(glob) and glob[after] == "/":
        return "(?:.*/)?", after + 1
    return ".*", after


def bracket(glob: str, at: int) -> tuple[str, int] | None:
    """The expression for the bracket that opens at ``at`` and where it ends; "" matches nothing.

    None when it is malformed: git then takes the whole pattern to match nothing.
    """
    at += 1
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    accepted: set[int] = set()
    previous = ""  # the character a range may begin with
    first = True
    while first or glob[at : at + 1] != "]":
        first = False
        char = glob[at : at + 1]
        if not char:
            return None
        if char == "-" and previous and at + 1 < len(glob) and glob[at + 1] != "]":
            at += 1 + (glob[at + 1] == "\\")
            if at >= len(glob):
                return None
            accepted.update(range(ord(previous), ord(glob[at]) + 1))
            previous = ""
        elif char == "[" and glob[at + 1 : at + 2] == ":":
            close = glob.find("]", at + 2)
            if close < 0:
                return None
            if close > at + 2 and glob[close - 1] == ":":
                members = _CLASSES.get(glob[at + 2 : close - 1])
                if members is None:
                    return None
                accepted |= members
                at, previous = close, ""
            else:
                accepted.add(ord("["))
                previous = "["
        else:
            if char == "\\":
                at += 1
                char = glob[at : at + 1]
                if not char:
                    return None
            accepted.add(ord(char))
            previous = char
        at += 1
    return one_of(accepted, negated), at + 1


def one_of(accepted: set[int], negated: bool) -> str:
    """An expression for one character of the set (or outside of it), never a slash; "" where none is left."""
    ranges: list[list[int]] = []
    for code in sorted(accepted | _NEVER if negated else accepted - _NEVER):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    inside = "".join(rf"\x{{{first:x}}}-\x{{{last:x}}}" for first, last in ranges)
    return f"[{'^' if negated else ''}{inside}]" if inside else ""


def escape(text: str) -> str:
    """The text as an expression of re2 that matches it and nothing else."""
    return "".join(char if char in _SAFE or ord(char) > 127 else rf"\x{{{ord(char):x}}}" for char in text)
