"""Writes the manual page from the argument tree: ``PYTHONPATH=tests python -m helpers.manual_page``.

Invariant: docs/livedex.1 is what this writes; a test compares the two. The distributions ship the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from helpers.support import CHECKOUT
from livedex_ipc import __version__
from livedex_ipc.cli.arguments import GLOBAL_OPTIONS, ROOT, Command, Option
from livedex_ipc.cli.help import operand_text

PAGE = CHECKOUT / "docs" / "livedex.1"

_EXIT = (
    ("0", "done"),
    ("1", "nothing found, or audit found differences"),
    ("2", "wrong usage or bad input"),
    ("3", "no daemon is reachable"),
    ("4", "the operation failed or timed out"),
)
_ENVIRONMENT = (
    ("LIVEDEX_HOME", "one folder for the configuration, the index, the log and the socket"),
    ("LIVEDEX_SOCKET", "the socket, if it is elsewhere"),
    ("LIVEDEX_NO_SPAWN", "if set and not 0, no command starts a daemon"),
    ("NO_COLOR, FORCE_COLOR", "turn colours off, on"),
)


def manual() -> str:
    """Return the page in the man macros of troff."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH LIVEDEX 1 "" "livedex {__version__}" "User Commands"'
    yield from (".SH NAME", f"livedex \\- {_plain(ROOT.summary)}")
    yield from (".SH SYNOPSIS", ".B livedex", ".I COMMAND", "[OPTION ...] [ARGUMENT ...]")
    yield ".SH COMMANDS"
    for title, command in _leaves("livedex", ROOT):
        yield from _command(title, command)
    yield ".SH OPTIONS OF EVERY COMMAND"
    for option in GLOBAL_OPTIONS:
        yield from _option(option)
    yield ".SH EXIT STATUS"
    for code, meaning in _EXIT:
        yield from (".TP", f".B {code}", _plain(meaning))
    yield ".SH ENVIRONMENT"
    for name, meaning in _ENVIRONMENT:
        yield from (".TP", f".B {_plain(name)}", _plain(meaning))


def _leaves(title: str, command: Command) -> Iterator[tuple[str, Command]]:
    for each in command.subcommands:
        if each.subcommands:
            yield from _leaves(f"{title} {each.name}", each)
        else:
            yield f"{title} {each.name}", each


def _command(title: str, command: Command) -> Iterator[str]:
    operands = [operand_text(each) for each in (command.operand, command.second) if each is not None]
    words = [*(["[OPTION …]"] if command.options else []), *operands]
    yield f".SS {_quoted(' '.join([title, *words]))}"
    yield _plain(command.summary[:1].upper() + command.summary[1:] + ".")
    for option in command.options:
        yield from _option(option)
    if command.notes:
        yield ".PP"
        yield from (line for note in command.notes.splitlines() for line in (_plain(note), ".br"))
    if command.examples:
        yield from (".PP", ".nf", *(f".B {_plain(example)}" for example in command.examples), ".fi")


def _option(option: Option) -> Iterator[str]:
    flags = ", ".join(f"\\fB{_plain(flag)}\\fR" for flag in option.flags)
    yield ".TP"
    yield flags + (f" \\fI{_plain(option.metavar)}\\fR" if option.metavar else "")
    notes = [option.help, *([f"one of {', '.join(option.choices)}"] if option.choices else [])]
    yield _plain("; ".join([*notes, *(["may be repeated"] if option.many else [])]))


def _plain(text: str) -> str:
    """Return ``text`` as troff prints it unchanged."""
    special = {
        "\\": "\\e",
        "-": "\\-",
        "'": "\\(aq",
        "`": "\\(ga",
        "^": "\\(ha",
        "~": "\\(ti",
        '"': "\\(dq",
        "…": "...",
    }
    shown = "".join(special.get(character, character) for character in text)
    return "\\&" + shown if shown.startswith(".") else shown


def _quoted(text: str) -> str:
    return f'"{_plain(text)}"'


if __name__ == "__main__":
    PAGE.write_text(manual())
