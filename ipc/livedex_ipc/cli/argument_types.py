"""The nodes of the argument tree: commands, operands and options, as plain data.

Invariant: a node says everything that the parser, the help and the shell completions need.
"""

from __future__ import annotations

from collections.abc import Sequence


class Option:
    """One option. ``flags``: its spellings; ``param``: the key of its value.

    ``metavar`` None: takes no value and sets ``const``; ``convert``: a converter of ``argument_values``; ``many``: may
    be repeated, and the values become a list; ``once``: two different values are a fault; ``overrules``: of the options
    that share its param, the last one counts, where else two different ones are a fault; ``choices``: the only values
    allowed, empty for any; ``complete``: what a shell offers as its value (``path``, ``root`` or ``""``).
    """

    __slots__ = (
        "choices",
        "complete",
        "const",
        "convert",
        "flags",
        "help",
        "many",
        "metavar",
        "once",
        "overrules",
        "param",
    )

    def __init__(
        self,
        flags: str,
        param: str,
        help: str,
        *,
        metavar: str | None = None,
        convert: str = "text",
        many: bool = False,
        choices: Sequence[str] = (),
        const: object = True,
        once: bool = False,
        overrules: bool = False,
        complete: str = "",
    ) -> None:
        self.flags = tuple(flags.split())
        self.param = param
        self.help = help
        self.metavar = metavar
        self.convert = convert
        self.many = many
        self.choices = tuple(choices)
        self.const = const
        self.once = once
        self.overrules = overrules
        self.complete = complete


class Operand:
    """The words of a command line that are not options: from ``least`` to ``most`` of them (None: no limit)."""

    __slots__ = ("choices", "complete", "convert", "least", "most", "name", "param")

    def __init__(
        self,
        name: str,
        param: str,
        *,
        least: int = 1,
        most: int | None = 1,
        convert: str = "text",
        choices: Sequence[str] = (),
        complete: str = "",
    ) -> None:
        self.name = name
        self.param = param
        self.least = least
        self.most = most
        self.convert = convert
        self.choices = tuple(choices)
        self.complete = complete


class Command:
    """One command: a leaf with ``run`` (``module:function`` inside this package), or a group with ``subcommands``.

    ``second``: an operand after the first one, which is a single word then; ``bare``: the subcommand that a group
    without one means; ``alias``: a former name, which still works.
    """

    __slots__ = (
        "alias",
        "bare",
        "examples",
        "name",
        "notes",
        "operand",
        "options",
        "run",
        "second",
        "subcommands",
        "summary",
    )

    def __init__(
        self,
        name: str,
        summary: str,
        *,
        run: str = "",
        operand: Operand | None = None,
        second: Operand | None = None,
        options: Sequence[Option] = (),
        subcommands: Sequence[Command] = (),
        bare: str = "",
        alias: str = "",
        notes: str = "",
        examples: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.summary = summary
        self.run = run
        self.operand = operand
        self.second = second
        self.options = tuple(options)
        self.subcommands = tuple(subcommands)
        self.bare = bare
        self.alias = alias
        self.notes = notes
        self.examples = tuple(examples)

    def subcommand(self, name: str) -> Command | None:
        """Return the subcommand called ``name``, now or formerly, None if there is none."""
        return next((command for command in self.subcommands if name in (command.name, command.alias)), None)
