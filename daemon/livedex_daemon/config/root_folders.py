"""Resolves the roots of the configuration to real folders, and refuses those that cannot be watched.

Invariant: every resolved path is absolute, and real unless ``RealRoot`` says otherwise; ``same_as`` finds two spellings
of one folder. A missing root is not a fault: it may be on a disk that is not mounted. A network or FUSE mount that does
not answer holds up nobody.

What asks the disk is imported in functions: most commands need none of it.
"""

from __future__ import annotations

import os
import pwd
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

T = TypeVar("T")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^}]*\})")


class RealRoot(NamedTuple):
    """``is_real`` is False if a mount on the way did not answer, so that ``path`` may still contain links."""

    path: str
    is_real: bool


def expand(path: str, env: Mapping[str, str]) -> str:
    """Return ``path`` as an absolute path: a leading ``~`` or ``~user`` is expanded, links are not resolved.

    Raises ValueError with the reason if the path is ambiguous. Variables are not expanded: a service manager may
    start the daemon in an environment that differs from the shell's.
    """
    if not path or "\0" in path:
        raise ValueError("must be the path of a folder, neither empty nor with a NUL")
    expanded = _home(path, env) if path.startswith("~") else path
    variable = _VARIABLE.search(expanded)
    if variable and not _call(expanded, os.path.lexists):
        raise ValueError(f"variables are not expanded: write the value of {variable[0]}, or begin with ~")
    if not os.path.isabs(expanded):
        raise ValueError(f'must be an absolute path or begin with ~, not "{path}"')
    return expanded


def from_home(path: str, env: Mapping[str, str]) -> str:
    """Return an absolute path as a person writes it: with ``~`` if it lies below the home folder that ``~`` means."""
    home = env.get("HOME", "").rstrip("/")
    below = path.removeprefix(home + "/")
    short = f"~/{below}"
    return short if home and below != path and expand(short, env) == path else path


def real_path(path: str) -> RealRoot:
    """Return the absolute path with all links resolved."""
    from livedex_indexing.disk.real_path import real_path as resolved

    found = resolved(os.fsencode(path))
    return RealRoot(os.fsdecode(found.path), found.complete)


def is_folder(path: str) -> bool:
    """Return True for a folder; False also if its mount does not answer."""
    try:
        return _call(path, os.path.isdir)
    except OSError:
        return False


def resolve(path: str, env: Mapping[str, str], own_folders: Sequence[str], *, may_be_taken: bool = False) -> RealRoot:
    """Return the real path of a configured root; ``own_folders`` are livedex's own.

    ``may_be_taken``: a file in the place of the folder is a state of the root, as a missing folder is.
    Raises ValueError if the root can never be watched.
    """
    real, is_real = real_path(expand(path, env))
    if real == "/":
        raise ValueError("the whole file system cannot be a root: name the folders in it")
    for own in map(os.path.realpath, own_folders):
        if real == own or real.startswith(own.rstrip("/") + "/"):
            raise ValueError(f"lies in livedex's own folder {own}, which is never indexed")
    if is_pseudo(real):
        raise ValueError("is on a file system of the kernel (proc, sysfs, …), which livedex never enters")
    try:
        mode = _call(real, os.stat).st_mode
    except TimeoutError:
        return RealRoot(real, False)
    except (OSError, ValueError):  # missing or closed to us: a state of the root, not a fault of its configuration
        return RealRoot(real, is_real)
    if not stat.S_ISDIR(mode) and not may_be_taken:
        raise ValueError("is a file, and a root must be a folder" if stat.S_ISREG(mode) else "is not a folder")
    return RealRoot(real, is_real)


def is_pseudo(path: str) -> bool:
    from livedex_indexing.disk.mounts import mount_kind

    return mount_kind(os.fsencode(path)) == "pseudo"


def same_as(path: str, others: Iterable[str]) -> int | None:
    """Return the index of the first of ``others`` that is the same folder, or None. All paths are real."""
    for index, other in enumerate(others):
        if path == other or (_folded(path) == _folded(other) and _same_folder(path, other)):
            return index
    return None


def _home(path: str, env: Mapping[str, str]) -> str:
    user, slash, rest = path[1:].partition("/")
    try:
        home = (env.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir) if not user else pwd.getpwnam(user).pw_dir
    except KeyError:
        raise ValueError(f"no home folder is known for ~{user}") from None
    return home.rstrip("/") + slash + rest or "/"


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _same_folder(path: str, other: str) -> bool:
    """Return True if two spellings name one folder, on a file system that ignores case or Unicode composition."""
    try:
        return os.path.samestat(_call(path, os.stat), _call(other, os.stat))
    except OSError:
        return False


def _call(path: str, call: Callable[[str], T]) -> T:
    """Return what the call says of the path. Raises OSError, TimeoutError if its mount does not answer."""
    from livedex_indexing.disk.remote_mounts import REMOTE

    return REMOTE.run(os.fsencode(path), b"", partial(call, path))
