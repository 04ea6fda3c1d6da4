"""Path filters that people type: ripgrep's ``-g`` globs, and the query's ``path:`` term.

Invariant: both use the pattern class of the ignore files, and their time grows only with the length of the path.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from livedex_indexing.ignore.git_pattern import (
    MAX_PATTERN,
    ONE,
    SPECIAL,
    GitPattern,
    escape,
    one_of,
    parse_line,
    translate,
    trimmed,
)
from livedex_indexing.ignore.rule_file import batches, last_in, subject_of

_SIGNS = re.compile(r"[][*?{},\\]")
_PIECES = re.compile(r"[*?/]+")
NOTHING = r"[^\x{0}-\x{10FFFF}]"  # an expression that no character matches


class Bound(NamedTuple):
    """The paths in a folder (``b""``: anywhere) that end in the bytes ``end``."""

    folder: bytes
    end: bytes


class BadGlob(ValueError):
    """A glob that ripgrep would refuse; the message names it and says why."""

    def __init__(self, glob: str, reason: str) -> None:
        super().__init__(f"{glob!r}: {reason}")


class GlobFilter:
    """Admit the paths that a list of globs selects, as ``rg -g`` does. Raise BadGlob.

    A glob without ``/`` applies at any depth, ``!`` excludes, and the last match wins. If any glob includes, a path
    that matches none is excluded. ``bounds``: every admitted path is within one of them; empty if no glob includes,
    because any path may then pass.
    """

    def __init__(self, globs: Sequence[str]) -> None:
        parsed = [_parse(glob) for glob in globs]
        patterns = [pattern for pattern in parsed if pattern is not None]
        self._include = [bool(pattern.include) for pattern in patterns]
        including = [pattern for pattern in patterns if pattern.include]
        self.bounds = tuple(dict.fromkeys(map(_bound, including)))
        self._batches = batches(enumerate(patterns))
        self._only_matches = any(self._include)
        self._folders: dict[bytes, bool] | None = None if all(self._include) else {b"": True}

    def admits(self, rel: bytes) -> bool:
        """Tell whether the file at the path (relative to its root) passes."""
        if not self._include:
            return True
        if self._folders is not None and not self._entered(rel.rpartition(b"/")[0]):
            return False
        last = last_in(self._batches, subject_of(rel, False))
        return self._include[last] if last >= 0 else not self._only_matches

    def _entered(self, folder: bytes) -> bool:
        """Tell whether no folder on the way is excluded: no glob can re-include the entries of an excluded folder."""
        known = self._folders
        assert known is not None
        waiting = []
        while folder not in known:
            waiting.append(folder)
            folder = folder.rpartition(b"/")[0]
        entered = known[folder]
        for below in reversed(waiting):
            if entered:
                last = last_in(self._batches, subject_of(below, True))
                entered = last < 0 or self._include[last]
            known[below] = entered
        return entered


def _parse(glob: str) -> GitPattern | None:
    """Return the pattern of one ``-g``; None if ripgrep skips it (blank, or a comment)."""
    if len(glob) > MAX_PATTERN:
        raise BadGlob(glob[:40] + "…", f"longer than {MAX_PATTERN:,} characters")
    if "\n" in glob or "\0" in glob:
        raise BadGlob(glob, "contains a line break or a NUL")
    line = trimmed(glob.encode("utf-8", "surrogateescape"))
    if not line or line.startswith(b"#"):
        return None
    pattern = parse_line(line, 0)
    if pattern is None:  # a lone slash matches nothing, so no path passes
        return None if line.startswith(b"!") else _matching("", NOTHING)
    body = _Translator(pattern.glob, glob).run()
    pattern.match_whole(body if pattern.anchored else "(?:.*/)?" + body)
    return pattern


def _bound(pattern: GitPattern) -> Bound:
    """Return a bound around all matching paths: the letters before the glob's first sign and after its last."""
    pieces = _SIGNS.split(pattern.glob)
    folder = pieces[0].rpartition("/")[0] if pattern.anchored else ""
    return Bound(folder.encode("latin-1"), pieces[-1].encode("latin-1"))


def _matching(text: str, body: str) -> GitPattern:
    pattern = GitPattern(text, include=True, anchored=True, folders_only=False, line=0, source=text)
    pattern.match_whole(body)
    return pattern


class _Translator:
    """Translate one ripgrep glob into an expression.

    A character represents a byte. ``*`` and ``?`` match no slash. ``**`` is special only as a whole component.
    ``{a,b}`` matches either alternative. A bracket has no escapes.
    """

    def __init__(self, glob: str, shown: str) -> None:
        self._glob = glob
        self._shown = shown
        self._at = 0

    def run(self) -> str:
        groups: list[list[list[str]]] = [[[]]]  # open groups, each a list of alternatives, each a list of expressions
        while self._at < len(self._glob):
            char = self._glob[self._at]
            self._at += 1
            if char == "{":
                groups.append([[]])
            elif char == "," and len(groups) > 1:
                groups[-1].append([])
            elif char == "}":
                alternatives = groups.pop()
                if not groups:
                    raise BadGlob(self._shown, "a '}' without its '{' (a literal one is '[}]')")
                parts = ["".join(part) for part in alternatives if part]  # ripgrep drops an empty alternative
                groups[-1][-1].append("(?:" + "|".join(parts) + ")" if parts else "")
            else:
                groups[-1][-1].append(self._plain(char))
        if len(groups) > 1:
            raise BadGlob(self._shown, "a '{' is not closed (a literal one is '[{]')")
        return "".join(groups[0][0])

    def _plain(self, char: str) -> str:
        """Return the expression for a character outside the brace syntax. Consume the characters that belong to it."""
        if char == "*":
            return self._stars()
        if char == "?":
            return ONE
        if char == "[":
            return self._bracket()
        if char == "\\":
            if self._at == len(self._glob):
                raise BadGlob(self._shown, "nothing follows the '\\' at its end")
            char = self._glob[self._at]
            self._at += 1
        return escape(char)

    def _stars(self) -> str:
        start = self._at - 1
        while self._glob[self._at : self._at + 1] == "*":
            self._at += 1
        before, after = self._glob[start - 1 : start], self._glob[self._at : self._at + 1]
        if self._at - start != 2 or before not in ("", "/") or after not in ("", "/"):
            return ONE + "*"
        if not after:
            return ".*" if not before else ".+"
        self._at += 1
        return "(?:.*/)?"

    def _bracket(self) -> str:
        negated = self._glob[self._at : self._at + 1] in ("!", "^")
        self._at += negated
        end = self._glob.find("]", self._at + 1)
        if end < 0:
            raise BadGlob(self._shown, "a '[' is not closed (a literal one is '[[]')")
        members, self._at = self._glob[self._at : end], end + 1
        accepted: set[int] = set()
        at = 0
        while at < len(members):
            first = last = ord(members[at])
            if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
                last = ord(members[at + 2])
                at += 2
            if last < first:
                raise BadGlob(self._shown, f"the range {chr(first)}-{chr(last)} is the wrong way round")
            accepted.update(range(first, last + 1))
            at += 1
        return one_of(accepted, negated) or NOTHING


class PathTerm:
    """The query's ``path:X``: match paths, relative to their root, that contain X. Ignore case.

    A leading ``/`` anchors X at the start. With ``*``, ``?`` or ``[``, X is a glob for one or more whole components of
    the path.
    """

    def __init__(self, text: str) -> None:
        wanted = _plain(text)
        self._anchored = wanted.startswith("/")
        self._text = wanted.removeprefix("/")
        self._pattern: GitPattern | None = None
        self._first = b""  # what a path in ASCII must have: few have the letters of a glob
        glob = self._text.strip("/")
        if SPECIAL.search(glob.replace("\\", "")) and len(glob) <= MAX_PATTERN:
            body = translate(glob, pathname=True)
            if body is not None:  # an unclosed bracket is taken literally
                self._text = "" if "[" in glob or "\\" in glob else max(_PIECES.split(glob), key=len)
                self._first = self._text.encode() if self._text.isascii() else b""
                start = "" if self._anchored else "(?:.*/)?"
                self._pattern = _matching(text, start + body + "(?:/.*)?")

    def admits(self, rel: bytes) -> bool:
        """Tell whether X matches the path."""
        if self._first and self._first not in rel.lower() and rel.isascii():
            return False
        path = _plain(rel.decode("utf-8", "replace"))
        if self._pattern is not None:
            return self._text in path and self._pattern.match_file(path) is not None
        return path.startswith(self._text) if self._anchored else self._text in path


def _plain(text: str) -> str:
    """Return the text case-folded and in one Unicode form, so that accents match however they were typed."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFC", text).casefold()
