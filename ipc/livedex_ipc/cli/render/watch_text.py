"""Formats the events of a standing query for people, with a sign: ``+`` added, ``-`` removed, ``=`` already there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedex_ipc.cli.render.search_text import hits_text
from livedex_ipc.cli.render.terminal_text import Style, visible
from livedex_ipc.cli.render.vimgrep import path_text

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields, RemovedHit

_SIGNS = {"current": "=", "added": "+"}


def hit_event_text(event: str, hit: HitFields, *, colour: bool) -> str:
    """Format a current or an added hit: its path and lines."""
    return f"{Style(colour).good(_SIGNS[event])} {hits_text([hit], colour=colour, folder='')}"


def removed_text(hit: RemovedHit, *, colour: bool) -> str:
    """Format a removed hit: its former place."""
    style = Style(colour)
    lines = f"{hit['start_line']}-{hit['end_line']}"
    return f"{style.bad('-')} {style.path(visible(path_text(hit)))} {style.dim(f'lines {lines}')}\n"
