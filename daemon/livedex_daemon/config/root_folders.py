"""Resolves the roots of the configuration to real folders, and refuses those that cannot be watched.

Invariant: every resolved path is absolute, and real unless ``RealRoot`` says otherwise; ``same_as`` finds two spellings
of one folder. A missing root is not a fault: it may be on a disk that is not mounted. Nor is what took the place of one
that was accepted before. A network or FUSE mount that does not answer holds up nobody.

What asks the disk is imported in functions: most commands need none of it.
"""

from __future__ import annotations

import errno
import os
import pwd
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

T = TypeVar("T")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^}]*\})")


class RealPath(NamedTuple):
    """``is_real`` is False if a mount on the way did not answer, so that ``path`` may still contain links."""

    path: str
    is_real: bool


class RealRoot(NamedTuple):
    """``written`` is the root's absolute path before links are resolved; it may contain "..".

    ``path`` and ``is_real`` are as in ``RealPath``. Where links lead to where this root may not be, ``path`` is
    ``written``, and ``is_taken`` is True.
    """

    path: str
    is_real: bool
    written: str
    is_taken: bool = False

    @property
    def is_link(self) -> bool:
        return self.is_taken or self.written != self.path

    def taken(self) -> RealRoot:
        """Return the root in whose place a link is: the place that the user named, and not what the link leads to."""
        return self._replace(path=self.written, is_taken=True)


def expand(path: str) -> str:
    """Return ``path`` as an absolute path: a leading ``~`` or ``~user`` is expanded, links are not resolved.

    Raises ValueError with the reason if the path is ambiguous. Variables are not expanded: a service manager may
    start the daemon in an environment that differs from the shell's.
    """
    if not path or "\0" in path:
        raise ValueError("must be the path of a folder, neither empty nor with a NUL")
    expanded = _home(path) if path.startswith("~") else path
    variable = _VARIABLE.search(expanded)
    if variable and not _call(expanded, os.path.lexists):
        raise ValueError(f"variables are not expanded: write the value of {variable[0]}, or begin with ~")
    if not os.path.isabs(expanded):
        raise ValueError(f'must be an absolute path or begin with ~, not "{path}"')
    return expanded


def from_home(path: str) -> str:
    """Return an absolute path as a person writes it: with ``~`` if it lies below the home folder that ``~`` means."""
    home = os.environ.get("HOME", "").rstrip("/")
    below = path.removeprefix(home + "/")
    short = f"~/{below}"
    return short if home and below != path and expand(short) == path else path


def real_path(path: str) -> RealPath:
    """Return the absolute path with all links resolved."""
    from livedex_indexing.disk.real_path import real_path as resolved

    found = resolved(os.fsencode(path))
    return RealPath(os.fsdecode(found.path), found.complete)


def leads_elsewhere(configured: str, path: bytes) -> bool:
    """Return True if the links of a root as it is configured lead to another folder than ``path`` now."""
    try:
        found = real_path(expand(configured))
    except ValueError:
        return False
    return found.is_real and os.fsencode(found.path) != path and is_folder(found.path)


def is_folder(path: str) -> bool:
    """Return True for a folder; False also if its mount does not answer."""
    try:
        return _call(path, os.path.isdir)
    except OSError:
        return False


def resolve(path: str, own_folders: Sequence[str], *, may_be_taken: bool = False) -> RealRoot:
    """Return the real path of a configured root; ``own_folders`` are livedex's own.

    ``may_be_taken``: what took the place of the folder is a state of the root, as a missing folder is.
    Raises ValueError if the root can never be watched.
    """
    expanded = expand(path)
    root = RealRoot(*real_path(expanded), "/" + "/".join(part for part in expanded.split("/") if part not in ("", ".")))
    refusal = _refusal(root.path, own_folders)
    if refusal is not None:
        if may_be_taken and (root.is_link or is_pseudo(root.path)):
            return root.taken()
        raise ValueError(refusal)
    try:
        mode = _call(root.path, os.stat).st_mode
    except TimeoutError:
        return root._replace(is_real=False)
    except OSError as fault:  # missing or closed to us: a state of the root, not a fault of its configuration
        return root.taken() if fault.errno == errno.ELOOP else root
    except ValueError:
        return root
    if not stat.S_ISDIR(mode) and not may_be_taken:
        raise ValueError("is a file, and a root must be a folder" if stat.S_ISREG(mode) else "is not a folder")
    return root


def _refusal(real: str, own_folders: Sequence[str]) -> str | None:
    """Return why no root may be there; None if one may."""
    if real == "/":
        return "the whole file system cannot be a root: name the folders in it"
    for own in map(os.path.realpath, own_folders):
        if real == own or real.startswith(own.rstrip("/") + "/"):
            return f"lies in livedex's own folder {own}, which is never indexed"
    if is_pseudo(real):
        return "is on a file system of the kernel (proc, sysfs, …), which livedex never enters"
    return None


def is_pseudo(path: str) -> bool:
    from livedex_indexing.disk.mounts import mount_kind

    return mount_kind(os.fsencode(path)) == "pseudo"


def owners(roots: Sequence[RealRoot]) -> list[int]:
    """Return for each root the index of the one that has its folder: the first that needs no link to get there."""
    alike: dict[str, list[int]] = {}
    for index, root in enumerate(roots):
        alike.setdefault(_folded(root.path), []).append(index)
    found: list[int] = []
    for root in roots:
        same = [index for index in alike[_folded(root.path)] if same_as(root.path, [roots[index].path]) is not None]
        found.append(next((index for index in same if not roots[index].is_link), same[0]))
    return found


def same_as(path: str, others: Iterable[str]) -> int | None:
    """Return the index of the first of ``others`` that is the same folder, or None. All paths are real."""
    for index, other in enumerate(others):
        if path == other or (_folded(path) == _folded(other) and _same_folder(path, other)):
            return index
    return None


def _home(path: str) -> str:
    user, slash, rest = path[1:].partition("/")
    try:
        home = (os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir) if not user else pwd.getpwnam(user).pw_dir
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
