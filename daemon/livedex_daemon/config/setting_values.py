"""Reads single values of the configuration: sizes, durations, choices, patterns.

Invariant: a reader returns a value of its type and range, or raises ``ValueError`` with a sentence that a user can act
on ("must be …"). Nothing is converted silently: ``true`` is not a number, ``5`` is not text.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from livedex_indexing.query.query_parser import QUERY_BYTES, parse
from livedex_ipc.http_gateways import gateway_address
from livedex_ipc.params import nearest

Reader = Callable[[Any], Any]
Element = TypeVar("Element", int, str)  # of a list: its position; of a table: its key

SIZE_UNITS = {
    "b": 1,
    "kb": 1000,
    "mb": 1000**2,
    "gb": 1000**3,
    "kib": 1024,
    "mib": 1024**2,
    "gib": 1024**3,
}
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

_NUMBER_AND_UNIT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?) ?([A-Za-z]+)", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
MOST_TOPIC_CHARS = 200
TOPIC = re.compile(rf"[A-Za-z0-9_.-]{{1,{MOST_TOPIC_CHARS}}}", re.ASCII)
TOPIC_FORM = "one to 200 letters, digits, underscores, dots and dashes"
OWN_TOPICS = "livedex."
_SUFFIX = re.compile(r"\.[^/\\\s.][^/\\\s]*")
_PART_NAME = re.compile(r"\w[\w.-]{0,99}")


def whole_number(least: int, most: int, unit: str = "") -> Reader:
    """Return a reader of a whole number; ``unit``: of what, in the plural."""
    expected = f"a whole number of {unit}" if unit else "a whole number"

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"must be {expected}, not {kind_of(value)}")
        if not least <= value <= most:
            raise ValueError(f"must be between {least} and {most}, not {_shortened(value)}")
        return value

    return read


def choice(*admitted: str) -> Reader:
    def read(value: Any) -> str:
        listed = one_of(admitted)
        if not isinstance(value, str):
            raise ValueError(f"must be {listed}, not {kind_of(value)}")
        if value not in admitted:
            raise ValueError(f"must be {listed}, not {_shortened(value)}{suggestion(value, admitted)}")
        return value

    return read


def plugin_name(value: Any) -> str:
    """Read the name of what a plugin may provide; empty: the built-in one. Whether it exists is seen later."""
    if not isinstance(value, str):
        raise ValueError(f"must be a name in quotes, not {kind_of(value)}")
    return value


def text(value: Any) -> str:
    """Read a text of one line; empty: none."""
    if not isinstance(value, str):
        raise ValueError(f"must be a text in quotes, not {kind_of(value)}")
    if set(value) & {"\n", "\r", "\0"}:
        raise ValueError("must be one line")
    return value


def standing_query(value: Any) -> str:
    """Read the query of a standing query: one that can find something, and that counts as a whole."""
    query = text(value)
    parsed = parse(query)
    if parsed.cut:
        raise ValueError(f"must have at most {QUERY_BYTES} bytes")
    if not any((parsed.words, parsed.phrases, parsed.excluded, parsed.terms)):
        raise ValueError('must not be empty: write words or filters, such as "TODO lang:python"')
    words = (*parsed.words, *parsed.phrases)
    if words and not any(character.isalnum() for word in words for character in word):
        raise ValueError("must have a word with a letter or a digit: without one it finds nothing")
    return query


def topic(value: Any) -> str:
    """Read the topic of messages that the daemon publishes."""
    name = text(value)
    if TOPIC.fullmatch(name) is None:
        raise ValueError(f"must be {TOPIC_FORM}, not {_shortened(name)}")
    if name.startswith(OWN_TOPICS):
        raise ValueError(f'must not begin with "{OWN_TOPICS}": such topics are livedex\'s own')
    return name


def http_address(value: Any) -> str:
    """Read the address of a gateway, without a key in it; empty: the usual one."""
    address = text(value)
    if not address:
        return address
    parts = gateway_address(address)
    if parts.username or parts.password or parts.query:
        raise ValueError("must have no key in it: name its variable in embedding.api_key_env")
    return address


def variable_name(value: Any) -> str:
    """Read the name of an environment variable, so that no key is ever in the file."""
    name = text(value)
    if name and not _VARIABLE.fullmatch(name):
        raise ValueError('must be the name of an environment variable such as "OPENAI_API_KEY", not a key')
    return name


def number(least: float, most: float) -> Reader:
    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"must be a number, not {kind_of(value)}")
        if not least <= value <= most:
            raise ValueError(f"must be from {least:g} to {most:g}")
        return float(value)

    return read


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {kind_of(value)}")
    return value


def size(least: int, most: int) -> Reader:
    """Return a reader of a size in bytes, a whole number or text such as ``"8MiB"``; the limits are bytes too."""

    def read(value: Any) -> int:
        number = value
        if isinstance(value, str):
            amount, unit = _amount(value, SIZE_UNITS, 'a size such as "8MiB"', fold_case=True)
            number = int(amount * unit)
        elif isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f'must be a size such as "8MiB" or a number of bytes, not {kind_of(value)}')
        if not least <= number <= most:
            raise ValueError(f"must be between {_as_size(least)} and {_as_size(most)}, not {_shortened(value)}")
        return int(number)

    return read


def duration(least_s: float, most_s: float) -> Reader:
    """Return a reader of seconds from text such as ``"10m"``. A bare number is refused: its unit would be a guess."""

    def read(value: Any) -> float:
        if not isinstance(value, str):
            raise ValueError(f'must be a duration such as "10m" or "500ms", not {kind_of(value)}')
        amount, unit = _amount(value, SECONDS, 'a duration such as "10m" or "500ms"', fold_case=False)
        seconds = amount * unit
        if not least_s <= seconds <= most_s:
            between = f"{_as_duration(least_s)} and {_as_duration(most_s)}"
            raise ValueError(f"must be between {between}, not {_shortened(value)}")
        return seconds

    return read


def patterns(value: Any) -> tuple[str, ...]:
    """Read a list of gitignore patterns. A pattern is one line, so it contains no newline and no NUL."""
    if not isinstance(value, list):
        raise ValueError(f'must be a list of patterns such as ["*.tmp"], not {kind_of(value)}')

    def check(_index: int, pattern: Any) -> None:
        if not isinstance(pattern, str):
            raise ValueError(f"must be a pattern in quotes, not {kind_of(pattern)}")
        if not pattern or set(pattern) & {"\n", "\r", "\0"}:
            raise ValueError("must be one gitignore pattern, neither empty nor more than one line")

    _each(enumerate(value), check)
    return tuple(value)


def pipelines(value: Any) -> Mapping[str, str]:
    """Read a table of suffixes (with their dot) to names of pipelines; the returned suffixes are in lower case."""
    if not isinstance(value, dict):
        raise ValueError(f'must be a table such as {{ ".org" = "markdown" }}, not {kind_of(value)}')
    return _by_suffix(value)


def parsers(value: Any) -> Mapping[str, str]:
    """Read a table of suffixes to names of parsers. A name that no parser has is a warning of the daemon's."""
    if not isinstance(value, dict):
        raise ValueError(f'must be a table such as {{ ".docx" = "pandoc" }}, not {kind_of(value)}')
    return _by_suffix(value)


def _by_suffix(value: Mapping[str, object]) -> Mapping[str, str]:
    found: dict[str, str] = {}

    def read(suffix: str, name: object) -> None:
        if not _SUFFIX.fullmatch(suffix):
            raise ValueError('the key must be a suffix with its dot, such as ".org"')
        # File names are bytes, and fold as bytes: only ASCII letters change case.
        folded = suffix.encode().lower().decode()
        if folded in found:
            raise ValueError(f'"{folded}" is set twice: upper and lower case are the same')
        found[folded] = part_name(name)

    _each(value.items(), read)
    return MappingProxyType(found)


def encodings(value: Any) -> Mapping[str, str]:
    """Read a table of globs, as ripgrep's ``-g``, to names of encodings, which become Python's."""
    from livedex_indexing.ignore.globs import BadGlob, GlobFilter

    if not isinstance(value, dict):
        raise ValueError(f'must be a table such as {{ "*.pas" = "cp850" }}, not {kind_of(value)}')
    found: dict[str, str] = {}

    def read(glob: str, name: object) -> None:
        try:
            is_filter = GlobFilter([glob]).bounds
        except BadGlob as fault:
            raise ValueError(f"the key must be a glob: {fault}") from None
        if not is_filter:
            raise ValueError('the key must be a glob of what it is for, such as "*.pas", without "!"')
        found[glob] = encoding_name(name)

    _each(value.items(), read)
    return MappingProxyType(found)


def encoding_name(value: Any) -> str:
    """Read the name of an encoding and return Python's."""
    from livedex_indexing.text.decoder import codec_name

    if not isinstance(value, str):
        raise ValueError(f'must be the name of an encoding, such as "cp1250", not {kind_of(value)}')
    name = codec_name(value)
    if name is None:
        raise ValueError(f'must be an encoding of text that contains ASCII, such as "cp1250", not {_shortened(value)}')
    return name


def part_name(value: Any) -> str:
    """Read the name of a part that a plugin may provide: whether there is one shows only when plugins are loaded."""
    if not isinstance(value, str):
        raise ValueError(f"must be a name in quotes, not {kind_of(value)}")
    if not _PART_NAME.fullmatch(value):
        raise ValueError(f"must be a name of letters, digits, dots, dashes and underscores, not {_shortened(value)}")
    return value


def folders(value: Any) -> tuple[str, ...]:
    """Read a list of folders, each absolute or below ``~``: there is no working folder that a daemon could mean."""
    if not isinstance(value, list):
        raise ValueError(f'must be a list of folders such as ["~/livedex-plugins"], not {kind_of(value)}')

    def check(_index: int, folder: Any) -> None:
        if not isinstance(folder, str):
            raise ValueError(f"must be a folder in quotes, not {kind_of(folder)}")
        if not folder.startswith(("/", "~")) or set(folder) & {"\n", "\0"}:
            raise ValueError('must be an absolute path, or one that begins with "~"')

    _each(enumerate(value), check)
    return tuple(value)


def plugin_table(value: Any) -> Mapping[str, object]:
    """Read the table of one plugin, which may hold anything: read-only, lists as tuples, dates as ISO text."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a table, not {kind_of(value)}")
    return MappingProxyType({name: _frozen(field) for name, field in value.items()})


def _frozen(value: Any) -> object:
    if isinstance(value, dict):
        return plugin_table(value)
    if isinstance(value, list):
        return tuple(_frozen(one) for one in value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value


def thawed(value: object) -> object:
    """Return the value with plain tables and lists, as JSON has them."""
    if isinstance(value, Mapping):
        return {name: thawed(field) for name, field in value.items()}
    return [thawed(one) for one in value] if isinstance(value, tuple) else value


class ElementErrors(ValueError):
    """Faults in elements of a list or a table: ``faults`` maps the position or the key of each to its message."""

    def __init__(self, faults: Mapping[int | str, str]) -> None:
        super().__init__("; ".join(faults.values()))
        self.faults = faults


def _each(elements: Iterable[tuple[Element, Any]], read: Callable[[Element, Any], None]) -> None:
    """Read each element. Raises ElementErrors with the faults of all."""
    faults: dict[int | str, str] = {}
    for element, value in elements:
        try:
            read(element, value)
        except ValueError as fault:
            faults[element] = str(fault)
    if faults:
        raise ElementErrors(faults)


def suggestion(word: str, known: tuple[str, ...]) -> str:
    near = nearest(word.lower(), known)
    return f' (did you mean "{near}"?)' if near else ""


def one_of(admitted: tuple[str, ...]) -> str:
    quoted = [f'"{name}"' for name in admitted]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def kind_of(value: Any) -> str:
    """Return a user's name for the value's type."""
    names = {bool: "true or false", int: "a number", float: "a fraction", str: "text", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or time")


def _amount(text: str, units: Mapping[str, float], what: str, *, fold_case: bool) -> tuple[float, float]:
    match = _NUMBER_AND_UNIT.fullmatch(text.strip())
    unit = "" if match is None else match[2].lower() if fold_case else match[2]
    if match is None or unit not in units:
        written = "B, KB, MB, GB, KiB, MiB, GiB" if fold_case else ", ".join(units)
        raise ValueError(f"must be {what} (units: {written}), not {_shortened(text)}")
    return float(match[1]), units[unit]


def _as_size(count: int) -> str:
    for name in ("GiB", "MiB", "KiB"):
        unit = SIZE_UNITS[name.lower()]
        if count >= unit and count % unit == 0:
            return f"{count // unit}{name}"
    return f"{count}B"


def _as_duration(seconds: float) -> str:
    for name in ("d", "h", "m", "s"):
        if seconds >= SECONDS[name] and seconds % SECONDS[name] == 0:
            return f"{int(seconds // SECONDS[name])}{name}"
    return f"{int(seconds * 1000)}ms"


def _shortened(value: object) -> str:
    text = repr(value) if not isinstance(value, str) else f'"{value}"'
    return text if len(text) <= 60 else text[:57] + "…"
