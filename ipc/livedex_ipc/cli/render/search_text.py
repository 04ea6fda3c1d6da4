"""Hits for people: each file a heading, below it the lines of its hits with what matched marked.

The order of the hits is the answer: it is never changed, not even to bring the hits of one file together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from livedex_ipc.cli.render.terminal_text import Style, visible
from livedex_ipc.cli.render.vimgrep import path_text


def hits_text(result: dict[str, Any], *, colour: bool, folder: str | None = None) -> str:
    """The whole text of a search's result. Paths below `folder` (None: the working folder) are shown relative to it.

    The hits keep their order: neighbours in one file share its heading.
    """
    style = Style(colour)
    folder = _working_folder() if folder is None else folder
    lines: list[str] = []
    heading = None
    for hit in result["hits"]:
        path = path_text(hit)
        if path != heading:
            lines += [""] if lines else []
            lines.append(style.path(visible(_short(path, folder))))
            heading = path
        else:
            lines.append(style.dim("--"))
        lines += _hit_lines(hit, style)
    lines += _facet_lines(result.get("facets") or {}, style)
    return "".join(line + "\n" for line in lines)


def _hit_lines(hit: dict[str, Any], style: Style) -> Iterator[str]:
    place = [visible(part) for part in (hit["heading"], hit["symbol"]) if part]
    if hit.get("matches", 1) > 1:
        place.append(f"{hit['matches']} matches")
    if place:
        yield style.dim("  " + " · ".join(place))
    number = hit["snippet_line"]
    before = _split(hit.get("context_before"))
    after = _split(hit.get("context_after"))
    snippet = list(_marked_lines(hit, style))
    for offset, text in enumerate(before, number - len(before)):
        yield _numbered(offset, "-", visible(text, "\t"), style)
    for offset, (text, matched) in enumerate(snippet, number):
        yield _numbered(offset, ":" if matched else "-", text, style)
    for offset, text in enumerate(after, number + len(snippet)):
        yield _numbered(offset, "-", visible(text, "\t"), style)
    if hit.get("also_at"):
        total = hit.get("also_at_total", len(hit["also_at"]))
        rest = f" and {total - 1} more" if total > 1 else ""
        yield style.dim(f"  also at {visible(_entry_path(hit['also_at'][0]))}{rest}")
    if "explain" in hit:
        parts = " + ".join(f"{part['name']} {part['value']:.4g}" for part in hit["explain"]["parts"])
        yield style.dim(f"  score {hit['explain']['total']:.4g} = {parts}")


def _facet_lines(facets: dict[str, dict[str, int]], style: Style) -> Iterator[str]:
    """A line for each facet: how many of all files that match have each value."""
    for number, (name, counts) in enumerate(facets.items()):
        if not number:
            yield ""
        said = "  ".join(f"{visible(value)} {count}" for value, count in counts.items())
        yield f"{style.dim(name)}  {said or '-'}"


def _numbered(number: int, mark: str, text: str, style: Style) -> str:
    return f"{style.line(str(number))}{mark}{text}"


def _marked_lines(hit: dict[str, Any], style: Style) -> Iterator[tuple[str, bool]]:
    """(text, whether a highlight touches it) for each line of the snippet; the text is harmless, matches coloured."""
    start = 0
    for line in _split(hit["snippet"]):
        end = start + len(line)
        pieces: list[str] = []
        position = start
        for left, right in hit["highlights"]:
            left, right = max(left, position), min(right, end)  # noqa: PLW2901 - the part on this line
            if left < right:
                pieces.append(visible(line[position - start : left - start], "\t"))
                pieces.append(style.match(visible(line[left - start : right - start], "\t")))
                position = right
        pieces.append(visible(line[position - start :].removesuffix("\r"), "\t"))
        yield "".join(pieces), position > start
        start = end + 1


def _split(text: str | None) -> list[str]:
    """The lines of `text`, none for none; the break at its end opens no further line."""
    return text.removesuffix("\n").split("\n") if text else []


def _entry_path(entry: str | dict[str, Any]) -> str:
    return entry if isinstance(entry, str) else path_text(entry)


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _short(path: str, folder: str) -> str:
    """`path` relative to `folder` where it lies below it, else as it is."""
    below = folder.rstrip("/") + "/"
    return path[len(below) :] if folder and path.startswith(below) and path != below else path
