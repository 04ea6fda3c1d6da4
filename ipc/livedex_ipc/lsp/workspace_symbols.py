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
    start = _start(hit, encoding)
    end = start + _units(_match(hit).encode("utf-8", "replace"), encoding)
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


def _start(hit: HitFields, encoding: Encoding) -> int:
    """Return where the hit's place is in its line.

    Of a very long line, ``text`` is the part in the snippet: each byte before it counts as a unit of the client, which
    is right where the line is ASCII.
    """
    text = hit["text"].encode("utf-8", "replace")
    first = _marked(hit)[0]
    shown = hit["snippet"][:first].rpartition("\n")[2].encode("utf-8", "replace")
    hidden = hit["column"] - 1 - len(shown)
    if hidden <= len(text) and text[hidden:].startswith(shown + _match(hit).encode("utf-8", "replace")):
        return _units(text[: hit["column"] - 1], encoding)
    return hidden + _units(shown, encoding)


def _match(hit: HitFields) -> str:
    """Return the text of the first match in the hit's line, as far as that goes; empty if the hit has none."""
    start, end = _marked(hit)
    return hit["snippet"][start:end].split("\n", 1)[0]


def _marked(hit: HitFields) -> Sequence[int]:
    """Return the first highlight in the hit's line, else the first of all; an empty one if there is none."""
    ahead = hit["line"] - hit["snippet_line"]
    in_line = (span for span in hit["highlights"] if hit["snippet"].count("\n", 0, span[0]) == ahead)
    return next(in_line, hit["highlights"][0] if hit["highlights"] else (0, 0))


def _units(text: bytes, encoding: Encoding) -> int:
    if encoding == "utf-8":
        return len(text)
    characters = text.decode("utf-8", "replace")
    return len(characters) if encoding == "utf-32" else len(characters.encode("utf-16-le", "replace")) // 2
