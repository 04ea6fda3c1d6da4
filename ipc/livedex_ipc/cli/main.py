"""The ``livedex`` command: parses the command line, runs one command, and returns its exit code.

Exit codes: 0 done, 1 nothing found, 2 wrong usage or bad input, 3 no daemon, 4 failed; 130 after Ctrl-C. Start-up must
be fast: modules that only one command needs are imported by that command.
"""

from __future__ import annotations

import sys

from livedex_ipc import __version__
from livedex_ipc.cli.arguments import ROOT, Command
from livedex_ipc.cli.command_parser import CommandLine, parse
from livedex_ipc.cli.streams import OutputClosedError, Streams
from livedex_ipc.constants import INTERRUPTED
from livedex_ipc.errors import InvalidParams, LivedexError

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from livedex_ipc.cli.context import LocalExchange


def main(arguments: list[str] | None = None, *, local_exchange: LocalExchange | None = None) -> int:
    """Run ``livedex`` with ``arguments`` (None: those of the process) and return the exit code.

    ``local_exchange``: calls the exchange in this process; None for the thin command, which has none.
    """
    line = CommandLine()
    try:
        try:
            return _run(line, sys.argv[1:] if arguments is None else arguments, local_exchange)
        except LivedexError as error:
            streams = _streams(line)
            streams.flush()  # a result may have been printed before the fault
            streams.error(error)
            return error.exit_code
    except OutputClosedError:
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(line: CommandLine, arguments: list[str], local_exchange: LocalExchange | None) -> int:
    parse(arguments, line)
    streams = _streams(line)
    if line.wants == "version":
        streams.write_json({"version": __version__}) if streams.json else streams.write(f"livedex {__version__}\n")
        code = 0
    elif line.wants or line.command is ROOT:
        from livedex_ipc.cli.help import help_text, wrapped

        text = help_text(line.title, line.command)
        streams.write(wrapped(text, streams.size[0]) if streams.out_is_terminal else text)
        code = 0
    elif not line.command.run:
        names = ", ".join(command.name for command in line.command.subcommands)
        raise InvalidParams(f"{line.title} needs a command: {names}", {"remedy": f"{line.title} --help"})
    else:
        code = _command(line, streams, local_exchange)
    streams.flush()
    return code


def _command(line: CommandLine, streams: Streams, local_exchange: LocalExchange | None) -> int:
    from livedex_ipc.cli.context import Context

    module, _, function = line.command.run.partition(":")
    context = Context(line, streams, local_exchange)
    try:
        # Not by importlib, which would have to be imported.
        loaded = __import__(f"livedex_ipc.cli.commands.{module}", fromlist=[function])
        code: int = getattr(loaded, function)(context)
    except InvalidParams as error:
        raise _as_typed(error, line.command) from None
    except (AttributeError, LookupError, TypeError, ValueError):
        if context.client is not None:  # another program may be at the socket
            context.client.refuse_nonsense()
        raise
    return code


def _as_typed(error: InvalidParams, command: Command) -> InvalidParams:
    """Return the same error in terms of the command line: a user who typed ``-n 0`` does not know ``limit``."""
    field = str((error.data or {}).get("field") or "")
    param = field.partition("[")[0]
    option = next((option for option in command.options if option.param == param), None)
    if option is None or not error.message.startswith(field):
        return error
    from livedex_ipc.cli.option_names import in_options

    name = "" if error.message.startswith(f"{field} plus ") else option.flags[-1]
    message = name + error.message.removeprefix(field) if name else error.message
    return InvalidParams(in_options(message, command), {**(error.data or {}), "option": option.flags[-1]})


def _streams(line: CommandLine) -> Streams:
    return Streams(line.json, line.color)
