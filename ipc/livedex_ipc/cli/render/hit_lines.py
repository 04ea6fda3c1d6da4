"""Chooses the lines of a hit to show, and cuts them to the width of a terminal.

Invariant: a shown line is a verbatim part of the file's line, with its number in the file and its matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from livedex_ipc.cli.render.terminal_text import display_width, visible

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields

TAB_WIDTH = 8
_CUT = "…"


class Line:
    """``number``: 1-based, in the file; ``text``: without its end; ``spans``: its matches, sorted and disjoint,
    half-open offsets into ``text``; ``matched``: a match touches it, which may be an empty one."""

    __slots__ = ("matched", "number", "spans", "text")

    def __init__(self, number: int, text: str, spans: Sequence[tuple[int, int]] = (), matched: bool = False) -> None:
        self.number = number
        self.text = text
        self.spans = spans
        self.matched = matched


def all_lines(hit: HitFields) -> list[Line]:
    """Return the lines of the snippet and those around it."""
    first = hit["snippet_line"]
    before, after = _split(hit.get("context_before")), _split(hit.get("context_after"))
    snippet = _snippet_lines(hit)
    return [
        *(Line(number, text.removesuffix("\r")) for number, text in enumerate(before, first - len(before))),
        *snippet,
        *(Line(number, text.removesuffix("\r")) for number, text in enumerate(after, first + len(snippet))),
    ]


def telling(lines: Sequence[Line], most: int, around: int = 0) -> list[Line]:
    """Return at most ``most`` of ``lines``, those that say best why they are shown, with the lines ``around`` each.

    A line is better the more different words match in it, then the more matches it has; of equals, the first. Without
    a match the first line with text is returned.
    """
    matched = [at for at, line in enumerate(lines) if line.matched]
    best = sorted(matched, key=lambda at: (*_weight(lines[at]), at))[:most]
    if not best:
        best = [at for at, line in enumerate(lines) if line.text.strip()][:1]
    shown = {near for at in best for near in range(at - around, at + around + 1)}
    return [line for at, line in enumerate(lines) if at in shown]


def _weight(line: Line) -> tuple[int, int]:
    words = {line.text[left:right].casefold() for left, right in line.spans}
    return -len(words), -len(line.spans)


def cut_line(line: Line, columns: int) -> Line:
    """Return the part of ``line`` around its first match that takes at most ``columns``; ``…`` marks each cut."""
    text = line.text
    if _width(text) <= columns:
        return line
    first = line.spans[0][0] if line.spans else 0
    start, free = first, columns // 3
    while start and (free := free - _width(text[start - 1])) >= 0:
        start -= 1
    if _width(text[: first + 1]) <= columns * 2 // 3:
        start = 0
    free = columns - (start > 0) - 1
    end = start
    while end < len(text) and (free := free - _width(text[end])) >= 0:
        end += 1
    ahead, behind = _CUT * (start > 0), _CUT * (end < len(text))
    shift = len(ahead) - start
    spans = [(max(left, start) + shift, min(right, end) + shift) for left, right in line.spans if left < end]
    shown = [span for span in spans if span[0] < span[1]]
    return Line(line.number, f"{ahead}{text[start:end]}{behind}", shown, line.matched)


def _width(text: str) -> int:
    return display_width(visible(text, "\t")) + (TAB_WIDTH - 1) * text.count("\t")


def _snippet_lines(hit: HitFields) -> list[Line]:
    lines: list[Line] = []
    start = 0
    for number, full in enumerate(_split(hit["snippet"]), hit["snippet_line"]):
        end = start + len(full)
        text = full.removesuffix("\r")
        spans = list(_inside(hit["highlights"], start, start + len(text)))
        empty = any(left == right and start <= left <= end for left, right in hit["highlights"])
        lines.append(Line(number, text, spans, bool(spans) or empty))
        start = end + 1
    return lines


def _inside(spans: Iterable[tuple[int, int]], start: int, end: int) -> Iterable[tuple[int, int]]:
    for left, right in spans:
        if max(left, start) < min(right, end):
            yield max(left, start) - start, min(right, end) - start


def _split(text: str | None) -> list[str]:
    """Return the lines of ``text``, none for None or ""; a final line break adds no line."""
    return text.removesuffix("\n").split("\n") if text else []
