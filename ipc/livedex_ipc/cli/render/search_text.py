"""Formats hits for people: a heading for each file, then the lines of its hits with the matches highlighted.

The order of the hits is never changed, not even to group the hits of one file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from livedex_ipc.cli.render.terminal_text import Style, visible
from livedex_ipc.cli.render.vimgrep import path_text

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields


def hits_text(
    hits: Iterable[HitFields],
    facets: Mapping[str, Mapping[str, int]] | None = None,
    *,
    colour: bool,
    folder: str | None = None,
) -> str:
    """Format the hits of an answer, and the counts of its facets.

    Paths below ``folder`` (None: the working folder) are shown relative to it. The hits keep their order; adjacent
    hits of one file share its heading.
    """
    style = Style(colour)
    folder = _working_folder() if folder is None else folder
    lines: list[str] = []
    heading = None
    for hit in hits:
        path = path_text(hit)
        if path != heading:
            lines += [""] if lines else []
            lines.append(style.path(visible(_short(path, folder))))
            heading = path
        else:
            lines.append(style.dim("--"))
        lines += _hit_lines(hit, style)
    lines += _facet_lines(facets or {}, style)
    return "".join(line + "\n" for line in lines)


def _hit_lines(hit: HitFields, style: Style) -> Iterator[str]:
    place = [visible(part) for part in (hit["heading"], hit["symbol"]) if part]
    if hit.get("matches", 1) > 1:
        place.append(f"{hit['matches']} matches")
    if place:
        yield style.dim("  " + " · ".join(place))
    number = hit["snippet_line"]
    before = _split(hit.get("context_before"))
    after = _split(hit.get("context_after"))
    snippet = list(_highlighted_lines(hit, style))
    for offset, text in enumerate(before, number - len(before)):
        yield _numbered(offset, "-", visible(text, "\t"), style)
    for offset, (text, matched) in enumerate(snippet, number):
        yield _numbered(offset, ":" if matched else "-", text, style)
    for offset, text in enumerate(after, number + len(snippet)):
        yield _numbered(offset, "-", visible(text, "\t"), style)
    if hit.get("also_at"):
        total = hit.get("also_at_total", len(hit["also_at"]))
        rest = f" and {total - 1} more" if total > 1 else ""
        yield style.dim(f"  also at {visible(_first_copy(hit))}{rest}")
    if "explain" in hit:
        parts = " + ".join(f"{part['name']} {part['value']:.4g}" for part in hit["explain"]["parts"])
        yield style.dim(f"  score {hit['explain']['total']:.4g} = {parts}")


def _facet_lines(facets: Mapping[str, Mapping[str, int]], style: Style) -> Iterator[str]:
    """Yield a line for each facet: each value and how many of all matching files have it."""
    for number, (name, counts) in enumerate(facets.items()):
        if not number:
            yield ""
        listed = "  ".join(f"{visible(value)} {count}" for value, count in counts.items())
        yield f"{style.dim(name)}  {listed or '-'}"


def _numbered(number: int, separator: str, text: str, style: Style) -> str:
    return f"{style.line(str(number))}{separator}{text}"


def _highlighted_lines(hit: HitFields, style: Style) -> Iterator[tuple[str, bool]]:
    """Yield (text, whether a highlight touches it) for each line of the snippet, escaped, with coloured matches."""
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
    """Return the lines of ``text``, none for None or ""; a final line break adds no line."""
    return text.removesuffix("\n").split("\n") if text else []


def _first_copy(hit: HitFields) -> str:
    """Return the first path of ``also_at``."""
    encoded = hit.get("also_at_b64", [None])[0]
    path = hit["also_at"][0]
    return path_text({"path": path} if encoded is None else {"path": path, "path_b64": encoded})


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _short(path: str, folder: str) -> str:
    """Return ``path`` relative to ``folder`` if it is below that, else unchanged."""
    below = folder.rstrip("/") + "/"
    return path[len(below) :] if folder and path.startswith(below) and path != below else path
