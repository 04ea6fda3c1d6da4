"""The names of other search tools' commands and options, each with what is meant by it here.

A word that people bring from git, ripgrep, locate and package managers is seldom like the right one in its letters:
``find`` is nearer to ``index`` than to ``search``, and ``--type`` to ``--typing`` than to ``--lang``.
"""

from __future__ import annotations

from collections.abc import Collection

from livedex_ipc.params import nearest

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Final

# Of several, the first that there is: `rm` means `roots remove`, and behind `roots` it means `remove`.
_COMMANDS: Final = {
    "search": ("find", "grep", "query", "ask", "look", "rg"),
    "up": ("add", "init", "start", "open"),
    "down": ("stop", "kill", "quit", "shutdown", "halt"),
    "remove": ("rm", "del", "delete", "unwatch"),
    "roots remove": ("rm", "del", "delete", "remove", "unwatch"),
    "delete": ("rm", "del", "remove", "forget"),
    "list": ("ls", "show", "dir"),
    "index": ("reindex", "rebuild", "refresh", "update", "scan", "rescan"),
    "status": ("info", "st", "state"),
    "audit": ("check", "verify", "fsck", "diff"),
    "validate": ("check", "verify", "test", "lint"),
    "config show": ("settings", "get", "options"),
    "retrieve": ("cat", "read", "print"),
    "service install": ("install", "enable", "setup"),
    "service restart": ("restart",),
}
_OPTIONS: Final = {
    "--lang": ("--type", "--filetype", "--ft"),
    "--glob": ("--include", "--exclude", "--iglob", "--ext", "--extension", "--pattern", "--ignore"),
    "--limit": ("--max-count", "--max-results", "--results", "--top", "--top-k", "--num", "--number", "-m", "-k"),
    "--context": ("--after-context", "--before-context", "-A", "-B"),
    "--in": ("--dir", "--directory", "--folder", "-d"),
    "--since": ("--after", "--newer", "--changed-within"),
    "--before": ("--until", "--older", "--changed-before"),
    "--json": ("--format", "--output", "-o"),
    "--fixed-strings": ("--literal", "--exact", "--verbatim"),
    "--full": ("--verbose", "--content"),
    "--files": ("--names-only", "--name-only", "--paths"),
}  # fmt: skip


def meant_command(word: str, known: Collection[str]) -> str | None:
    """Return the command that ``word`` stands for, such as ``roots remove``, or the one of the ``known`` that is most
    like it; None if there is none. ``known``: the commands that may stand in its place."""
    return _first(word, _COMMANDS, known) or nearest(word, known)


def meant_option(word: str, known: Collection[str]) -> str | None:
    """Return the one of the ``known`` options that ``word`` stands for in other tools; None if there is none."""
    return _first(word, _OPTIONS, known)


def _first(word: str, table: dict[str, tuple[str, ...]], known: Collection[str]) -> str | None:
    return next((ours for ours, theirs in table.items() if word in theirs and ours.split()[0] in known), None)
