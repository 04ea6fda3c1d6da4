"""Statements about many paths at once: one for each path would cost ten times as much as its row.

Invariant: a statement has always the same text, so that SQLite prepares it once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import Any, Final

import apsw

from livedex_indexing import relpath
from livedex_indexing.store.database import fetch

_GROUP: Final = 100  # paths in one statement


def _values(columns: int) -> str:
    return "VALUES " + ", ".join([f"({', '.join('?' * columns)})"] * _GROUP)


# A condition about the files ``f``, for `fetch_named`.
NAMED: Final = f"f.root_id = ? AND (f.folder, f.name) IN ({_values(2)})"
_WITH_FILES = f"""WITH wanted (root, path, low, high) AS ({_values(4)})
                  SELECT DISTINCT path FROM wanted
                  WHERE EXISTS (SELECT 1 FROM files WHERE root_id = root AND folder = path)
                  OR EXISTS (SELECT 1 FROM files WHERE root_id = root AND folder >= low AND folder < high)"""


def fetch_named(db: apsw.Connection, sql: str, root_id: int, paths: Iterable[bytes]) -> list[Any]:
    """Return the rows of a statement with the condition `NAMED` and no other values, for these paths of the root."""
    groups = _groups(relpath.split(path) for path in paths)
    return [row for group in groups for row in fetch(db, sql, (root_id, *group))]


def with_files_below(db: apsw.Connection, root_id: int, paths: Iterable[bytes]) -> set[bytes]:
    """Return those of these paths, which are not ``b""``, that the index has files below."""
    groups = _groups((root_id, path, *relpath.range_below(path)) for path in paths)
    return {path for group in groups for (path,) in fetch(db, _WITH_FILES, group)}


def _groups(values: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """Return the values of each group one after the other; its last value fills it up."""
    left = list(values)
    for start in range(0, len(left), _GROUP):
        group = left[start : start + _GROUP]
        yield list(chain.from_iterable(chain(group, repeat(group[-1], _GROUP - len(group)))))
