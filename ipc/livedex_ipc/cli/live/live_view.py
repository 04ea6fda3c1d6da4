"""Draws the state of the terminal UI as rows of styled spans. Without I/O.

Invariant: there are as many rows as the terminal has, none is wider, the cursor is on the screen, and no character of
a file or a name is one that a terminal obeys.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from livedex_ipc.cli.live import slash_commands
from livedex_ipc.cli.live.live_layout import PROMPT, Layout, layout
from livedex_ipc.cli.live.live_state import Page, State, place
from livedex_ipc.cli.live.terminal_cells import clip, clip_left, shown, width
from livedex_ipc.cli.render.shown_paths import path_text, relative

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields

Style = Literal["plain", "path", "line", "match", "strong", "dim", "bad", "chosen"]
MOST_LINE = 4000  # characters of a line that are looked at


class Span(NamedTuple):
    text: str
    style: Style = "plain"


Row = tuple[Span, ...]


class Picture(NamedTuple):
    """``cursor``: row and column, from 0."""

    rows: tuple[Row, ...]
    cursor: tuple[int, int]


def draw(state: State) -> Picture:
    """Return what the terminal shows."""
    parts = layout(state.rows, state.columns)
    prompt, column = _prompt(state)
    if state.page is not None:
        rows = [prompt, *_page(state.page, state.rows - 1)]
    else:
        rows = [prompt, _filters(state), *_body(state, parts)]
    rows = [*rows, *[()] * state.rows][: state.rows]
    if parts.footer is not None and state.page is None:
        rows[parts.footer] = _footer(state)
    return Picture(tuple(_cut(row, state.columns) for row in rows), (0, min(column, state.columns - 1)))


def _prompt(state: State) -> tuple[Row, int]:
    free = max(state.columns - len(PROMPT) - 1, 0)
    before = clip_left(shown(state.text[: state.cursor]), free)
    return (Span(PROMPT, "strong"), Span(before), Span(shown(state.text[state.cursor :]))), len(PROMPT) + width(before)


def _filters(state: State) -> Row:
    query = state.query
    parts = [query.mode, *(f"path:{each}" for each in query.paths), *(f"lang:{each}" for each in query.languages)]
    if query.since:
        parts.append(f"since {query.since}")
    if query.following:
        parts.append("following")
    return (Span(shown("  " + " · ".join(parts)), "dim"), *_state(state))


def _state(state: State) -> Row:
    if state.link != "connected":
        return (Span(" · connecting to the daemon" if state.link == "connecting" else " · no daemon", "bad"),)
    if state.answered != state.requested:
        return (Span(" · …", "dim"),)
    found = len(state.hits)
    count = Span(f" · {found}{'+' if state.more else ''} {'hit' if found == 1 else 'hits'}", "dim")
    return (count,) if state.fresh else (count, Span(" · not fresh", "bad"))


def _footer(state: State) -> Row:
    prompt = slash_commands.parse(state.text)
    if prompt.start is not None:
        names = slash_commands.matching(prompt.name) if prompt.argument is None else [prompt.name]
        if len(names) == 1:
            argument, text = slash_commands.COMMANDS[names[0]]
            return (Span(f"/{names[0]} {argument}".rstrip(), "strong"), Span(f"  {text}", "dim"))
        return (Span("  ".join(f"/{name}" for name in names), "dim"),)
    if state.note:
        return (Span(shown(state.note[:MOST_LINE]), "bad"),)
    count = sum(place(hit) in state.marked for hit in state.hits)
    marked = f"{count} marked · " if count else ""
    return (Span(f"{marked}Enter opens · Tab marks · Ctrl-O prints · / commands · /help", "dim"),)


def _page(page: Page, rows: int) -> list[Row]:
    lines = page.lines[page.top : page.top + max(rows - 2, 0)]
    title = (Span(page.title, "strong"), Span("  (any key closes)", "dim"))
    return [title, (), *((Span(shown(line[:MOST_LINE])),) for line in lines)]


def _body(state: State, parts: Layout) -> list[Row]:
    listed = [_hit(state, index, parts.list_columns) for index in range(state.top, state.top + parts.list_rows)]
    if not parts.preview_rows:
        return listed
    preview = _preview(state, parts)
    if parts.preview_column:
        edge = Span("│ ", "dim")
        return [(*_filled(left, parts.list_columns), edge, *right) for left, right in zip(listed, preview, strict=True)]
    return [*listed, (Span("─" * state.columns, "dim"),), *preview]


def _hit(state: State, index: int, columns: int) -> Row:
    if index >= len(state.hits):
        return ()
    hit = state.hits[index]
    label = clip_left(shown(_label(hit, state.folder)), columns // 2)
    number = f":{hit['line']} "
    marked = place(hit) in state.marked
    head = (Span(("▌" if index == state.selected else " ") + ("*" if marked else " "), "strong"),)
    free = columns - 2 - width(label) - len(number)
    text = hit["text"]
    start = _characters(text, hit["column"])
    line = _line(text, [(start, start + _match_length(hit))], free, strip=True)
    style: Style = "chosen" if index == state.selected else "path"
    return (*head, Span(label, style), Span(number, "line"), *line)


def _label(hit: HitFields, folder: str) -> str:
    path = path_text(hit)
    short = relative(path, folder)
    return short if short != path else f"{os.path.basename(hit['root'].rstrip('/'))}/{hit['relative_path']}"


def _preview(state: State, parts: Layout) -> list[Row]:
    rows: list[Row] = []
    preview = state.preview
    hit = state.hits[state.selected] if state.selected < len(state.hits) else None
    if hit is not None and preview is not None and preview.place == place(hit):
        if preview.note:
            rows = [(Span(shown(preview.note), "dim"),)]
        else:
            top = hit["line"] - 1 - parts.preview_rows // 3 + state.shift
            top = max(min(top, preview.first - 1 + len(preview.lines) - 1), preview.first - 1)
            numbers = range(top + 1, min(top + parts.preview_rows, preview.first - 1 + len(preview.lines)) + 1)
            marks = _marks(hit)
            rows = [
                _numbered(number, preview.lines[number - preview.first], marks, parts.preview_columns)
                for number in numbers
            ]
    return [*rows, *[()] * parts.preview_rows][: parts.preview_rows]


def _numbered(number: int, text: str, marks: dict[int, list[str]], columns: int) -> Row:
    head = f"{number:>4} "
    spans: list[tuple[int, int]] = []
    at = 0
    for match in marks.get(number, ()):
        found = text.find(match, at)
        if found >= 0:
            at = found + len(match)
            spans.append((found, at))
    return (Span(head, "strong" if number in marks else "line"), *_line(text, spans, columns - len(head)))


def _marks(hit: HitFields) -> dict[int, list[str]]:
    """Return the matched texts of each line of the snippet; the line of the first match is always there."""
    found: dict[int, list[str]] = {hit["line"]: []}
    for start, end in hit["highlights"]:
        number = hit["snippet_line"] + hit["snippet"].count("\n", 0, start)
        text = hit["snippet"][start:end].partition("\n")[0]
        if text:
            found.setdefault(number, []).append(text)
    return found


def _line(text: str, matches: list[tuple[int, int]], columns: int, *, strip: bool = False) -> Row:
    """Return a line with its matches; of a line that is too long the part with the first match."""
    begin = len(text) - len(text.lstrip()) if strip else 0
    first = matches[0][0] if matches else 0
    if first - begin > columns * 2 // 3 and width(shown(text[begin:first])[:MOST_LINE]) > columns * 2 // 3:
        begin = max(first - max(columns // 3, 0), begin)
        spans = [Span("…", "dim")]
    else:
        spans = []
    at, end = begin, min(len(text), begin + MOST_LINE)
    for start, stop in matches:
        if start < at or start > end:
            continue
        spans += [Span(shown(text[at:start])), Span(shown(text[start:stop]), "match")]
        at = max(stop, start)
    spans.append(Span(shown(text[at:end])))
    return _cut(spans, columns)


def _characters(text: str, column: int) -> int:
    """Return the index of the character at a 1-based column of bytes."""
    return len(text.encode("utf-8", "replace")[: max(column - 1, 0)].decode("utf-8", "ignore"))


def _match_length(hit: HitFields) -> int:
    if not hit["highlights"]:
        return 0
    start, end = hit["highlights"][0]
    return len(hit["snippet"][start:end].partition("\n")[0])


def _cut(row: Row | list[Span], columns: int) -> Row:
    """Cut a row at the edge."""
    left = columns
    kept: list[Span] = []
    for span in row:
        if not span.text:
            continue
        text = clip(span.text, left)
        if not text:
            break
        kept.append(span._replace(text=text))
        if text != span.text:
            break
        left -= width(text)
    return tuple(kept)


def _filled(row: Row, columns: int) -> Row:
    row = _cut(row, columns)
    return (*row, Span(" " * (columns - sum(width(span.text) for span in row))))
