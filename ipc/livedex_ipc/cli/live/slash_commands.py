"""The slash commands of the terminal UI, as data: where one begins in the prompt, and how Tab completes it.

Invariant: a slash begins a command only at the beginning or after a blank, and only before the beginning of a
command's name: ``/usr/lib`` is searched for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields

COMMANDS = {
    "words": ("", "search for words, best hits first"),
    "exact": ("", "the lines that contain the text as typed"),
    "regex": ("", "the lines that match a regular expression"),
    "path": ("TEXT", "only paths that contain TEXT, or below a folder; without TEXT: all"),
    "lang": ("LANGUAGE", "only this language; without one: all"),
    "since": ("TIME", "only files modified since, such as 2d or 2026-05; without TIME: all"),
    "follow": ("", "keep the hits up to date, until the next /follow"),
    "status": ("", "what the daemon does"),
    "why": ("", "why the selected file is in the index"),
    "help": ("", "the keys and commands"),
}


class Prompt(NamedTuple):
    """The parts of a prompt. ``start``: where the command begins; None without one."""

    query: str
    start: int | None = None
    name: str = ""
    argument: str | None = None


def parse(text: str) -> Prompt:
    """Split a prompt into the query and the slash command at its end."""
    start = len(text)
    while (start := text.rfind("/", 0, start)) >= 0:
        if start and text[start - 1] != " ":
            continue
        name, blank, argument = text[start + 1 :].partition(" ")
        known = name in COMMANDS if blank else any(each.startswith(name) for each in COMMANDS)
        if known:
            return Prompt(text[: max(start - 1, 0)], start, name, argument.strip() if blank else None)
    return Prompt(text)


def command_name(prompt: Prompt) -> str:
    """Return the full name of a command; "" if what is typed begins more than one."""
    if prompt.name in COMMANDS:
        return prompt.name
    found = matching(prompt.name)
    return found[0] if len(found) == 1 else ""


def matching(name: str) -> list[str]:
    """Return the names that begin so."""
    return [each for each in COMMANDS if each.startswith(name)]


def completed(text: str, hits: Iterable[HitFields]) -> str:
    """Return the prompt with its command completed: its name, or a language or folder that the hits have."""
    prompt = parse(text)
    if prompt.start is None:
        return text
    head = text[: prompt.start]
    if prompt.argument is None:
        found = matching(prompt.name)
        more = " " if len(found) == 1 and COMMANDS[found[0]][0] else ""
        return f"{head}/{_common(found)}{more}"
    values = _values(prompt.name, hits)
    found = sorted(value for value in values if value.startswith(prompt.argument))
    return f"{head}/{prompt.name} {_common(found)}" if found else text


def _values(name: str, hits: Iterable[HitFields]) -> set[str]:
    if name == "lang":
        return {hit["language"] for hit in hits if hit["language"]}
    if name == "path":
        return {hit["relative_path"].rpartition("/")[0] + "/" for hit in hits if "/" in hit["relative_path"]}
    return set()


def _common(texts: list[str]) -> str:
    """Return the longest beginning that all of them have."""
    least, most = min(texts), max(texts)
    same = 0
    while same < min(len(least), len(most)) and least[same] == most[same]:
        same += 1
    return least[:same]
