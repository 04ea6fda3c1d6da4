"""Formats the events of a standing query for people, with a sign: ``+`` added, ``-`` removed, ``=`` already there."""

from __future__ import annotations

from typing import Any

from livedex_ipc.cli.render.search_text import hits_text
from livedex_ipc.cli.render.terminal_text import Style, visible
from livedex_ipc.cli.render.vimgrep import path_text

_SIGNS = {"current": "=", "added": "+", "removed": "-"}


def event_text(event: str, hit: dict[str, Any], *, colour: bool) -> str:
    """Format one event: for a current or added hit its path and lines, for a removed one its former place."""
    style = Style(colour)
    sign = _SIGNS[event]
    if event == "removed":
        lines = f"{hit['start_line']}-{hit['end_line']}"
        return f"{style.bad(sign)} {style.path(visible(path_text(hit)))} {style.dim(f'lines {lines}')}\n"
    return f"{style.good(sign)} {hits_text({'hits': [hit]}, colour=colour, folder='')}"
