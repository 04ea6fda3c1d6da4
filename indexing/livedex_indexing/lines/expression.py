r"""Reads a regular expression in google-re2's syntax, piece by piece, and rewrites it for line search.

Invariant: every expression that re2 compiles can be read, and each piece describes no less than re2 lets it match. The
rewritten expression means to re2 what the original means to ripgrep, as far as re2 can express it:

    ^ $ \A \z   the line's begin and end, regardless of (?m)
    \d \s \w    Unicode's digits, blanks and letters; re2's are ASCII. \b and [[:word:]] stay ASCII
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from livedex_ipc.errors import InvalidParams

Kind = Literal["char", "set", "border", "other", "nothing", "flags", "open", "close", "either", "repeat"]

ALTERNATIVES: Final = 4  # characters in a class: up to here each is a literal of its own

# Unicode's \w: letters, marks, digits, connectors, joiners, and the circled letters that count as alphabetic.
_WORD: Final = (
    r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}"
    r"\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}"
)
# Its complement, for use inside a class, where negation is impossible; it lacks the few circled letters and joiners.
_NOT_WORD: Final = r"\p{C}\p{Z}\p{S}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\p{No}"
_SPACE: Final = r"\t\n\v\f\r\x{85}\p{Z}"
_NOT_SPACE: Final = (
    r"\x{0}-\x{8}\x{E}-\x{1F}!-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}"
    r"\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF}"
)
_PERL: Final = {"d": r"\p{Nd}", "D": r"\P{Nd}", "s": _SPACE, "S": _NOT_SPACE, "w": _WORD, "W": _NOT_WORD}
_PERL_ALONE: Final = {"S": f"[^{_SPACE}]", "W": f"[^{_WORD}]"}
_CONTROL: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

_COUNT: Final = re.compile(r"\{(\d+)(,?)(\d*)\}")
_HEX: Final = re.compile(r"x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))")
_OCTAL: Final = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
_PROPERTY: Final = re.compile(r"[pP](?:\{\^?[^}]*\}|.)", re.DOTALL)
_GROUP: Final = re.compile(r"\?(?:P?<[^>]*>|([A-Za-z]*(?:-[A-Za-z]*)?)([:)]))")
_NAMED: Final = re.compile(r"\[:\^?\w*:\]")


class BadPattern(InvalidParams):
    """A pattern that cannot be searched for line by line; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"query: {reason}", {"field": "query"})


class Piece(NamedTuple):
    """One piece of an expression.

    ``written`` is the text for re2. ``chars``: the character of a ``char``; all that a ``set`` may match, ignoring case
    (a blank there represents any blank or sign); the line feed of a ``border``. ``least`` and ``most`` are the bounds
    of a ``repeat``; ``most`` is None without a limit. ``flags`` are not a piece to re2: a repeat after them applies to
    the piece before them.
    """

    kind: Kind
    written: str
    chars: str = ""
    least: int = 0
    most: int | None = 0


_GROUP_OF_ITS_OWN: Final = Piece("open", "(")


class Expression(NamedTuple):
    """The pieces in order. ``fold``: ignore case, by ripgrep's smart case: no literal letter is upper-case."""

    pieces: list[Piece]
    fold: bool

    @property
    def written(self) -> str:
        return "".join(piece.written for piece in self.pieces)


def literal(text: str) -> Expression:
    """Return an expression that matches exactly the text. Raises BadPattern if no line can contain it."""
    return _finished([_char(char) for char in text], text)


def within_words(expression: Expression) -> str:
    """Return the text for re2 of an expression whose match, group 1, has no character of a word on either side."""
    inner = "".join("(?:" if piece == _GROUP_OF_ITS_OWN else piece.written for piece in expression.pieces)
    apart = _PERL_ALONE["W"]
    return f"(?:^|{apart})({inner})(?:$|{apart})"


def read(pattern: str) -> Expression:
    """Read a pattern that re2 has compiled. Raises BadPattern for patterns that no line can match, and for lone
    surrogates."""
    reader = _Reader(pattern)
    reader.read()
    return _finished(reader.pieces, reader.literals)


def quoted(char: str) -> str:
    """Return a character written so that re2 takes it literally, inside and outside of classes."""
    return char if char.isalnum() else f"\\x{{{ord(char):X}}}"


def _finished(pieces: list[Piece], literals: str) -> Expression:
    if any(piece.kind == "char" and piece.chars in "\n\r" for piece in pieces):
        raise BadPattern("a pattern is matched line by line, so it cannot contain a line break")
    return Expression(pieces, bool(literals) and not any(map(str.isupper, literals)))


def _char(char: str) -> Piece:
    return Piece("char", quoted(char), char)


class _Reader:
    """One pass over a pattern. ``literals`` collects the characters that decide smart case."""

    def __init__(self, pattern: str) -> None:
        self.pieces: list[Piece] = []
        self.literals = ""
        self._text = pattern
        self._at = 0

    def read(self) -> None:
        ways: dict[str, Callable[[], None]] = {
            "\\": self._escape, "[": self._class, "(": self._group, "{": self._count,
        }  # fmt: skip
        plain: dict[str, Piece] = {
            ".": Piece("other", "."), ")": Piece("close", ")"),
            "^": Piece("border", "^", "\n"), "$": Piece("border", "$", "\n"),
            "|": Piece("either", "|"),
            "*": Piece("repeat", "*", most=None), "+": Piece("repeat", "+", least=1, most=None),
            "?": Piece("repeat", "?", most=1),
        }  # fmt: skip
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in ways:
                ways[char]()
                continue
            self._at += 1
            piece = plain.get(char)
            if piece is None:
                self._literal(char)
            elif piece.kind == "repeat":
                self._repeat(piece)
            else:
                self.pieces.append(piece)

    def _literal(self, char: str) -> None:
        self.literals += char
        self.pieces.append(_char(char))

    def _repeat(self, piece: Piece) -> None:
        lazy = self._text.startswith("?", self._at)
        self._at += lazy
        self.pieces.append(piece._replace(written=piece.written + "?" * lazy))

    def _count(self) -> None:
        found = _COUNT.match(self._text, self._at)
        if found is None:
            self._at += 1
            self._literal("{")
            return
        self._at = found.end()
        least = int(found[1])
        most = least if not found[2] else int(found[3]) if found[3] else None
        self._repeat(Piece("repeat", found[0], least=least, most=most))

    def _group(self) -> None:
        self._at += 1
        found = _GROUP.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        if found is None or found[1] is None:
            self.pieces.append(Piece("open", "(" if found is None else "(?:"))
            return
        on, minus, off = (part.replace("m", "") for part in found[1].partition("-"))
        flags = f"(?m{on}{minus if off else ''}{off}"
        # Flags without a group of their own apply to the rest of the enclosing group.
        self.pieces.append(Piece("flags", f"{flags})") if found[2] == ")" else Piece("open", f"{flags}:"))

    def _escape(self) -> None:
        self._at += 1
        char = self._text[self._at]
        if char == "Q":
            end = self._text.find("\\E", self._at)
            end = len(self._text) if end < 0 else end
            for quote in self._text[self._at + 1 : end]:
                self._literal(quote)
            self._at = end + 2
        elif char == "E":  # closes nothing
            self._at += 1
        elif char in _PERL:
            self._at += 1
            written = _PERL_ALONE.get(char) or f"[{_PERL[char]}]"
            self.pieces.append(Piece("set", written, " ") if char == "s" else Piece("other", written))
        elif char in "pP":
            self.pieces.append(Piece("other", "\\" + self._property()))
        elif char in "AzbB":
            self._at += 1
            self.pieces.append(
                Piece("nothing", "\\" + char) if char in "bB" else Piece("border", "^" if char == "A" else "$", "\n")
            )
        elif char == "C":
            raise BadPattern(r"\C matches a byte, which may be part of a character; . matches any character")
        else:
            self._literal(self._escaped())

    def _property(self) -> str:
        found = _PROPERTY.match(self._text, self._at)
        assert found is not None  # re2 has compiled it
        self._at = found.end()
        return found[0]

    def _escaped(self) -> str:
        """Return the character of an escape sequence, from after the backslash."""
        for form, base in ((_HEX, 16), (_OCTAL, 8)):
            found = form.match(self._text, self._at)
            if found is not None:
                self._at = found.end()
                return chr(int(next(filter(None, found.groups()), found[0]), base))
        char = self._text[self._at]
        self._at += 1
        return _CONTROL.get(char, char)

    def _class(self) -> None:
        self._at += 1
        negated = self._text.startswith("^", self._at)
        self._at += negated
        written, members, first = "", "", True
        known = not negated
        while first or self._text[self._at] != "]":
            first = False
            piece, chars = self._member()
            written += piece
            known = known and chars is not None
            members += chars or ""
        self._at += 1
        written = f"[{'^' if negated else ''}{written}]"
        gap = known and all(char.isascii() and not char.isalnum() for char in members)
        if gap:
            self.pieces.append(Piece("set", written, " "))
        elif known and len(set(members)) <= ALTERNATIVES:
            self.pieces.append(Piece("set", written, members))
        else:
            self.pieces.append(Piece("other", written))

    def _member(self) -> tuple[str, str | None]:
        """Read one member of a class: its text for re2, and its characters; None if they are many or unknown."""
        named = _NAMED.match(self._text, self._at)
        if named is not None:
            self._at = named.end()
            return named[0], None
        following = self._text[self._at + 1 : self._at + 2] if self._text[self._at] == "\\" else ""
        if following and following in _PERL:
            self._at += 2
            return _PERL[following], " " if following == "s" else None
        if following and following in "pP":
            self._at += 1
            return "\\" + self._property(), None
        low = self._class_char()
        if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
            self._at += 1
            return f"{quoted(low)}-{quoted(self._class_char())}", None
        return quoted(low), low

    def _class_char(self) -> str:
        char = self._text[self._at]
        self._at += 1
        if char == "\\":
            char = self._escaped()
        self.literals += char
        return char
