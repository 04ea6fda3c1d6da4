"""Finds the chunks that define a name: in the file or the module that it was typed with, in its type, or anywhere.

Invariant: the index only proposes chunks (it has stems and no case); the live file decides whether the name is there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Final

from livedex_indexing.query.declaring_line import defined_at, introduced_at
from livedex_indexing.query.filters import OF_CONTENT
from livedex_indexing.query.hyphenated_name import hyphenated_name
from livedex_indexing.query.keyword_and_name import keyword_and_name
from livedex_indexing.query.member_line import begins_type, has_member, is_member_of, is_type, typed_at
from livedex_indexing.query.message_names import names_in_message
from livedex_indexing.query.names_among_words import members_among, members_as_words, names_among
from livedex_indexing.query.typed_name import TypedName, is_of_types, names_used_with
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.likely_names import begin_definition, defining, first_defining, having, likely_first, within
from livedex_indexing.rank.outline_probe import OutlineProbe
from livedex_indexing.rank.postings import CONTENT_OF, chunks_in_spans, first_of_each, phrase

ROWS: Final = 2_000  # chunks that the index may propose
READ: Final = 8  # chunks of these that are read …
_STEPS: Final = 6  # … and as many again, so many times, while none has the name
_IN_MEMBERS: Final = 8_000  # rows of the rarest word of a member typed as words; of more, it costs 10 ms and more
_SPANS: Final = 200  # files of a module that are looked into
DEFINED: Final = 1.0
WRITTEN: Final = 0.1  # share of a definition's weight for a chunk with the name as typed
OF_VARIABLE: Final = 0.6  # … for the only definition of a name whose typed owner is none: less than for the text
AS_WORDS: Final = 0.7  # … for the definition of a name that was typed as plain words; .8: titles of Linux -.003
AMONG_WORDS: Final = 0.6  # … of a name among other words; .3: such names -.01 to -.02; 1: subjects of commits -.004
IN_ANY_CASE: Final = 0.9  # … of a name that was typed in lower case
OTHER_OWNER: Final = 0.4  # … with another owner
UNSURE: Final = 0.6  # … for a name where no line is known to define it

_WITH_WORDS = """SELECT id, symbol FROM chunks WHERE id IN (SELECT value FROM json_each(?))
                 AND content_id IN (SELECT rowid FROM exact WHERE exact MATCH ?)"""
SYMBOLS = "SELECT id, symbol FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
_NAMED = """SELECT t.first_chunk, t.first_chunk + t.chunks - 1, d.folder, d.name FROM paths p
            CROSS JOIN files d ON d.id = p.rowid CROSS JOIN contents t ON t.id = d.content_id
            WHERE paths MATCH ? LIMIT 3000"""
_FILES = f"""SELECT c.id, d.folder, d.name FROM json_each(?) i CROSS JOIN chunks c ON c.id = i.value
             CROSS JOIN {OF_CONTENT} ON d.content_id = c.content_id"""
_VERSION: Final = re.compile(rb"-v?[0-9][0-9.]*$")
_OF_FOLDER: Final = frozenset({b"__init__", b"index", b"lib", b"mod"})  # files that stand for their folder


class Definitions:
    """Rates the chunks that define the names of one query. ``probe`` knows what was looked for in them before.
    ``files``: the contents that the query names."""

    def __init__(self, view: IndexView, probe: OutlineProbe, files: Collection[int]) -> None:
        self._view, self._probe, self._files = view, probe, files
        self._reader, self._texts = view.reader, view.texts

    def of(self, name: TypedName) -> dict[int, float]:
        """Rate the chunks that define a name, each from 0 to 1."""
        own, owner = self._reader.tokens(name.name), self._reader.tokens(name.owner)
        if not own or not self._probe.may_be_named(own):
            return self._of_member(name, own, owner)
        is_type = name.owner[:1].isupper()  # rather than a module, which is looked for first
        rated = {} if is_type or not owner else self._of_module(name, own)
        if rated:
            return rated
        matches = [phrase(own)]
        if owner:
            matches = [phrase([*owner, *own]), f"({phrase(owner)} AND {phrase(own)})", *matches]
        inside: list[int] = []  # chunks that are in the definition, it seems
        for match in matches:
            is_last = bool(owner) and match is matches[-1]
            is_other = is_last and not inside
            if is_other:
                rated = (self._of_module(name, own) if is_type else {}) or self._of_member(name, own, owner)
            if rated:
                return rated
            found, is_sure = (inside, True) if is_last and inside else self._with_name(match, name, own)
            read = self._texts(found) if owner else {}
            if owner and not is_last and is_sure and not begin_definition(name, read):
                inside = inside or found
                continue
            if not found:
                continue
            rows = self._reader.rows_of(SYMBOLS, found) if owner else []
            symbols = {chunk_id: (symbol or "").split(".") for chunk_id, symbol in rows}
            is_owner_known = is_other or (is_sure and _is_known(name.owner, symbols, read))
            rated = {} if is_owner_known or not owner else self._of_member(name, own, owner)
            is_own = not is_other or _may_be_exported(name, symbols.values())
            value = AS_WORDS if name.is_words else DEFINED if is_own else self._elsewhere(owner)
            if owner and not (is_owner_known or is_type or any(parts[-1] == name.name for parts in symbols.values())):
                value = OF_VARIABLE  # the names there have parts that are called so
            value = value if is_sure else UNSURE * value
            directly = [i for i in sorted(read) if _is_directly_of(name, symbols.get(i, []), read[i])]
            return rated or self.firsts_most(dict.fromkeys(directly or found, value), name)
        return {}

    def _with_name(self, match: str, name: TypedName, own: Sequence[str]) -> tuple[list[int], bool]:
        proposed = within(self._reader, self._view.proposed(f"symbols : {match}", ROWS), self._files)
        return self._named(name, own, self._in_package(proposed, name.package))

    def _of_member(self, name: TypedName, own: Sequence[str], owner: Sequence[str]) -> dict[int, float]:
        """Rate the chunks with a line that makes a name a member of its owner, which is no definition of its own: a
        field, or of an enumeration. A lower-case owner must be a type there: mostly it is a variable."""
        if not own or not owner or not self._probe.is_in_a_name(owner):
            return {}
        match = f"(symbols : {phrase(owner)}) AND (body : {phrase(own)})"
        proposed = within(self._reader, self._view.proposed(match, ROWS), self._files)
        inside = self._in_package(proposed, name.package)
        symbols = {i: (symbol or "").split(".") for i, symbol in self._reader.rows_of(SYMBOLS, inside)}
        likely = sorted(symbols, key=lambda i: (name.owner != symbols[i][-1], name.owner not in symbols[i], i))
        for step in range(0, _STEPS * READ, READ):
            read = self._texts(likely[step : step + READ]) if likely[step:] else {}
            of_owner = [i for i in sorted(read) if _is_of(name, symbols[i], read[i])]
            found = (
                [i for i in of_owner if is_member_of(read[i], name.name, name.owner)]
                or [i for i in of_owner if defined_at(read[i], name.name) is not None]
                or [i for i in of_owner if typed_at(read[i], name.name) is not None]
                or [i for i in of_owner if introduced_at(read[i], name.name) is not None]
                or [i for i in of_owner if has_member(read[i], name.name)]
            )
            if found:
                return self.firsts_most(dict.fromkeys(found, DEFINED))
        return {}

    def in_any_case(self, name: TypedName | None, rated: dict[int, float]) -> dict[int, float]:
        """Rate the chunks that surely define a name typed in lower case in some other case, as ``class Future`` does
        for ``future``; return ``rated`` where the name is defined as it was typed, or nowhere."""
        if name is None or not name.may_be_in_any_case or DEFINED in rated.values():
            return rated
        own = self._reader.tokens(name.name)
        if not own or not self._probe.may_be_named(own):
            return rated
        proposed = self._view.proposed(f"symbols : {phrase(own)}", ROWS)
        named = self.named(name._replace(any_case=True), own, within(self._reader, proposed, self._files))
        return self.firsts_most(dict.fromkeys(named, IN_ANY_CASE), name) if named else rated

    def opened_by(self, text: str) -> list[int]:
        """Return the chunks with the definition of which a text is the beginning, as in ``struct walk``."""
        opened = keyword_and_name(text)
        own = [] if opened is None else self._reader.tokens(opened.name)
        if opened is None or not own or not self._probe.may_be_named(own):
            return []
        row = self._reader.tokens(f"{opened.keyword} {opened.name}")
        proposed = self._view.proposed(f"(symbols : {phrase(own)}) AND (body : {phrase(row)})", ROWS)
        named = self.named(TypedName(opened.name), own, within(self._reader, proposed, self._files))
        return having(self._texts, named, lambda read: opened.place(read) is not None)

    def of_used(self, text: str, used: TypedName) -> dict[int, float]:
        """Rate the definition of a name that a text uses: of types in types, or where a plain word is called with
        names, that of the rarest; else that of what is called or, where nothing defines it, of what it is called
        with."""
        names = [used, *names_used_with(text)]
        if used.is_plain or is_of_types(text):
            names.sort(key=lambda name: self._view.rarest(self._reader.tokens(name.name)))
        return next((rated for name in names if (rated := self.of(name))), {})

    def in_message(self, text: str) -> dict[int, float]:
        """Rate the definitions of the first name in a message that has any."""
        return next((rated for name in names_in_message(text) if (rated := self.of(name))), {})

    def of_hyphenated(self, text: str) -> dict[int, float]:
        """Rate the chunks that surely define the name with hyphens that a text may be."""
        name = hyphenated_name(text)
        rated = {} if name is None else self.of(name)
        return rated if DEFINED in rated.values() else {}

    def _of_module(self, name: TypedName, own: Sequence[str]) -> dict[int, float]:
        """Rate the chunks that surely define a name in the module that it was typed with."""
        for proposed in self._in_module(own, name):
            found, is_sure = self._named(name, own, proposed)
            if is_sure:
                return self.firsts_most(dict.fromkeys(found, DEFINED), name)
        return {}

    def among_words(self, text: str) -> dict[int, float]:
        """Rate the definition of a name that was typed with its type or its file in words, else those of the names
        among some words."""
        for member in members_among(text):
            rated = self.of(member)
            if DEFINED in rated.values():
                return rated
        return {i: AMONG_WORDS * value for name in names_among(text) for i, value in self.of(name).items()}

    def of_member_in_words(self, text: str) -> dict[int, float]:
        """Rate the chunks that surely define a name which was typed in any case with its type or its file, all as
        words: as ``queue put`` and ``put queue`` for ``Queue.put``, or for ``put`` in ``queue.py``."""
        for name in members_as_words(text, turned=True):
            own, owner = self._reader.tokens(name.name), self._reader.tokens(name.owner)
            rarest = self._view.rarest((*own, *owner))
            if not own or not owner or not 0 < rarest <= _IN_MEMBERS or not self._probe.is_in_a_name(own):
                continue
            found: Collection[int] = ()
            if self._probe.is_in_a_name(owner):
                match = f"symbols : ({phrase(owner)} AND {phrase(own)})"
                found = self._view.proposed(match, ROWS)
                found = self.named(name, own, self._inside(found, name.package) if name.package else found)
            rated = self.firsts_most(dict.fromkeys(found, DEFINED)) or self._of_module(name, own)
            if rated:
                return {i: AS_WORDS * value for i, value in rated.items()}
        return {}

    def in_spans(self, name: TypedName, own: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[int]:
        """Return the chunks that surely define a name, among those of some files. ``own``: the words of the name."""
        return self.named(name, own, self._with_symbol(own, spans))

    def _with_symbol(self, own: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[int]:
        return chunks_in_spans(self._reader, f"symbols : {phrase(own)}", spans[:_SPANS], self._view.resolved)

    def named(self, name: TypedName, own: Sequence[str], found: Sequence[int]) -> list[int]:
        """Return those of the chunks found that surely define a name."""
        having_name, is_sure = self._named(name, own, found)
        return having_name if is_sure else []

    def firsts_most(self, rated: Mapping[int, float], name: TypedName | None = None) -> dict[int, float]:
        """Lower all but one chunk of each content: the first with a line that defines the name, where that is behind a
        comment, or else the first: later ones are inside the definition."""
        first = set(first_of_each(self._reader, rated))
        if name is not None and len(first) < len(rated) <= READ:
            first = set(first_defining(name, self._reader.rows_of(CONTENT_OF, rated), self._texts(rated)))
        return {chunk_id: value if chunk_id in first else WRITTEN * value for chunk_id, value in rated.items()}

    def _in_module(self, own: Sequence[str], typed: TypedName) -> Iterator[list[int]]:
        """Yield the chunks with a name in the module that it was typed with: in its file, in its folder, then below
        it, where the module may export what is no member of a type."""
        package, module = typed.package.encode("utf-8", "replace"), typed.owner.encode("utf-8", "replace")
        near: dict[tuple[int, int], int] = {}
        match = f"{{name folder}} : {phrase(self._reader.tokens(typed.owner))}"
        for first, last, folder, name in self._reader.rows(_NAMED, (match,)):
            distance = _distance(package, module, folder, name)
            if distance is not None:
                near[first, last] = distance
            elif _is_below(package, module, folder, name):
                near[first, last] = 2
        for distance in range(2):
            yield self._with_symbol(own, [span for span, value in near.items() if value == distance])
        spans = sorted(span for span, value in near.items() if value == 2)  # maybe thousands: a look at each is dear
        named = self._view.proposed(f"symbols : {phrase(own)}", ROWS) if spans else []
        below = [i for i in named if (at := bisect_right(spans, (i, inf))) and i <= spans[at - 1][1]]
        member = f".{typed.name}"
        yield [i for i, symbol in self._reader.rows_of(SYMBOLS, below) if not (symbol or "").endswith(member)]

    def _in_package(self, found: Sequence[int], package: str) -> Sequence[int]:
        """Return those of the chunks found whose file or folder has the name of a package; all if none has."""
        return (self._inside(found, package) if package and len(found) > 1 else []) or found

    def _inside(self, found: Sequence[int], package: str) -> list[int]:
        """Return those of the chunks found whose file or folder has the name of a package."""
        module = package.encode("utf-8", "replace")
        rows = self._reader.rows_of(_FILES, found) if found else []
        return sorted({i for i, folder, name in rows if _distance(b"", module, folder, name) is not None})

    def _named(self, name: TypedName, own: Sequence[str], found: Sequence[int]) -> tuple[list[int], bool]:
        """Return those of the chunks found that have the name, and whether a line of them is known to define it."""
        finder = name.whole if found else None
        if finder is None:
            return [], False
        if len(found) > READ:
            words = " AND ".join(f'"{token}"' for token in own)
            found = likely_first(self._reader.rows_of(_WITH_WORDS, found, (words,)), finder)
        having_name: list[int] = []
        for step in range(0, READ if name.is_words else _STEPS * READ, READ):
            having_name = having_name or having(self._texts, found[step : step + READ], finder)
        if name.is_words or not having_name:
            return having_name, bool(having_name)
        sure = defining(name, dict(self._reader.rows_of(SYMBOLS, having_name)), self._texts)
        return sure or having_name, bool(sure)

    def _elsewhere(self, owner: Sequence[str]) -> float:
        """Return the value of a definition that has not the typed owner: less where that is defined, too, and not a
        variable."""
        if self._view.counted.known(phrase(owner)) == 0:
            return OF_VARIABLE
        return OTHER_OWNER if self._probe.is_in_a_name(owner) else OF_VARIABLE


def _may_be_exported(name: TypedName, symbols: Iterable[Sequence[str]]) -> bool:
    """Whether a name with a capital behind a lower-case one may be that of a package, which may be the root itself or
    have another name than its folder: no member of a type is called so. ``symbols``: the first of each chunk."""
    is_of_package = name.name[:1].isupper() and not name.owner[:1].isupper()
    return is_of_package and all(len(parts) == 1 for parts in symbols)


def _is_known(owner: str, symbols: Mapping[int, Sequence[str]], read: Mapping[int, str]) -> bool:
    """Whether the owner of a name is that of one of the chunks that define the name, or a namespace there. ``symbols``:
    the first name of each chunk; ``read``: its text."""
    if any(owner in parts for parts in symbols.values()):
        return True
    return any(is_type(text, owner) for text in read.values())


def _is_directly_of(name: TypedName, symbol: Sequence[str], text: str) -> bool:
    """Whether a chunk is in the owner of a name, by its first symbol, and not in another type inside that."""
    if symbol[-1:] == [name.owner] or symbol[-2:] == [name.owner, name.name]:
        return True
    return symbol[-2:-1] == [name.owner] and not begins_type(text, symbol[-1])


def _is_of(name: TypedName, symbol: Sequence[str], text: str) -> bool:
    """Whether the first symbol of a chunk, or its text, says that it is a part of the owner of a name."""
    return is_type(text, name.owner) or (name.owner[:1].isupper() and name.owner in symbol)


def _is_below(package: bytes, module: bytes, folder: bytes, name: bytes) -> bool:
    """Whether a file is a module, or somewhere in its folder, below the folder of the ``package`` if there is one."""
    parts = _parts_of(b"/".join((folder, name.partition(b".")[0])))
    wanted = _parts_of(module)[0]
    return wanted in parts and (not package or _parts_of(package)[0] in parts[: parts.index(wanted)])


def _parts_of(path: bytes) -> list[bytes]:
    return [_VERSION.sub(b"", part).replace(b"-", b"_") for part in path.lower().split(b"/")]


def _distance(package: bytes, module: bytes, folder: bytes, name: bytes) -> int | None:
    """Return 0 for the file of a module, 1 for another file in its folder, None for any other. With a ``package``, that
    is the folder of the module."""
    stem = name.partition(b".")[0]
    *above, last = (_VERSION.sub(b"", part) for part in (b"", b"", *folder.removesuffix(b"/src").split(b"/")))
    if stem.lower() == module.lower() and package in (b"", last):
        return 0
    if last.lower() != module.lower() or package not in (b"", above[-1]):
        return None
    return 0 if stem in _OF_FOLDER else 1
