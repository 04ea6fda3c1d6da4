"""Recognises what a whole query may be: the name of a definition, with its decoration or as plain words; a text pasted
as it is written.

Invariant: pure; what is found is a part of the typed text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from livedex_indexing.query.asking_words import ASKING, ASKING_FOR_USES, KINDS
from livedex_indexing.query.query_terms import STOP_WORDS
from livedex_indexing.text.terms import parts_of_all

_CALL: Final = re.compile(r"\(\)?\Z")
_JOINTS: Final = re.compile(r":::?|->|\.|#|/|\\")
_ENTRY_POINT: Final = re.compile(r"(\w+(?:\.\w+)+):([^\W\d][\w.]*)")
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*[!?]?")
_FRONT: Final = "@&*$~!:.#`'‘"
_BACK: Final = ":.,;`'’"
_USED: Final = re.compile(r"(\S*?\w)(?:\((?![\s)])[^\n]{{1,80}}|\[{0}\]|<{0}>)[;:,.]?".format(r"(?!\s)[\w\s,*&]{1,30}"))
_IN_SIGNS: Final = re.compile(r"[\[\](){}<>&/$]*((?:\w+(?:\.|::|->))*[^\W\d]\w+)\s?(?:[\[\](){}<>&/!?;]|->|::)*")
_WITH_OWNER: Final = re.compile(r"(?<![\w.\"'])(?:\w+(?:\.|::))*[^\W\d]\w+")
_STARRED: Final = re.compile(r"[^\W\d]\w*(?:\*\w+)+", re.ASCII)
_OFFSET: Final = re.compile(r"\b(\w+)\+0x[0-9a-f]+(?:/0x[0-9a-f]+)?(?!\w)")  # in a program, as kernels print it
_LEAST: Final = 2  # characters of a name
_LEAST_PIECE: Final = 4  # … and of a piece of one
_WORDS: Final = range(2, 8)  # words that may be the parts of one name
_VERBATIM: Final = 3  # words of a text that may be pasted, at least; with signs one less
MOST_ASKING: Final = 8  # words of a text that asks for one
_LINE_WORDS: Final = 3  # words of a line that was typed with more around it, at least
AROUND: Final = "?!.,;:\"'`"
_COMPOUND: Final = re.compile(r"[^\W\d][\w-]*")
_NAME_ENDS: Final = re.compile(r"[.-]+")
_PIECES: Final = re.compile(r"[-_]")
_WORD: Final = re.compile(r"\w+")
_SIGN: Final = re.compile(r"[^\w\s]")
_CODE: Final = re.compile(
    r"[^\w\s.,;:?!'\"‘’“”()–—-]|_|\w\(|[,;:]\s*\Z|(?<!\S)(?:--\w|-[A-Za-z]\b)|\"\s*:"
)  # signs that prose seldom has
_PAIR: Final = re.compile(r"[\w.-]+:\s+\S+|\d[\d.,]*\s+[A-Za-z]+")  # a key and its value, a number and its unit
_PLAIN_SIGNS: Final = str.maketrans("‘’‚“”„‐‑‒–—−\u00a0", "'''\"\"\"------ ")
_QUOTED: Final = re.compile(r"\".+\"")
_ABSOLUTE: Final = ("/", "~/")  # as paths begin, and no name with its owner
_SLICE: Final = re.compile(r"\A(?:\[\d*\])+\*?(?=[^\W\d])")  # []Name, []*Name: of Go
_RECEIVER: Final = re.compile(r"\A\(\*?(\w+)\)(?=\.)")  # (*Owner).Name, of Go
_LABEL: Final = re.compile(r"[^\W\d]\w+:")
_PREFIX: Final = re.compile(r"CONFIG_(?=\w)")  # by which the sources of Linux know their options
_OF_KIND: Final = re.compile(rf"\b(?:the|this|that) (?:{'|'.join(sorted(KINDS))}) ([a-z]+)\b", re.IGNORECASE)
_PLAIN: Final = re.compile(r"[a-z]{4,}")
IN_PARTS: Final = r"(?=\w*(?:[^\W_]_[^\W_]|[a-z0-9][A-Z]))[^\W\d]\w+"  # a word of several parts
_SHAPED: Final = re.compile(r"\w_|_\w|[a-z0-9][A-Z]|[A-Z].*[a-z]|\(\)\Z")  # a word that is a name rather than prose

Finder = Callable[[str], bool]  # whether a text has what was typed


class TypedName(NamedTuple):
    """A name that a query may be. ``name`` is as typed, without its decoration, or the words joined by blanks;
    ``owner`` is what it belongs to (``Foo`` of ``Foo.bar``), and ``package`` what that belongs to, empty where nothing
    was typed."""

    name: str
    owner: str = ""
    any_case: bool = False
    package: str = ""

    @property
    def is_words(self) -> bool:
        """Whether the name was typed as plain words."""
        return " " in self.name

    @property
    def is_plain(self) -> bool:
        """Whether the name is a lower-case word, which may have other forms."""
        return self.name.isalnum() and self.name.islower()

    @property
    def may_be_in_any_case(self) -> bool:
        """Whether the name was typed in lower case, as people type all names."""
        return not (self.is_words or self.owner) and self.name == self.name.lower()

    @property
    def whole(self) -> Finder:
        """Finds the very name; for words, any way to join them."""
        if self.is_words:
            joined = r"[\W_]?".join(map(re.escape, self.name.split()))
            pattern = re.compile(rf"(?<![^\W_])(?:{joined})(?![^\W_])", re.IGNORECASE)
            return lambda text: pattern.search(text) is not None
        if self.any_case:
            folded = self.name.lower()
            return lambda text: _has_word(text.lower(), folded)
        return lambda text: _has_word(text, self.name)

    @property
    def may_be_piece(self) -> bool:
        """Whether the name may be a piece of longer names."""
        return not self.is_words and len(self.name) >= _LEAST_PIECE

    def longer(self, text: str) -> Iterator[str]:
        """Yield the names in a text that contain the name, from the beginning of one of their parts on."""
        if text.isascii() and self.name.isascii():
            return _longer_ascii(self.name.lower(), text)
        pattern = re.compile(rf"\w*?(?:(?<![^\W_])|(?=[A-Z]))(?i:{re.escape(self.name)})\w*")
        return (match[0] for match in pattern.finditer(text))


def typed_name(text: str) -> TypedName | None:
    """Return the name that a whole query may be; None where it is none."""
    words = text.split()
    if len(words) in _WORDS and all(word.isalnum() for word in words):
        return TypedName(" ".join(words))
    if len(words) != 1 or words[0].startswith(_ABSOLUTE):
        return None
    entry = _ENTRY_POINT.fullmatch(words[0])
    word = _RECEIVER.sub(r"\1", _SLICE.sub("", words[0])) if entry is None else f"{entry[1]}.{entry[2]}"
    parts = [part for part in _JOINTS.split(_CALL.sub("", word.rstrip(_BACK)).lstrip(_FRONT)) if part]
    if not parts or len(parts[-1]) < _LEAST or not _IDENTIFIER.fullmatch(parts[-1]):
        return None
    package, owner, name = ["", "", *parts][-3:]
    return TypedName(name, owner, package=package)


def name_inside(text: str) -> TypedName | None:
    """Return the one name in a text whose other words only ask for it, as in ``def run`` or ``where is runTask?``, or
    that is used there, as in ``run(task)``, ``runs[0]``, ``Run<T>`` or ``run+0x1a/0x30``; None for any other text."""
    used = _USED.fullmatch(text.strip()) or _OFFSET.search(text)
    if used is not None:
        return typed_name(used[1])
    words = [word.strip(AROUND) for word in text.split()]
    names = [word for word in words if word.lower() not in ASKING]
    if len(names) != 1 or len(words) == 1:
        return None
    begins = names[0] == words[0] and names[0].istitle()  # as every sentence does
    is_name = any(word.lower() in KINDS for word in words) or (_SHAPED.search(names[0]) and not begins)
    return typed_name(names[0]) if is_name else None


def names_used_with(text: str) -> list[TypedName]:
    """Return the names in the brackets behind the one that `name_inside` finds in a text, as in ``List<Walk>`` or
    ``isinstance(x, Walk)``: those that look like names."""
    used = _USED.fullmatch(text.strip())
    words = [] if used is None else _WITH_OWNER.findall(text.strip()[used.end(1) :])
    names = [typed_name(word) for word in words if _SHAPED.search(word) or word[:1].isupper()]
    return [name for name in names if name is not None]


def is_of_types(text: str) -> bool:
    """Whether a text ends as types with types do: ``List<Walk>``, ``List[Walk]``."""
    return text.rstrip(";:,. ").endswith((">", "]"))


def has_offset(text: str) -> bool:
    """Whether a text names a place in a program as kernels print it, as in ``run+0x1a/0x30``."""
    return _OFFSET.search(text) is not None


def plain_name_inside(text: str) -> TypedName | None:
    """Return the lower-case word that a question may ask for as a name: the only one that does not just ask, or that
    behind a kind of definition, as in ``the function walk is slow``; None for any other text."""
    words = [word.strip(AROUND) for word in text.split()]
    if not 2 < len(words) <= MOST_ASKING or STOP_WORDS.isdisjoint(map(str.lower, words)):
        return None
    names = [word for word in words if word.lower() not in ASKING]
    of_kind = _OF_KIND.search(text)
    name = names[0] if len(names) == 1 else of_kind[1] if of_kind is not None else ""
    return TypedName(name) if _PLAIN.fullmatch(name) and name not in ASKING else None


def without_prefix(word: str) -> str:
    """Return an option of Linux as it is declared (``NET`` for ``CONFIG_NET=y``), the type of which Go has a slice
    (``Name`` for ``[]*Name``), any other word as it is."""
    word = _SLICE.sub("", word)
    return _PREFIX.sub("", word).partition("=")[0] if _PREFIX.match(word) else word


def name_used(text: str) -> TypedName | None:
    """Return the name whose uses a text asks for, as in ``what calls run_task`` or ``callers of run()``; None for any
    other text."""
    words = [word.strip(AROUND) for word in text.split()]
    lower = [word.lower() for word in words]
    if not 1 < len(words) <= MOST_ASKING or ASKING_FOR_USES.isdisjoint(lower):
        return None
    names = [word for word, low in zip(words, lower, strict=True) if low not in ASKING | ASKING_FOR_USES]
    if len(names) != 1 or not (_SHAPED.search(names[0]) or not STOP_WORDS.isdisjoint(lower)):
        return None  # a compound such as `call graph`
    return typed_name(names[0])


def name_in_signs(text: str) -> TypedName | None:
    """Return the only name in a text that has signs of code around it, as in ``[]Run``, ``<Run />`` or ``run()->``."""
    found = _IN_SIGNS.fullmatch(text.strip())
    return None if found is None else typed_name(found[1])


def name_of(word: str) -> TypedName | None:
    """Return the name in a word that has more than that: an owner, or what it is used with."""
    name = typed_name(word)
    if name is None:
        return name_inside(word)
    return name if name.owner else None


def is_starred(text: str) -> bool:
    """Whether a text is a name with a part left out, as in ``read*Limit``, or a product."""
    return _STARRED.fullmatch(text) is not None


def joined_names(text: str) -> list[str]:
    """Return the names that dots and hyphens join in a text, two at least: a number alone is none."""
    names = [part for part in _NAME_ENDS.split(text) if any(character.isalpha() for character in part)]
    return names if len(names) > 1 else []


def in_words(text: str) -> TypedName | None:
    """Return a name of several parts as plain words; None for any other text."""
    if not _COMPOUND.fullmatch(text):
        return None
    parts = parts_of_all(filter(None, _PIECES.split(text)))
    return TypedName(" ".join(parts)) if len(parts) in _WORDS else None


def may_be_pasted(text: str) -> bool:
    """Whether a text is a single word or a pair, or has a sign that prose seldom has."""
    return len(text.split()) == 1 or _has_signs(text)


def may_be_literal(text: str) -> bool:
    """Whether a text is all in quotes: it is a phrase, or a text as programs write it."""
    return _QUOTED.fullmatch(text) is not None


def is_label(text: str) -> bool:
    """Whether a text is a word with a colon behind it, as ``Fixes:`` or ``error:``: rather a text than a name."""
    return _LABEL.fullmatch(text) is not None


def has_signs_around(text: str) -> bool:
    """Whether a text is one word with a sign in front of it or behind it, unless these are of code around a name: so it
    is a text, since the index has no signs."""
    is_around = len(text.split()) == 1 and not (text[0].isalnum() and text[-1].isalnum())
    return is_around and name_in_signs(text) is None


def typed_text(text: str) -> Finder | None:
    """Return what finds a text of several words as it was typed, whatever its blanks and case, or a word with signs
    such as ``--all``; None for other texts."""
    if len(_WORD.findall(text)) >= _VERBATIM - (_has_signs(text) or may_be_literal(text)):
        typed = _evenly(text)
        return lambda other: typed in _evenly(other)
    return _signed_word(text.strip())


def _has_signs(text: str) -> bool:
    return _CODE.search(text) is not None or _PAIR.fullmatch(text) is not None


def _signed_word(text: str) -> Finder | None:
    """Return what finds a text without blanks that has a word and a sign, unless it is a name, maybe with ``()``."""
    if len(text.split()) != 1 or not (_SIGN.search(_CALL.sub("", text)) and _WORD.search(text)):
        return None
    folded, before, behind = text.lower(), text[0].isalnum(), text[-1].isalnum()

    def find(other: str) -> bool:
        low = other.lower()
        at = low.find(folded)
        while at >= 0:
            end = at + len(folded)
            if not (before and continues_word(low[at - 1 : at])) and not (
                behind and continues_word(low[end : end + 1], "-")
            ):
                return True
            at = low.find(folded, at + 1)
        return False

    return find


def typed_case(text: str) -> Finder:
    """Return what tells whether another text, which has the text, has it in its case: of several words, and of a
    lower-case word, every case is right."""
    typed = text.strip()
    if len(typed.split()) != 1 or typed.islower():
        return lambda _other: True
    return lambda other: typed in other


def typed_words(text: str) -> Finder | None:
    """Return what finds the words of a text with signs in a row, whatever signs and blanks are between them, and their
    case: programs, pages and comments put signs of their own there. None for words alone."""
    if _SIGN.search(text) is None or len(_WORD.findall(text)) < 2:
        return None
    typed = f" {_words_alone(text)} "
    return lambda other: typed in f" {_words_alone(other)} "


def typed_line(text: str) -> Finder:
    """Return what finds a text as a whole line, whatever its blanks and case."""
    typed = _evenly(text)
    return lambda other: any(typed == _evenly(line) for line in other.splitlines())


def line_inside(text: str) -> Finder:
    """Return what finds a text with a whole line of some words that was typed with more around it, whatever its blanks
    and case."""
    typed = _evenly(text)
    return lambda other: any(
        _evenly(line) in typed for line in other.splitlines() if len(_WORD.findall(line)) >= _LINE_WORDS
    )


def typed_title(text: str) -> Finder:
    """Return what finds a text as a whole line or as a heading, in its case."""
    title = " ".join(text.split())
    return lambda other: any(
        title in (" ".join(line.split()), " ".join(line.strip("#=* \t").split())) for line in other.splitlines()
    )


def _evenly(text: str) -> str:
    return " ".join(plain_signs(text).lower().split())


def plain_signs(text: str) -> str:
    """Return a text with plain quotes and dashes for those that pages and documents print."""
    return text if text.isascii() else text.translate(_PLAIN_SIGNS)


def _words_alone(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _longer_ascii(folded: str, text: str) -> Iterator[str]:
    """Do what the pattern of `TypedName.longer` does, in a twentieth of its time."""
    low = text.lower()
    at = low.find(folded)
    while at >= 0:
        end = at + len(folded)
        if text[at].isupper() or not text[at - 1 : at].isalnum():
            while at and continues_word(text[at - 1]):
                at -= 1
            while end < len(text) and continues_word(text[end]):
                end += 1
            yield text[at:end]
            at = end - 1
        at = low.find(folded, at + 1)


def word_place(text: str, word: str, other: str = "_") -> int:
    """Return where a text has a word that is not a part of a longer one, -1 if nowhere. ``other``: as for
    `continues_word`. A pattern takes longer to compile than this."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (continues_word(text[at - 1 : at], other) or continues_word(text[end : end + 1], other)):
            return at
        at = text.find(word, at + 1)
    return -1


def _has_word(text: str, word: str) -> bool:
    return word_place(text, word) >= 0


def continues_word(character: str, other: str = "_") -> bool:
    """Whether a character beside a word is a part of it."""
    return character.isalnum() or (character != "" and character in ("_", other))
