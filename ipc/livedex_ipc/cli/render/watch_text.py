"""Formats the events of a standing query for people, with a sign: ``+`` added, ``-`` removed, ``=`` already there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedex_ipc.cli.render.search_text import View, hit_text
from livedex_ipc.cli.render.shown_paths import path_text, relative
from livedex_ipc.cli.render.terminal_text import Style, visible

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields, RemovedHit

_SIGNS = {"current": "=", "added": "+"}


def hit_event_text(event: str, hit: HitFields, view: View) -> str:
    """Format a current or an added hit: its place and lines."""
    return hit_text(hit, view, _SIGNS[event])


def removed_text(hit: RemovedHit, view: View) -> str:
    """Format a removed hit: its former place."""
    style = Style(view.colour)
    path = style.path(visible(relative(path_text(hit), view.folder)))
    lines = f"lines {hit['start_line']}-{hit['end_line']}"
    return f"{style.bad('-')} {path} {style.dim(lines)}\n"
