"""``livedex help`` and ``version``: as ``--help`` and ``--version``, for those who type a word."""

from __future__ import annotations

from livedex_ipc import __version__
from livedex_ipc.cli.arguments import ROOT
from livedex_ipc.cli.context import Context
from livedex_ipc.cli.help import help_text, wrapped
from livedex_ipc.cli.names_elsewhere import meant_command
from livedex_ipc.errors import InvalidParams


def show(context: Context) -> int:
    """Print the help of the command that the words name. Raises InvalidParams for one that does not exist."""
    command, title = ROOT, "livedex"
    for name in context.values.get("names", []):
        found = command.subcommand(name)
        if found is None:
            meant = meant_command(name, [each.name for each in command.subcommands])
            hint = f"; did you mean {meant}?" if meant else ""
            raise InvalidParams(f"{title} has no command {name!r}{hint}", {"nearest": meant, "remedy": "livedex help"})
        command, title = found, f"{title} {name}"
    text = help_text(title, command)
    streams = context.streams
    context.page(wrapped(text, streams.size[0]) if streams.out_is_terminal else text)
    return 0


def version(context: Context) -> int:
    """Print the version."""
    context.show({"version": __version__}, lambda _: f"livedex {__version__}\n")
    return 0
