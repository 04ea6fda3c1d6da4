"""The versions of the installed distributions, which the signatures of chunks and parsers name.

Invariant: the answer is that of ``importlib.metadata``, whose import and reading take a fifth of a chunk process's
start: a wheel's folder is named after its version.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

_CLOSED = (FileNotFoundError, NotADirectoryError, PermissionError)  # a zip file, gone, or another user's


@cache
def version_of(distribution: str) -> str | None:
    """Return the version of an installed distribution; None if there is none. Raises OSError if that is unknown."""
    name = _normal(distribution)
    for folder in sys.path:
        versions = _versions(folder)
        if name in versions:
            return versions[name] or _read(distribution)
    return None


def is_there(package: str) -> bool:
    """Return whether Python's folders have a package, whatever its import says. Raises OSError if that is unknown."""
    for folder in sys.path:
        with suppress(*_CLOSED):
            os.stat(os.path.join(folder, package))
            return True
    return False


@cache
def _versions(folder: str) -> dict[str, str]:
    """Return the versions by normal name of what is installed in a folder, "" for what no wheel has installed."""
    return dict(_entries(folder))


def _entries(folder: str) -> Iterator[tuple[str, str]]:
    try:
        entries = os.listdir(folder or ".")
    except _CLOSED:
        return
    for entry in entries:
        stem, suffix = os.path.splitext(entry)
        if suffix in (".dist-info", ".egg-info"):
            name, _, version = stem.partition("-")
            yield _normal(name), version if suffix == ".dist-info" else ""


def _read(distribution: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()
