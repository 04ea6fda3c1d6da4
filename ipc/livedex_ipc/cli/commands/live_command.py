"""``livedex live``: searches as the user types, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from livedex_ipc.cli.context import Context
from livedex_ipc.cli.streams import Streams, may_colour

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields

_NOTHING_CHOSEN = 130  # as fzf and a shell say that the user ended it


def live(context: Context) -> int:
    """Show the terminal UI; print the choice."""
    import os

    from livedex_ipc.cli.live.live_screen import Screen
    from livedex_ipc.cli.live.live_session import Session
    from livedex_ipc.cli.live.live_state import Mode, Query
    from livedex_ipc.cli.render.shown_paths import working_folder

    modes: dict[str, Mode] = {"exact": "exact", "regex": "regex"}
    values, streams = context.values, context.streams
    query = Query(
        " ".join(values.get("query", ())),
        modes.get(values.get("mode", ""), "words"),
        tuple(values.get("paths", ())),
        tuple(values.get("languages", ())),
        values.get("since", ""),
    )
    screen = Screen(may_colour(streams.color, True, os.environ))
    hits = Session(screen, spawn=not context.line.no_spawn).run(query, working_folder())
    if hits is None:
        return _NOTHING_CHOSEN
    _print(hits, streams)
    return 0


def _print(hits: Sequence[HitFields], streams: Streams) -> None:
    from livedex_ipc.cli.render.terminal_text import visible
    from livedex_ipc.cli.render.vimgrep import first_lines

    if streams.json:
        for hit in hits:
            streams.write_json(hit)
        return
    records = first_lines(hits)
    streams.write("".join(visible(record[:-1]) + "\n" if streams.out_is_terminal else record for record in records))
