"""The events of a standing query for people: a sign before each, `+` for what came and `-` for what went."""

from __future__ import annotations

from typing import Any

from livedex_ipc.cli.render.search_text import hits_text
from livedex_ipc.cli.render.terminal_text import Style, visible
from livedex_ipc.cli.render.vimgrep import path_text

_SIGNS = {"current": "=", "added": "+", "removed": "-"}


def event_text(event: str, hit: dict[str, Any], *, colour: bool) -> str:
    """One event: of a hit its place and its lines, of one that is no more where it was."""
    style = Style(colour)
    sign = _SIGNS[event]
    if event == "removed":
        lines = f"{hit['start_line']}-{hit['end_line']}"
        return f"{style.bad(sign)} {style.path(visible(path_text(hit)))} {style.dim(f'lines {lines}')}\n"
    return f"{style.good(sign)} {hits_text({'hits': [hit]}, colour=colour, folder='')}"
