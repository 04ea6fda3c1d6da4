"""The text of ``--help``, for every command, made from the argument tree."""

from __future__ import annotations

import re

from livedex_ipc.cli.arguments import GLOBAL_OPTIONS, Command, Operand, Option

_BELOW = 8  # blanks before what a narrow terminal shows below an option


def help_text(title: str, command: Command) -> str:
    """Return the help of ``command``; ``title``: its full name, such as ``livedex roots add``."""
    sections = [f"{title}: {command.summary}", f"usage: {_usage(title, command)}"]
    if command.subcommands:
        sections.append(_table("commands", [(each.name, each.summary) for each in command.subcommands]))
    if command.options:
        sections.append(_options("options", command.options))
    sections.append(_options("everywhere", GLOBAL_OPTIONS))
    if command.notes:
        sections.append(command.notes)
    if command.examples:
        sections.append("examples:\n" + "\n".join(f"  {example}" for example in command.examples))
    if command.subcommands:
        sections.append(f"`{title} COMMAND --help` says more about each.")
    return "\n\n".join(sections) + "\n"


def _usage(title: str, command: Command) -> str:
    words = [title]
    if command.subcommands:
        words.append("COMMAND")
    if command.options:
        words.append("[OPTION…]")
    if command.operand is not None:
        words.append(operand_text(command.operand))
    if command.second is not None:
        words.append(operand_text(command.second))
    return " ".join(words)


def operand_text(operand: Operand) -> str:
    """Return the operand as written in a usage line, such as ``[PATH…]``."""
    text = "|".join(operand.choices) or operand.name
    if operand.most is None:
        text += "…"
    return text if operand.least else f"[{text}]"


def _options(title: str, options: tuple[Option, ...]) -> str:
    rows = []
    for option in options:
        flags = ", ".join(option.flags) + (f" {option.metavar}" if option.metavar else "")
        notes = [option.help]
        if option.choices:
            notes.append(f"one of {', '.join(option.choices)}")
        if option.many:
            notes.append("may be repeated")
        rows.append((flags, "; ".join(notes)))
    return _table(title, rows)


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    width = max(len(left) for left, _ in rows)
    return f"{title}:\n" + "\n".join(f"  {left:<{width}}  {right}" for left, right in rows)


def wrapped(text: str, columns: int) -> str:
    """Return a help text with its long lines broken between words; the rows of a table keep to their column, or are
    two lines where that leaves less than half of the columns."""
    from textwrap import wrap

    lines = []
    for line in text.splitlines():
        row = re.match(r"  \S.*?  +(?=\S)|  +(?=\S)|", line)
        begin = row.end() if row else 0
        rest = line
        if begin > columns // 2:
            lines.append(line[:begin].rstrip())
            rest, begin = " " * _BELOW + line[begin:], _BELOW
        parts = wrap(rest, columns, subsequent_indent=" " * begin, break_long_words=False, break_on_hyphens=False)
        lines += parts if len(rest) > columns else [rest]
    return "".join(line + "\n" for line in lines)
