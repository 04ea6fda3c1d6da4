"""Makes symbols of the Language Server Protocol of the daemon's hits.

Invariant: a position counts what the client counts (code units of UTF-16, bytes of UTF-8, or characters), in the line
that the hit was read from.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote_from_bytes

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields

Encoding = Literal["utf-8", "utf-16", "utf-32"]
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
MOST_NAME = 160  # characters of a line that a list shows

# SymbolKind of the specification
_FILE, _FUNCTION, _STRING = 1, 12, 15

Symbol = dict[str, object]


def symbols(hits: Sequence[HitFields], encoding: Encoding) -> list[Symbol]:
    """Return one ``WorkspaceSymbol`` for each hit, in order: named by its line, in its definition or section."""
    return [_symbol(hit, encoding) for hit in hits]


def _symbol(hit: HitFields, encoding: Encoding) -> Symbol:
    start, end = _span(hit, encoding)
    line = hit["line"] - 1
    found: Symbol = {
        "name": hit["text"].strip()[:MOST_NAME] or hit["relative_path"],
        "kind": _kind(hit),
        "location": {
            "uri": "file://" + quote_from_bytes(_path(hit)),
            "range": {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}},
        },
    }
    container = hit["symbol"] or hit["heading"]
    if container:
        found["containerName"] = container
    return found


def _path(hit: HitFields) -> bytes:
    return a2b_base64(hit["path_b64"]) if "path_b64" in hit else hit["path"].encode("utf-8", "surrogatepass")


def _kind(hit: HitFields) -> int:
    if hit["symbol"]:
        return _FUNCTION
    return _STRING if hit["kind"].startswith("markdown") else _FILE


def _span(hit: HitFields, encoding: Encoding) -> tuple[int, int]:
    """Return where the hit's place begins and ends in its line: it need not be the first highlight, nor be one.

    Of a very long line, ``text`` is the part in the snippet: each byte before it counts as a unit of the client, which
    is right where the line is ASCII.
    """
    text, column = _bytes(hit["text"]), hit["column"] - 1
    shown, highlights = _in_line(hit)
    for start, end in highlights:
        ahead = column - len(_bytes(shown[:start]))
        if ahead >= 0 and text[ahead:].startswith(_bytes(shown)):
            first = _units(text[:column], encoding)
            return first, first + _units(_bytes(shown[start:end]), encoding)
    start, end = highlights[0] if highlights else (0, 0)
    if column <= len(text):
        first = _units(text[:column], encoding)
        return first, first
    before = _bytes(shown[:start])
    first = column - len(before) + _units(before, encoding)
    return first, first + _units(_bytes(shown[start:end]), encoding)


def _in_line(hit: HitFields) -> tuple[str, list[tuple[int, int]]]:
    """Return what the snippet has of the hit's line, and the highlights that begin in it, as offsets into that."""
    lines = hit["snippet"].split("\n")
    number = min(hit["line"] - hit["snippet_line"], len(lines) - 1)
    begin = sum(len(line) + 1 for line in lines[:number])
    shown = lines[number].removesuffix("\r")
    spans = ((start - begin, end - begin) for start, end in hit["highlights"])
    return shown, [(start, min(end, len(shown))) for start, end in spans if 0 <= start <= len(shown)]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _units(text: bytes, encoding: Encoding) -> int:
    if encoding == "utf-8":
        return len(text)
    characters = text.decode("utf-8", "replace")
    return len(characters) if encoding == "utf-32" else len(characters.encode("utf-16-le", "replace")) // 2
