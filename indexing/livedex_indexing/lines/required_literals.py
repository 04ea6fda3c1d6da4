"""Derives the strings that every match of an expression must contain, without fully interpreting the expression.

Invariant: a text that matches contains the strings required here; any number of blanks and signs may replace some.
Constructs that are not interpreted require nothing.

Strings are concatenated along the expression as long as the alternatives are few (``(foo|bar)_x+`` gives ``foo_x`` and
``bar_x``), after Cox's "Regular Expression Matching with a Trigram Index", with whole strings instead of trigrams.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from livedex_indexing.lines.expression import Expression, Piece

STRINGS: Final = 16  # alternatives for one place of the text, at most
LONGEST: Final = 256  # characters of one string: a longer one is no more selective
DEPTH: Final = 16  # nesting of `RequiredLiterals`


class RequiredLiterals(NamedTuple):
    """A text must contain any of ``strings``; or else satisfy all of ``parts``, with ``any_of`` one of them. With
    neither, nothing is required. Case is ignored: ASCII letters are lower-case, others as written."""

    strings: frozenset[str] = frozenset()
    parts: tuple[RequiredLiterals, ...] = ()
    any_of: bool = False
    depth: int = 0

    def __bool__(self) -> bool:
        return bool(self.strings or self.parts)


NO_LITERALS: Final = RequiredLiterals()


class _Info(NamedTuple):
    """The texts that a piece may match: exactly ``strings``; if that is None, any that satisfies ``required``."""

    strings: frozenset[str] | None
    required: RequiredLiterals = NO_LITERALS


_EMPTY: Final = _Info(frozenset({""}))
_ANYTHING: Final = _Info(None)


def required_literals(expression: Expression) -> RequiredLiterals:
    """Return what a matching line must contain, ignoring case. The end of a line is "\\n": it separates words."""
    groups = [_Group()]
    for piece in expression.pieces:
        if piece.kind == "open":
            groups.append(_Group())
        elif piece.kind == "close":
            done = groups.pop().info()
            groups[-1].items.append(_Item(done))
        elif piece.kind == "either":
            groups[-1].begin_alternative()
        elif piece.kind == "repeat":
            groups[-1].repeat(piece)
        elif piece.kind != "flags":
            groups[-1].items.append(_Item(_of_piece(piece)))
    return _need(groups.pop().info())


class _Item(NamedTuple):
    """A piece or a group. ``least`` copies of ``info`` are adjacent; ``open``: more may follow."""

    info: _Info
    least: int = 1
    open: bool = False


class _Group:
    """A group, or the whole expression: alternatives, each a sequence of items."""

    def __init__(self) -> None:
        self.items: list[_Item] = []
        self._alternatives: list[_Info] = []

    def begin_alternative(self) -> None:
        self._alternatives.append(_row(self.items))
        self.items = []

    def repeat(self, piece: Piece) -> None:
        """Repeat the last item as the piece says. Many blanks and signs separate words as one does."""
        info, _, _ = self.items.pop()
        parting = info.strings is not None and not any(_in_word(char) for string in info.strings for char in string)
        if info.strings is not None and piece.least == 0 and (piece.most == 1 or (parting and piece.most != 0)):
            self.items.append(_Item(_limited(info.strings | {""})))
        elif parting:
            self.items.append(_Item(info, min(piece.least, 1)))
        else:
            self.items.append(_Item(info, piece.least, piece.most is None or piece.most > piece.least))

    def info(self) -> _Info:
        self.begin_alternative()
        found = self._alternatives
        if all(info.strings is not None for info in found):
            strings = frozenset().union(*(info.strings or () for info in found))
            if len(strings) <= STRINGS:
                return _Info(strings)
        requirements = [_need(info) for info in found]
        return _Info(None, _any(requirements))


def _of_piece(piece: Piece) -> _Info:
    if piece.kind == "other":
        return _ANYTHING
    return _Info(frozenset(char.lower() if char.isascii() else char for char in piece.chars) or frozenset({""}))


def _row(items: Sequence[_Item]) -> _Info:
    """Combine items that follow each other."""
    requirements: list[RequiredLiterals] = []
    run, broken = frozenset({""}), False
    for info, least, more in items:
        if info.strings is None:
            requirements += [_of_strings(run), info.required if least else NO_LITERALS]
            run, broken = frozenset({""}), True
            continue
        copies = 0
        while copies < least:
            longer = _product(run, info.strings)
            if longer is None:  # too many or too long: require the strings so far and begin a new run
                requirements.append(_of_strings(run))
                run, broken = info.strings, True
                if copies:  # equal copies add nothing
                    break
            else:
                run = longer
            copies += 1
        if more:
            requirements.append(_of_strings(run))
            run = info.strings if least else frozenset({""})
            broken = True
    if not broken:
        return _Info(run)
    return _Info(None, _all([*requirements, _of_strings(run)]))


def _product(left: Iterable[str], right: Iterable[str]) -> frozenset[str] | None:
    made = frozenset(a + b for a in left for b in right)
    return None if len(made) > STRINGS or max(map(len, made), default=0) > LONGEST else made


def _limited(strings: frozenset[str]) -> _Info:
    return _Info(strings) if len(strings) <= STRINGS else _ANYTHING


def _need(info: _Info) -> RequiredLiterals:
    return info.required if info.strings is None else _of_strings(info.strings)


def _of_strings(strings: frozenset[str]) -> RequiredLiterals:
    """Require one of the strings; nothing if one of them could be anywhere, which makes the others worthless."""
    searchable = strings and all(any(map(_in_word, string)) for string in strings)
    return RequiredLiterals(strings) if searchable else NO_LITERALS


def _in_word(char: str) -> bool:
    """Whether a character may be part of a word: only words are looked up."""
    return char.isalnum() or not char.isascii()


def _all(requirements: Iterable[RequiredLiterals]) -> RequiredLiterals:
    parts = tuple(
        dict.fromkeys(
            part for required in requirements for part in (required.parts if _is_all(required) else (required,)) if part
        )
    )
    return parts[0] if len(parts) == 1 else _deeper(parts, any_of=False)


def _any(requirements: Sequence[RequiredLiterals]) -> RequiredLiterals:
    parts = tuple(dict.fromkeys(requirements))
    if not all(parts):
        return NO_LITERALS
    return parts[0] if len(parts) == 1 else _deeper(parts, any_of=True)


def _is_all(required: RequiredLiterals) -> bool:
    return bool(required.parts) and not required.any_of


def _deeper(parts: tuple[RequiredLiterals, ...], *, any_of: bool) -> RequiredLiterals:
    depth = 1 + max((part.depth for part in parts), default=0)
    return RequiredLiterals(parts=parts, any_of=any_of, depth=depth) if depth <= DEPTH else NO_LITERALS
