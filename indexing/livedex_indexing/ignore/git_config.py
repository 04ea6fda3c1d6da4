"""Find the user's ignore file for all repositories: git's ``core.excludesFile``.

Invariant: only the git configuration of the user and of the machine is read, never that of a repository. The author of
a folder must not choose which files of this machine are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from livedex_indexing.ignore.external_files import users_lines

_LIMIT = 1 << 20
_INCLUDES = 10  # levels of files that include each other, the same limit as in git
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\\n]|\\.)*)")?\s*\]')
_ENTRY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


class UserExcludes(NamedTuple):
    """The user's ignore file and the configuration files that name it.

    ``path`` is absolute and need not exist; None if no file is configured. ``sources`` are the configuration files that
    decide this, whether they exist or not.
    """

    path: bytes | None
    sources: tuple[bytes, ...]


def user_excludes(environ: Mapping[str, str]) -> UserExcludes:
    """Return the ``core.excludesFile`` that git would use outside of any repository in this environment."""
    home = environ.get("HOME", "")
    xdg = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    sources = []
    if environ.get("GIT_CONFIG_NOSYSTEM", "").lower() not in ("1", "true", "yes", "on"):
        sources.append(environ.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"))
    if "GIT_CONFIG_GLOBAL" in environ:
        sources.append(environ["GIT_CONFIG_GLOBAL"])
    else:
        sources += [os.path.join(xdg, "git/config")] if xdg else []
        sources += [os.path.join(home, ".gitconfig")] if home else []
    chosen: str | None = None
    seen: list[bytes] = []
    for source in filter(os.path.isabs, sources):
        for value in _values(os.fsencode(source), home, seen, 0):
            chosen = value
    if chosen is None:
        chosen = os.path.join(xdg, "git/ignore") if xdg else ""
    path = _expand(chosen, home)
    return UserExcludes(os.fsencode(path) if os.path.isabs(path) else None, tuple(seen))


def _values(source: bytes, home: str, seen: list[bytes], depth: int) -> Iterator[str]:
    """Yield the values of ``core.excludesFile`` in a configuration file and the files it includes, in order."""
    seen.append(source)
    data = users_lines(source, _LIMIT).data.removeprefix(b"\xef\xbb\xbf")
    for section, key, value in _entries(os.fsdecode(data)):
        if section == "core" and key == "excludesfile":
            yield value
        # A conditional include depends on the current repository: there is none here.
        elif section == "include" and key == "path" and depth < _INCLUDES:
            path = os.path.join(os.path.dirname(os.fsdecode(source)), _expand(value, home))
            yield from _values(os.fsencode(path), home, seen, depth + 1)


def _entries(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (section, key, value) from git's configuration syntax. Stop at an invalid line, as git does."""
    section, at = "", 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] in "#;":
            at = _line_end(text, at)
        elif found := _SECTION.match(text, at):
            section = found[1].lower() + ("." + found[2] if found[2] is not None else "")
            at = found.end()
        elif found := _ENTRY.match(text, at):
            value, at = _value(text, found.end()) if found[2] else ("true", _line_end(text, found.end()))
            yield section, found[1].lower(), value
        else:
            return


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _value(text: str, at: int) -> tuple[str, int]:
    """Return the value that begins at ``at`` and its end. Resolve quotes, escapes, comments and continued lines."""
    out: list[str] = []
    kept, quoted = 0, False  # unquoted spaces at the end are not part of the value
    while at < len(text) and (text[at] != "\n" or quoted):
        char = text[at]
        if char == "\\":
            at += 1
            char = text[at : at + 1]
            if char != "\n":
                out.append(_ESCAPES.get(char, char))
                kept = len(out)
        elif char == '"':
            quoted = not quoted
            kept = len(out)
        elif char in "#;" and not quoted:
            at = _line_end(text, at)
            break
        elif quoted or not char.isspace():
            out.append(char)
            kept = len(out)
        elif out:
            out.append(char)
        at += 1
    return "".join(out[:kept]), at


def _expand(path: str, home: str) -> str:
    """Expand ``~/`` and ``~user/`` at the start of a path, as git does."""
    if path == "~" or path.startswith("~/"):
        return home + path[1:] if home else ""
    return os.path.expanduser(path) if path.startswith("~") else path
