"""Checks a parsed configuration against the schema; reports the place of each fault and the key probably meant.

Invariant: all faults are collected, not only the first. The result of ``check`` contains only known keys, with values
that their readers returned.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

from livedex_daemon.config.key_positions import Layout, Path, Position
from livedex_daemon.config.setting_values import (
    ElementErrors,
    encoding_name,
    kind_of,
    patterns,
    plugin_table,
    standing_query,
    topic,
)
from livedex_daemon.config.settings_schema import (
    PLUGIN,
    ROOT_KEYS,
    ROOTS,
    SETTINGS,
    STANDING,
    STANDING_KEYS,
    TABLES,
    known_keys,
)
from livedex_daemon.config.syntax_remedies import remedy
from livedex_ipc.params import nearest

# Python 3.14 has line and column as attributes, older versions only in the message.
_SYNTAX_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


MOST_STANDING = 100
_STANDING_EXAMPLES = {"query": 'query = "TODO lang:python"', "topic": 'topic = "todo.found"'}
_TWICE = re.compile(r"^Cannot declare \((.*)\) twice")


class FaultFields(TypedDict):
    """A ``Fault`` in the data of an error."""

    key: str | None
    line: int | None
    column: int | None
    message: str
    nearest: str | None


class Fault(NamedTuple):
    """One fault. ``key`` is dotted, None for the file as a whole; ``line`` and ``column`` are 1-based (columns count
    bytes), None if the fault has no place; ``nearest`` is the known key that was probably meant."""

    key: str | None
    line: int | None
    column: int | None
    message: str
    nearest: str | None = None

    def fields(self) -> FaultFields:
        return {
            "key": self.key,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "nearest": self.nearest,
        }


class RootEntry(NamedTuple):
    """A root as written in the file: the types are checked, the path is not. ``number`` counts from 0."""

    number: int
    path: str
    ignore: tuple[str, ...]
    ignore_lines: tuple[int, ...]
    place: Position
    encoding: str = ""


class StandingEntry(NamedTuple):
    """A standing query as written in the file, checked. ``line`` is that of the query."""

    query: str
    topic: str
    line: int


class Document(NamedTuple):
    """A parsed TOML text: valid TOML, not yet checked as a configuration."""

    data: dict[str, Any]
    layout: Layout


class Checked(NamedTuple):
    """A checked file: dotted key to the reader's value, the roots and the standing queries in file order, the tables of
    plugins by name, and all faults."""

    values: dict[str, Any]
    roots: list[RootEntry]
    standing: list[StandingEntry]
    plugins: dict[str, Mapping[str, object]]
    faults: list[Fault]


def read_toml(content: bytes) -> Document | Fault:
    """Parse the text. If it is not TOML, return one fault: nothing after the first syntax error can be trusted."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as fault:
        before = content[: fault.start]
        line = before.count(b"\n") + 1
        column = fault.start - (before.rfind(b"\n") + 1) + 1
        return Fault(None, line, column, f"not UTF-8: byte 0x{content[fault.start]:02x} is invalid; save it as UTF-8")
    if text.startswith("\ufeff"):
        return Fault(None, 1, 1, "begins with a byte order mark; save it as UTF-8 without one")
    try:
        return Document(tomllib.loads(text), Layout(text))
    except tomllib.TOMLDecodeError as fault:
        return _syntax_fault(text, str(fault))
    except RecursionError:
        return Fault(None, None, None, "nested too deeply")
    except ValueError:  # more digits than Python converts
        return Fault(None, None, None, "a number has thousands of digits")


def check(document: Document) -> Checked:
    checked = Checked({}, [], [], {}, [])
    walk = _Check(document.layout, checked)
    for name, value in document.data.items():
        if name == ROOTS:
            walk.roots(value)
        elif name == STANDING:
            walk.standing(value)
        elif name in TABLES:
            walk.table(name, value)
        elif name == PLUGIN:
            walk.plugins(value)
        else:
            walk.unknown((name,), (*TABLES, ROOTS, STANDING, PLUGIN))
    walk.overlap_below_chunk_size()
    return checked


class _Check:
    def __init__(self, layout: Layout, checked: Checked) -> None:
        self._layout = layout
        self._checked = checked

    def table(self, name: str, value: Any) -> None:
        if not isinstance(value, dict):
            hint = f", written [{name}] once" if isinstance(value, list) else f", not {kind_of(value)}"
            self._fault((name,), f"must be a table{hint}", at=self._layout.key((name,)))
            return
        for key in value:
            path = (name, key)
            if key in TABLES[name]:
                self._setting(path, value[key])
            else:
                self.unknown(path, tuple(f"{name}.{known}" for known in TABLES[name]))

    def _setting(self, path: Path, value: Any) -> None:
        key = dotted(path)
        try:
            self._checked.values[key] = SETTINGS[key].read(value)
        except ValueError as fault:
            self._value_faults(path, fault)

    def plugins(self, value: Any) -> None:
        if not isinstance(value, dict):
            self._fault((PLUGIN,), "must be tables, each written [plugin.NAME]", at=self._layout.key((PLUGIN,)))
            return
        for name, table in value.items():
            try:
                self._checked.plugins[name] = plugin_table(table)
            except ValueError as fault:
                self._fault((PLUGIN, name), str(fault))

    def roots(self, value: Any) -> None:
        if not isinstance(value, list):
            self._fault((ROOTS,), "must be a list of tables, each written [[roots]]", at=self._layout.key((ROOTS,)))
            return
        for number, entry in enumerate(value):
            self._root(number, entry)

    def standing(self, value: Any) -> None:
        if not isinstance(value, list):
            self._fault(
                (STANDING,), "must be a list of tables, each written [[standing]]", at=self._layout.key((STANDING,))
            )
            return
        if len(value) > MOST_STANDING:
            self._fault((STANDING, MOST_STANDING), f"must be at most {MOST_STANDING}: each costs time at every change")
            return
        for number, entry in enumerate(value):
            self._standing(number, entry)

    def _standing(self, number: int, entry: Any) -> None:
        where: Path = (STANDING, number)
        if not isinstance(entry, dict):
            self._fault(
                where, f'must be a table such as {{ query = "fixme", topic = "fixme.found" }}, not {kind_of(entry)}'
            )
            return
        self._unknown_keys(where, entry, STANDING, STANDING_KEYS)
        found: list[str] = []
        for key, read in (("query", standing_query), ("topic", topic)):
            if key not in entry:
                self._fault(where, f"a standing query needs a {key}: {_STANDING_EXAMPLES[key]}")
                continue
            try:
                found.append(read(entry[key]))
            except ValueError as fault:
                self._fault((*where, key), str(fault))
        if len(found) == len(STANDING_KEYS):
            self._add_standing(where, *found)

    def _add_standing(self, where: Path, query: str, name: str) -> None:
        place = self._layout.value((*where, "query"))
        made = StandingEntry(query, name, place.line if place else 0)
        same = next((each for each in self._checked.standing if each[:2] == made[:2]), None)
        if same is not None:
            self._fault(where, f"is the same as the standing query in line {same.line}: leave one of them out")
        else:
            self._checked.standing.append(made)

    def _root(self, number: int, entry: Any) -> None:
        where: Path = (ROOTS, number)
        if not isinstance(entry, dict):
            self._fault(where, f'must be a table such as {{ path = "~/notes" }}, not {kind_of(entry)}')
            return
        self._unknown_keys(where, entry, ROOTS, ROOT_KEYS)
        ignore = self._ignore(where, entry)
        encoding = self._encoding(where, entry)
        path = entry.get("path")
        if path is None:
            self._fault(where, 'a root needs a path: path = "~/notes"')
        elif not isinstance(path, str):
            self._fault((*where, "path"), f"must be a path in quotes, not {kind_of(path)}")
        else:
            place = self._layout.value((*where, "path")) or Position(1, 1)
            lines = self._lines((*where, "ignore"), len(ignore))
            self._checked.roots.append(RootEntry(number, path, ignore, lines, place, encoding))

    def _ignore(self, where: Path, entry: Mapping[str, object]) -> tuple[str, ...]:
        try:
            return patterns(entry.get("ignore", []))
        except ValueError as fault:
            self._value_faults((*where, "ignore"), fault)
        return ()

    def _encoding(self, where: Path, entry: Mapping[str, object]) -> str:
        try:
            return encoding_name(entry["encoding"]) if "encoding" in entry else ""
        except ValueError as fault:
            self._fault((*where, "encoding"), str(fault))
        return ""

    def _lines(self, where: Path, count: int) -> tuple[int, ...]:
        places = [self._layout.value((*where, number)) for number in range(count)]
        return tuple(place.line if place else 0 for place in places)

    def _unknown_keys(self, where: Path, entry: Mapping[str, object], table: str, known: tuple[str, ...]) -> None:
        for key in entry:
            if key not in known:
                self.unknown((*where, key), tuple(f"{table}.{each}" for each in known))

    def unknown(self, path: Path, siblings: tuple[str, ...]) -> None:
        self._fault(path, "unknown key", at=self._layout.key(path), nearest=_nearest(path, siblings))

    def overlap_below_chunk_size(self) -> None:
        """Check the one rule about two keys. The fault is placed at the key that the file sets, overlap first."""
        values = self._checked.values
        set_here = [key for key in ("chunking.overlap", "chunking.chunk_size") if key in values]
        overlap = values.get("chunking.overlap", SETTINGS["chunking.overlap"].default)
        chunk_size = values.get("chunking.chunk_size", SETTINGS["chunking.chunk_size"].default)
        if overlap < chunk_size or not set_here:
            return
        path = tuple(set_here[0].split("."))
        self._fault(path, f"overlap ({overlap}) must be less than chunk_size ({chunk_size})")

    def _value_faults(self, path: Path, error: ValueError) -> None:
        """Report the error of a reader: of a list, a fault for each wrong element."""
        if isinstance(error, ElementErrors):
            for element, message in error.faults.items():
                self._fault((*path, element), message)
        else:
            self._fault(path, str(error))

    def _fault(self, path: Path, message: str, *, at: Position | None = None, nearest: str | None = None) -> None:
        place = at or self._layout.value(path)
        line, column = place or (None, None)
        self._checked.faults.append(Fault(dotted(path), line, column, message, nearest))


def dotted(path: Path) -> str:
    """Return a path as a user writes it: ``roots[1].path``, ``chunking.pipelines.".org"``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else '"' + part.replace('"', '\\"') + '"'
            text += f".{name}" if text else name
    return text


def _nearest(path: Path, siblings: tuple[str, ...]) -> str | None:
    """Return the most similar key of the same table, else a very similar one of another table, else None."""
    name = str(path[-1]).lower()
    by_name = {known.rsplit(".", 1)[-1]: known for known in siblings}
    near = nearest(name, by_name)
    if near is not None:
        return by_name[near]
    elsewhere = {known.rsplit(".", 1)[-1]: known for known in known_keys()}
    near = nearest(name, elsewhere, cutoff=0.85)
    return elsewhere[near] if near is not None else None


def _syntax_fault(text: str, message: str) -> Fault:
    place = _SYNTAX_PLACE.search(message)
    reason = message if place is None else message[: place.start()]
    line, character = text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1
    if place is not None and place[1]:
        line, character = int(place[1]), int(place[2])
    lines = text.split("\n")
    twice = _TWICE.search(reason)
    if twice is not None:
        header = ".".join(re.findall(r"'([^']*)'", twice[1]))
        places = [str(number) for number, one in enumerate(lines, 1) if re.match(rf"\s*\[{re.escape(header)}\]", one)]
        return Fault(header, line, 1, f"[{header}] is there twice (lines {', '.join(places)}): join the two tables")
    column = len(lines[line - 1][: character - 1].encode()) + 1
    helps = remedy(lines, line, character, reason)
    problem = f"not valid TOML: {reason[:1].lower()}{reason[1:]}"
    return Fault(None, line, column, f"{problem}: {helps}" if helps else problem)
