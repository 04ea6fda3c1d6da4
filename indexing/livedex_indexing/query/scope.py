"""Maps absolute paths to places in roots.

Invariant: a file belongs to the innermost root that contains it, so a path names at most one place in a root, plus
every root below the path.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from livedex_indexing import relpath
from livedex_indexing.disk.real_path import real_path
from livedex_indexing.model import Place
from livedex_indexing.store.sql import any_true
from livedex_ipc.errors import OutsideRoots


def places(path: bytes, roots: Mapping[int, bytes]) -> list[Place]:
    """Return the places that an absolute path names: one in the innermost root that contains it, and the roots below
    it.

    The path may contain symbolic links; roots are real paths. Raises OutsideRoots when there is no place.
    """
    found = places_at(os.path.normpath(path), roots) or places_at(real_path(path).path, roots)
    if not found:
        shown = path.decode("utf-8", "replace")
        raise OutsideRoots(f"no root contains {shown}; `livedex up {shown}` adds it", {"path": shown})
    return found


def relative(path: bytes, roots: Mapping[int, bytes]) -> Place | None:
    """Return the place of a path in the innermost root that contains it, None when no root does."""
    containing = [(len(root), root_id) for root_id, root in roots.items() if relpath.is_within(path, root)]
    if not containing:
        return None
    length, root_id = max(containing)
    return Place(root_id, path[length:].strip(b"/"))


def root_at(path: bytes, roots: Mapping[int, bytes]) -> int:
    """Return the id of the root at that path; files of a root nested in it do not belong to it. Raises OutsideRoots."""
    for wanted in (os.path.normpath(path), real_path(path).path):
        for root_id, root in roots.items():
            if root == wanted:
                return root_id
    shown = path.decode("utf-8", "replace")
    raise OutsideRoots(f"{shown} is not a root; `livedex roots list` lists the roots", {"path": shown})


def within(alternatives: Iterable[Place]) -> tuple[str, list[Any]]:
    """Return a condition on ``files d`` for what is at or below any of the places, in parentheses, and its values."""
    parts: list[str] = []
    values: list[Any] = []
    for root_id, path in alternatives:
        if not path:
            parts.append("d.root_id = ?")
            values.append(root_id)
        else:
            parts.append(
                "d.root_id = ? AND (d.folder = ? OR d.folder >= ? AND d.folder < ? OR d.folder = ? AND d.name = ?)"
            )
            values += [root_id, path, *relpath.range_below(path), *relpath.split(path)]
    return any_true(parts), values


def places_at(path: bytes, roots: Mapping[int, bytes]) -> list[Place]:
    """As ``places``, of a real path; empty when no root contains it."""
    inside = relative(path, roots)
    nested = [Place(root_id, b"") for root_id, root in sorted(roots.items()) if relpath.is_below(root, path)]
    return ([inside] if inside is not None else []) + nested
