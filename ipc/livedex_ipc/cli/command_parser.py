"""Parses a command line against the argument tree.

Options may come anywhere before ``--``, are never abbreviated, and mean the same on every Python: argparse versions
differ for options between operands and around ``--``, and split a QUERY word that begins with a dash. A word that does
not fit raises InvalidParams, which names it and the nearest known one.
"""

from __future__ import annotations

from collections.abc import Iterable

from livedex_ipc.cli.argument_values import convert
from livedex_ipc.cli.arguments import GLOBAL_OPTIONS, ROOT, Command, Operand, Option
from livedex_ipc.errors import InvalidParams

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Any


class CommandLine:
    """A parsed command line.

    ``arguments``: as typed; ``words``: the commands' names (``["roots", "add"]``); ``command``: the last of them in the
    tree; ``values``: param to value, only those given; ``json``: whether --json was given; ``color``: ``auto``,
    ``always`` or ``never``; ``wants``: ``help``, ``version`` or "".
    """

    __slots__ = ("arguments", "color", "command", "json", "no_pager", "no_spawn", "values", "wants", "words")

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self.words: list[str] = []
        self.command: Command = ROOT
        self.values: dict[str, Any] = {}
        self.json = False
        self.color = "auto"
        self.no_pager = False
        self.no_spawn = False
        self.wants = ""

    @property
    def title(self) -> str:
        """The command as typed, such as ``livedex roots add``."""
        return " ".join(["livedex", *self.words])

    def set_global(self, option: Option, value: Any) -> None:
        """Apply one of the options that every command has."""
        if option.param == "json":
            self.json = True
        elif option.param == "color":
            self.color = value
        elif option.param == "no_spawn":
            self.no_spawn = True
        elif option.param == "no_pager":
            self.no_pager = True
        else:
            self.wants = self.wants or option.param


def parse(arguments: list[str], line: CommandLine) -> None:
    """Fill ``line`` from ``arguments`` (without the program's name). Raises InvalidParams.

    The caller makes ``line``, so that it can read ``line.json`` after a fault.
    """
    line.arguments = arguments
    # Read before the first fault is found, so that the fault itself is printed in the requested format.
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    line.json = "--json" in own
    rest = list(reversed(arguments))
    while line.command.subcommands and rest and not line.wants:
        _take_command(line, rest)
    if line.command.bare and not line.wants:
        _take_command(line, [line.command.bare])
    if not line.command.subcommands and not line.wants:
        _take_arguments(line, rest)


def _take_command(line: CommandLine, rest: list[str]) -> None:
    """Take one word, a global option or a command's name, off the end of ``rest``."""
    word = rest.pop()
    if word == "--":
        return
    if word.startswith("-"):
        _take_option(line, word, rest)
        return
    command = line.command.subcommand(word)
    if command is None:
        names = [each.name for each in line.command.subcommands]
        from livedex_ipc.cli.names_elsewhere import meant_command

        raise _fault(line, f"{line.title} has no command {word!r}", nearest=meant_command(word, names))
    line.words.append(command.name)
    line.command = command


def _take_arguments(line: CommandLine, rest: list[str]) -> None:
    operands: list[str] = []
    while rest and not line.wants:
        word = rest.pop()
        if word == "--":
            operands += reversed(rest)
            rest.clear()
        elif word.startswith("--") or (word.startswith("-") and word[1:2].isalnum()):
            if word in ("-e", "--regexp") and operands and line.values.get("mode") == "regex":
                hint = "-e takes no pattern of its own; for one of several: 'a|b'"  # as grep's -e a -e b
                raise _fault(line, hint, field="--regexp")
            _take_option(line, word, rest)
        else:
            operands.append(word)
    if not line.wants:
        second = line.command.second
        _take_operands(line, line.command.operand, operands if second is None else operands[:1])
        if second is not None:
            _take_operands(line, second, operands[1:])


def _take_option(line: CommandLine, word: str, rest: list[str], whole: str = "") -> None:
    """Take an option, with its value off the end of ``rest``. ``whole``: what was typed, of which ``word`` is left."""
    if word.startswith("--"):
        name, equals, attached = word.partition("=")
    else:
        name, equals, attached = word[:2], word[2:], word[2:].removeprefix("=")
    options = (*line.command.options, *GLOBAL_OPTIONS)
    option = _find(options, name)
    if option is None:
        raise _unknown_option(line, name if word.startswith("--") or whole else word, options, whole)
    if option.metavar is None:
        if equals and (word.startswith("--") or equals.startswith("=")):
            raise _fault(line, f"{name} takes no value", field=name)
        _set(line, option, option.const)
        return _take_option(line, "-" + equals, rest, whole or word) if equals else None  # -Fl: two in one word
    if whole and equals and option.convert != "integer":  # -without is hardly -w -i -t hout
        raise _unknown_option(line, whole, options, "")
    if not equals:
        if not rest:
            raise _fault(line, f"{name} needs a value: {name} {option.metavar}", field=name)
        attached = rest.pop()
    return _set(line, option, _converted(line, name, option, attached))


def _set(line: CommandLine, option: Option, value: Any) -> None:
    if option in GLOBAL_OPTIONS:
        line.set_global(option, value)
    elif line.values.get(option.param, value) != value and _narrows(line, option):
        name = option.flags[-1]
        other = _giver(line, option)
        fault = f"{name} may be given once" if other == name else f"{name} and {other} exclude each other"
        raise _fault(line, fault, field=name)
    elif option.many:
        line.values.setdefault(option.param, []).append(value)
    else:
        line.values[option.param] = value


def _narrows(line: CommandLine, option: Option) -> bool:
    """Return whether two different values of the param contradict each other: it is given once, or by several options
    of which not just the last one counts."""
    shared = sum(each.param == option.param for each in line.command.options) > 1
    return option.once or (shared and not option.overrules)


def _giver(line: CommandLine, option: Option) -> str:
    """Return the name of the option that gave the param of ``option`` the value that it has."""
    same = [each for each in line.command.options if each.param == option.param]
    by_value = (each for each in same if each.metavar is None and each.const == line.values[option.param])
    return next(by_value, same[0]).flags[-1]


def _take_operands(line: CommandLine, operand: Operand | None, words: list[str]) -> None:
    if operand is None:
        if words:
            raise _fault(line, f"{line.title} takes no {words[0]!r}", field=words[0])
        return
    if len(words) < operand.least:
        raise _fault(line, f"{operand.name} is missing", field=operand.name)
    if operand.most is not None and len(words) > operand.most:
        raise _fault(line, f"one {operand.name} only, not also {words[operand.most]!r}", field=words[operand.most])
    values = [_converted(line, operand.name, operand, word) for word in words]
    if values:
        line.values[operand.param] = values if operand.most is None else values[0]


def _converted(line: CommandLine, name: str, argument: Option | Operand, text: str) -> Any:
    if argument.choices and text not in argument.choices:
        known = ", ".join(argument.choices)
        raise _fault(line, f"{name} {text!r} is none of: {known}", field=name, nearest=_nearest(text, argument.choices))
    try:
        return convert(argument.convert, text)
    except ValueError as error:
        raise _fault(line, f"{name}: {error}", field=name) from error


def _find(options: Iterable[Option], flag: str) -> Option | None:
    return next((option for option in options if flag in option.flags), None)


def _unknown_option(line: CommandLine, word: str, options: Iterable[Option], whole: str) -> InvalidParams:
    """Return the error. ``whole``: the word of several options that ``word`` is one of, "" for none."""
    from livedex_ipc.cli.names_elsewhere import meant_option

    known = list(options)
    typed = whole or word
    if not word.startswith("--") and len(typed) > 2 and line.command.operand is not None:
        inside = f" (in {whole})" if whole else ""
        as_word = "word to search for" if line.command.operand.param == "query" else line.command.operand.name
        hint = f"; if {typed} is a {as_word}: {line.title} -- {typed}"
        return _fault(line, f"{line.title} has no option {word}{inside}{hint}", field=typed)
    # For the name of a param that no option has, such as --query-context, suggest the option that gives it.
    spellings = {"--" + option.param.replace("_", "-"): option.flags[-1] for option in known}
    spellings.update((flag, flag) for option in known for flag in option.flags)
    meant = meant_option(word, spellings) or spellings.get(_nearest(word, spellings) or "")
    takes_words = line.command.operand is not None
    hint = "; write -- before a word that begins with a dash" if takes_words and not meant else ""
    return _fault(line, f"{line.title} has no option {word}{hint}", field=word, nearest=meant)


def _nearest(word: str, known: Iterable[str]) -> str | None:
    from livedex_ipc.params import nearest

    return nearest(word, known)


def _fault(line: CommandLine, message: str, *, nearest: str | None = None, **data: str) -> InvalidParams:
    if nearest:
        message += f"; did you mean {nearest}?"
        data["nearest"] = nearest
    return InvalidParams(message, {**data, "remedy": f"{line.title} --help"})
