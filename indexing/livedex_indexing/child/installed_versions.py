"""The versions of the installed distributions, which the signatures of chunks and parsers name.

Invariant: the answer is that of ``importlib.metadata``, whose import and reading take a fifth of a chunk process's
start: a wheel's folder is named after its version.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache


@cache
def version_of(distribution: str) -> str | None:
    """Return the version of an installed distribution; None if there is none."""
    name = _normal(distribution)
    for folder in sys.path:
        versions = _versions(folder)
        if name in versions:
            return versions[name] or _read(distribution)
    return None


@cache
def _versions(folder: str) -> dict[str, str]:
    """Return the versions by normal name of what is installed in a folder, "" for what no wheel has installed."""
    return dict(_entries(folder))


def _entries(folder: str) -> Iterator[tuple[str, str]]:
    try:
        entries = os.listdir(folder or ".")
    except OSError:
        return  # a zip file, or gone
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
