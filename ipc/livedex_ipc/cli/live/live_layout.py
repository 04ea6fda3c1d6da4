"""Where the parts of the terminal UI are, for each size of the terminal.

Invariant: no part reaches over the edge, and the prompt is always there.
"""

from __future__ import annotations

from typing import NamedTuple

from livedex_ipc.cli.live.live_state import State

PROMPT = "> "
_WIDE = 90  # columns from which the preview is next to the list
_TALL = 16  # rows from which it is below the list
BODY = 2  # the row of the first hit


class Layout(NamedTuple):
    """Rows and columns from 0; a part of size 0 is not shown. The preview has a line or column before it."""

    list_rows: int
    list_columns: int
    preview_row: int
    preview_column: int
    preview_rows: int
    preview_columns: int
    footer: int | None


def layout(rows: int, columns: int) -> Layout:
    """Return the layout of a terminal of this size."""
    footer = rows - 1 if rows > BODY + 1 else None
    body = max(rows - BODY - (footer is not None), 0)
    if columns >= _WIDE:
        left = columns * 11 // 20
        return Layout(body, left, BODY, left + 2, body, columns - left - 2, footer)
    if rows >= _TALL:
        upper = body // 2
        return Layout(upper, columns, BODY + upper + 1, 0, body - upper - 1, columns, footer)
    return Layout(body, columns, 0, 0, 0, 0, footer)


def hit_at(state: State, row: int, column: int) -> int | None:
    """Return the index of the hit at a place of the screen; None if there is none."""
    parts = layout(state.rows, state.columns)
    index = state.top + row - BODY
    inside = BODY <= row < BODY + parts.list_rows and 0 <= column < parts.list_columns
    return index if inside and index < len(state.hits) else None


def in_preview(rows: int, columns: int, row: int, column: int) -> bool:
    """Return whether a place of the screen is in the preview."""
    parts = layout(rows, columns)
    return parts.preview_rows > 0 and row >= parts.preview_row and column >= parts.preview_column
