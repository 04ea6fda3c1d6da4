"""Read and match one line of an ignore file exactly as git does, with a pattern class for pathspec.

Invariant: a pattern matches the same names as git's wildmatch, byte by byte. Each character of the text is one byte
(latin-1), so ``?`` matches one byte of a name in any encoding. google-re2 does the matching: its time grows with the
length of the name, whatever the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import re2
from pathspec.pattern import RegexPattern

SPECIAL = re.compile(r"[*?\[\\]")
FOLDER = "\0"  # marks a subject as a folder: apart from the slash, the only byte that no name can contain
ONE = r"[^/\x{0}]"  # any byte of a name
_FOLDER_END, _ANY_END = r"\x{0}", r"\x{0}?"
_NEVER = frozenset((ord("/"), ord(FOLDER)))  # no wildcard matches these
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
    """Look like a compiled expression to pathspec, but compile only at the first match."""

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

    ``include`` is True if a match ignores the entry, False if it re-includes it (``!``). ``glob`` is the text to match,
    without the marks around it. An ``anchored`` pattern matches the whole path from the ignore file's folder, any other
    the name alone. A ``folders_only`` pattern matches only folders. ``line`` is 1-based; ``source`` is the line as it
    was written. The subject to match is the path or name, with FOLDER at its end for a folder.
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
        """Return the same pattern for the entries of one folder: it matches only their names, against ``name``."""
        return GitPattern(
            name,
            include=bool(self.include),
            anchored=False,
            folders_only=self.folders_only,
            line=self.line,
            source=self.source,
        )

    def prepare(self) -> bool:
        """Build the expression, once, before pathspec takes the pattern. Return False if nothing can ever match it."""
        if self.regex is None:
            body = translate(self.glob, pathname=self.anchored)
            if body is None:
                return False
            self.match_whole(body)
        return True

    def match_whole(self, body: str) -> None:
        """Match the expression ``body`` against subjects from their first to their last character."""
        self.regex = _Lazy(rf"(?s)\A{body}{_FOLDER_END if self.folders_only else _ANY_END}\z")  # type: ignore[assignment]


def parse_lines(data: bytes) -> Iterator[GitPattern]:
    """Yield the patterns in an ignore file's bytes, in order, without comments, blank lines and overlong patterns."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, 1):
        if line and line[0] != 0x23:  # "#"
            pattern = parse_line(trimmed(line.removesuffix(b"\r").partition(b"\0")[0]), number)
            if pattern is not None:
                yield pattern


def parse_line(line: bytes, number: int) -> GitPattern | None:
    """Return the pattern of one line without its line end; None if it matches nothing or exceeds MAX_PATTERN."""
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
    """Return a latin-1 pattern as the UTF-8 text that its bytes encode."""
    return source if source.isascii() else source.encode("latin-1").decode("utf-8", "replace")


def trimmed(line: bytes) -> bytes:
    """Return the line without the spaces at its end. Keep a space that a backslash protects."""
    if not line.endswith(b" "):
        return line
    keep = len(line.rstrip(b" "))
    backslashes = keep - len(line[:keep].rstrip(b"\\"))
    return line[: keep + backslashes % 2]


def translate(glob: str, *, pathname: bool) -> str | None:
    """Return the glob as an re2 expression for the whole subject, not anchored; None if nothing can match it.

    With ``pathname``, a ``*`` matches within one component and ``**`` between slashes crosses components. Without it,
    the subject is one name. A character of the glob represents a byte.
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
    """Return the expression for a run of stars, and the end of the run.

    Git recognizes ``**`` at the start, after a slash, or as the first part that is not literal (because it compares the
    literal beginning separately).
    """
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
    """Return the expression for the bracket that opens at ``at``, and its end. The expression "" matches nothing.

    Return None if the bracket is malformed: the whole pattern then matches nothing in git.
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
    """Return an expression for one character in (or outside) the set, never a slash; "" if no character is left."""
    ranges: list[list[int]] = []
    for code in sorted(accepted | _NEVER if negated else accepted - _NEVER):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    inside = "".join(rf"\x{{{first:x}}}-\x{{{last:x}}}" for first, last in ranges)
    return f"[{'^' if negated else ''}{inside}]" if inside else ""


def escape(text: str) -> str:
    """Return an re2 expression that matches exactly the text."""
    return "".join(char if char in _SAFE or ord(char) > 127 else rf"\x{{{ord(char):x}}}" for char in text)
