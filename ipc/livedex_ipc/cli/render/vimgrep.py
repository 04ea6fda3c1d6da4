"""Formats hits as lines for editors: ``path:line:col:text``, or ``path`` alone.

A record is always one line, whatever its path and text contain; columns are 1-based and count bytes of UTF-8, as in Vim
and ripgrep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from livedex_ipc.cli.render.shown_paths import shown_path

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields

# Every character that some reader takes for a line end: str.splitlines knows all of them, most editors only two.
_LINE_BREAK = re.compile("[\0\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def one_line(text: str) -> str:
    """Return ``text`` with every line break escaped and all other characters unchanged."""
    return _LINE_BREAK.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    named = {10: "\\n", 13: "\\r"}.get(code)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def matched_lines(hit: HitFields, *, of_lines: bool = False) -> Iterator[tuple[int, int, str]]:
    """Yield (line, column, text) for each line of the snippet that a highlight touches, in order.

    An empty highlight touches the line it is in. ``line``: 1-based; ``column``: of the line's first highlighted byte;
    ``text``: the line as far as the snippet shows it, without its line end. A hit without highlights (found by its
    path, or by terms alone) yields nothing. ``of_lines``: the hit is a line, and its ``start_column`` that of its first
    match.
    """
    column = _first_column(hit, of_lines)
    start = 0
    for number, line in enumerate(hit["snippet"].split("\n"), hit["snippet_line"]):
        end = start + len(line)
        text = line.removesuffix("\r")
        touched = [
            max(left, start)
            for left, right in hit["highlights"]
            if max(left, start) < min(right, end) or start <= left == right <= end
        ]
        if touched:
            yield number, column + _utf8_length(line[: touched[0] - start]), text
        start = end + 1
        column = 1


def _utf8_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _first_column(hit: HitFields, of_lines: bool) -> int:
    """Return the column of the snippet's first byte: a snippet of a very long line begins inside it."""
    if hit["snippet_line"] == hit["start_line"]:
        start_column = 1 if of_lines else hit["start_column"]
        return start_column + max(hit["snippet_byte"] - hit["start_byte"], 0)
    return 1


def vimgrep(
    hits: Sequence[HitFields], *, of_lines: bool = False, null: bool = False, every: bool = False
) -> Iterator[str]:
    """Yield ``path:line:col:text`` for each matched line, with its line end. ``of_lines``: see matched_lines.

    ``null``: the path is as it is, and a NUL byte follows it. ``every``: a hit without a matched line has its first.
    """
    for hit in hits:
        path = _path(hit, null, ":")
        lines = list(matched_lines(hit, of_lines=of_lines))
        if every and not lines:
            lines = [(hit["line"], hit["column"], hit["text"])]
        for line, column, text in lines:
            yield f"{path}{line}:{column}:{one_line(text)}\n"


def first_lines(hits: Sequence[HitFields]) -> Iterator[str]:
    """Yield ``path:line:col:text`` of the first match of each hit, with its line end."""
    for hit in hits:
        yield f"{_path(hit, False, ':')}{hit['line']}:{hit['column']}:{one_line(hit['text'])}\n"


def file_lines(hits: Sequence[HitFields], *, count: bool = False, null: bool = False) -> Iterator[str]:
    """Yield the path of each file among the hits, once, in the order of its best hit, with its line end.

    ``count``: with its number of matches; ``null``: a NUL byte instead of the sign behind the path.
    """
    for hit in _first_of_each(hits):
        if count:
            yield f"{_path(hit, null, ':')}{hit.get('matches', 1)}\n"
        else:
            yield _path(hit, null, "\n")


def _path(hit: HitFields, null: bool, sign: str) -> str:
    path = shown_path(hit)
    return path + "\0" if null else one_line(path) + sign


def _first_of_each(hits: Sequence[HitFields]) -> Iterator[HitFields]:
    seen: set[str] = set()
    for hit in hits:
        path = shown_path(hit)
        if path not in seen:
            seen.add(path)
            yield hit
