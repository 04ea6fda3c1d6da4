"""The page of help of the terminal UI, made from the table of commands."""

from __future__ import annotations

from livedex_ipc.cli.live.live_state import HELP_TITLE, Page
from livedex_ipc.cli.live.slash_commands import COMMANDS

KEYS = (
    ("Enter", "open the hit in $VISUAL or $EDITOR"),
    ("Ctrl-O", "print the marked hits, or this one, as path:line:column:text, and end"),
    ("Tab", "mark the hit; complete a command"),
    ("Up, Down", "another hit; also Ctrl-P, Ctrl-N, page keys, wheel and click"),
    ("Shift-Up, -Down", "scroll the preview"),
    ("Alt-R, Alt-X", "regular expression, exact text"),
    ("?", "this help, if nothing is typed"),
    ("Ctrl-Z", "stop; fg continues"),
    ("Esc, Ctrl-C", "end"),
)


def _lines() -> tuple[str, ...]:
    keys = [f"{keys:<18}{text}" for keys, text in KEYS]
    commands = [f"{f'/{name} {argument}':<18}{text}" for name, (argument, text) in COMMANDS.items()]
    return (*keys, "", "Commands, after the query; Enter runs one:", "", *commands)


HELP = Page(HELP_TITLE, _lines())
