"""Finds the place where a text has a query as it was typed, to show it and to point at its line.

Invariant: pure. A place is no part of a longer word, and has the blanks and the case of the text. The cost does not
depend on how often a text repeats what was typed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from livedex_indexing.chunk.grammars import DISTRIBUTIONS
from livedex_indexing.chunk.line_definitions import name_defined
from livedex_indexing.model import Query
from livedex_indexing.query.declaration import declarations
from livedex_indexing.query.declaring_line import declared_at, defined_at, introduced_at, lines_with
from livedex_indexing.query.inner_text import texts_inside
from livedex_indexing.query.joined_span import joined_name
from livedex_indexing.query.key_path import KEY_LANGUAGES, key_at, key_path, values_path
from livedex_indexing.query.keyword_and_name import keyword_and_name
from livedex_indexing.query.member_line import first_set_at, is_member_of, is_type, member_at, typed_at
from livedex_indexing.query.message_names import names_in_message
from livedex_indexing.query.names_among_words import members_among, members_as_words, names_among
from livedex_indexing.query.typed_link import is_heading, typed_heading
from livedex_indexing.query.typed_name import continues_word, name_inside, plain_signs, typed_name

COMPARED: Final = 10_000  # parts: 3 ms; beyond, a text repeats the beginning of what was typed again and again

_KEYS: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+")  # spec.template.spec
_AROUND_HEADING: Final = " \t\r#=*"
_LONGEST_HEADING: Final = 300  # characters


class _Wording:
    """What was typed, in its ``parts`` between the blanks."""

    def __init__(self, parts: Sequence[str]) -> None:
        self.parts = parts
        self.lowered = [_lower(part) for part in parts]
        self.longest = max(self.lowered, key=len)
        self.is_any_case = len(parts) == 1 and parts[0].isalpha() and parts[0].islower()


class TypedSpan:
    """Finds all of a ``text`` that was typed, else a phrase or the words of the ``query`` that it is, else what it
    reports or asks for, else the name in it, else a definition of the member that its words make together. While the
    last word is unfinished, it may go on."""

    def __init__(self, text: str, query: Query) -> None:
        whole = typed_name(text if len(text.split()) > 1 else text.strip().strip('"'))
        self._member = whole if whole is not None and whole.owner else None
        names = (whole, name_inside(text), *names_in_message(text))
        named = [name for name in names if name is not None and not name.is_words][:1]
        named = named or [*members_among(text), *names_among(text)]
        typed = (text, *query.phrases, query.text, *texts_inside(text), *(name.name for name in named))
        self._owners = {name.name: name.owner for name in named}
        wordings = [wording.split() for wording in dict.fromkeys(typed)]
        self._wordings = [_Wording(parts) for parts in wordings if parts]  # lowered once, not for each hit
        members = [name.name.lower().split() for name in members_as_words(text)]
        self._members = dict.fromkeys(joint.join(parts) for parts in members for joint in ("_", ""))
        self._declaring = [one.lines[-1] for one in declarations(text)]
        self._joined = None if query.unfinished else joined_name(text, [name for name in (whole, *named) if name])
        self._first_joined = 0 if not named or named[0] == whole else 1  # a text with more is looked for first
        self._key = key_path(values_path(text) or (text if _KEYS.fullmatch(text.strip()) else ""))
        self._heading = typed_heading(text)
        self._opened = keyword_and_name(text)
        self._unfinished = query.unfinished

    def find(self, text: str, language: str = "") -> tuple[int, int] | None:
        """Return the place where the text defines the one word of a wording, else the first place of a wording in its
        case, else in any case, as of a lower-case word; None if there is none."""
        for line in self._declaring:
            declared = line.search(text)
            if declared is not None:
                start = text.rfind("\n", 0, declared.end()) + 1
                return max(start, declared.start()), declared.end()
        opened = None if self._opened is None else self._opened.place(text)
        if opened is not None:
            return opened
        if self._member is not None:
            at = _place_of_owner(text, self._member.name, self._member.owner, language)
            if at is not None:
                return at, at + len(self._member.name)
        key = key_at(text, self._key) if self._key and language in KEY_LANGUAGES else None
        if key is not None:
            return key
        heading = _heading_at(text, self._heading) if self._heading else None
        if heading is not None:
            return heading
        low = _lower(text)
        for number, wording in enumerate(self._wordings):
            if number == self._first_joined and self._joined is not None:
                found = _first_defined(text, self._joined.names(text, low), language)
                if found is not None:
                    return found
            found = self._find(text, low, wording, language)
            if found is not None:
                return found
        defined = [(at, at + len(name)) for name in self._members if (at := defined_at(low, name)) is not None]
        if defined or self._joined is None:
            return max(defined, default=None)  # a member stands behind its type
        return _first_defined(text, self._joined.longer(text, low), language)

    def _find(self, text: str, low: str, wording: _Wording, language: str) -> tuple[int, int] | None:
        lowered = wording.lowered
        if wording.longest not in low:
            return None
        name = wording.parts[0]
        defined = defining_place(text, name, self._owners.get(name, ""), language) if len(wording.parts) == 1 else None
        if defined is not None:
            return defined, defined + len(name)
        in_other_case: tuple[int, int] | None = None
        left = COMPARED
        at = low.find(lowered[0])
        while at >= 0 and left > 0:
            end, compared = _end_of(low, at, lowered)
            left -= compared
            if end and not self._is_piece(text, at, end):
                if wording.is_any_case or text[at:end].split() == wording.parts:
                    return at, end
                in_other_case = in_other_case or (at, end)
            at = low.find(lowered[0], at + 1)
        return in_other_case

    def _is_piece(self, text: str, start: int, end: int) -> bool:
        if continues_word(text[start]) and continues_word(text[start - 1 : start]):
            return True
        return not self._unfinished and continues_word(text[end - 1]) and continues_word(text[end : end + 1])


def _heading_at(text: str, heading: str) -> tuple[int, int] | None:
    """Return where a line of the text is a heading, as links name it; None where none is."""
    start = 0
    for line in text.split("\n"):
        bare = line.strip(_AROUND_HEADING)
        if bare and len(line) < _LONGEST_HEADING and is_heading(bare, heading):
            at = start + line.index(bare)
            return at, at + len(bare)
        start += len(line) + 1
    return None


def _first_defined(text: str, names: Sequence[str], language: str) -> tuple[int, int] | None:
    """Return where a text defines one of the names, the surest definition of all; None where it defines none."""
    surely, by_line = partial(member_at, surely=True), partial(_defined_by_line, language=language)
    for place in (by_line, defined_at, surely, typed_at, introduced_at, declared_at, member_at):
        found = [(at, at + len(name)) for name in names if (at := place(text, name)) is not None]
        if found:
            return min(found)
    return None


def defining_place(text: str, name: str, owner: str, language: str = "") -> int | None:
    """Return where a line of the text defines the name of the ``owner``, else makes it a member of a type, else
    declares it or sets it as a member; None where no line does."""
    surely = partial(member_at, owner=owner, surely=True)
    for place in (
        partial(_member_of, owner=owner),
        partial(_defined_by_line, language=language, owner=owner),
        partial(defined_at, owner=owner),
        surely,
        typed_at,
        introduced_at,
        declared_at,
        member_at,
        first_set_at,
    ):
        at = place(text, name)
        if at is not None:
            return at
    return None


def _member_of(text: str, name: str, *, owner: str) -> int | None:
    """Return where a line of the text makes the name a member of the ``owner`` whose braces begin there, else None."""
    if not owner or not is_member_of(text, name, owner):
        return None
    return member_at(text, name, owner, surely=True)


def _defined_by_line(text: str, name: str, *, language: str, owner: str = "") -> int | None:
    """Return where a line of the text defines the name by the rules of its language, which has no grammar: of several
    the first one behind a definition of the ``owner``, else the first one; None where no line does."""
    if language in DISTRIBUTIONS:
        return None
    lines = lines_with(text, name)
    found = [at for at, before, after in lines if name_defined(language, before + name + after) == name]
    of_owner = _defined_by_line(text, owner, language=language) if owner and len(found) > 1 else None
    return next((at for at in found if of_owner is not None and at > of_owner), min(found, default=None))


def _place_of_owner(text: str, name: str, owner: str, language: str) -> int | None:
    """Return where a line of the text defines a name, or makes it a member of the ``owner``, which has more there than
    the two as they were typed; None where no line does."""
    if name not in text:
        return None
    for place in (
        partial(_member_of, owner=owner),
        partial(_defined_by_line, language=language, owner=owner),
        partial(defined_at, owner=owner),
        partial(member_at, owner=owner, surely=True) if is_type(text, owner) else typed_at,
    ):
        at = place(text, name)
        if at is not None:
            return at
    return None


def _lower(text: str) -> str:
    """Return the text in lower case and with plain quotes and dashes, letter by letter: a letter whose small form is
    two, as İ, stays as it is."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(small if len(small := each.lower()) == 1 else each for each in text)
    return plain_signs(low)


def _end_of(text: str, at: int, parts: Sequence[str]) -> tuple[int, int]:
    """Return where the parts end that begin at a place, with any blanks between them, 0 if they are not there; and how
    many were compared."""
    end = at + len(parts[0])
    for place, part in enumerate(parts[1:], 1):
        start = end
        while text[start : start + 1].isspace():
            start += 1
        if start == end or not text.startswith(part, start):
            return 0, place + 1
        end = start + len(part)
    return end, len(parts)
