"""Finds files by pieces of their paths, as a picker asks for them with each key.

Invariant: the paths are those of the generation that the reader sees. The order depends on the query and the index
alone, so pages of one generation fit together.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from livedex_indexing import relpath
from livedex_indexing.model import STATUSES, Status
from livedex_indexing.path_text import display_path, path_b64
from livedex_indexing.search.fuzzy_match import Piece, borders_of, plain
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import GENERATION

_SCORED: Final = 64  # the best by a rough order, which are put in the exact order
_ROUGH: Final = 1_000  # that are compared roughly: of more, those with the piece as typed in their names, the shortest
_REMEMBERED: Final = 16  # queries: what is typed next is looked for in what the last one found
_MOST_PIECES: Final = 16
_MOST_CHARACTERS: Final = 256
# From rare to common in paths: the first that a path lacks tells.
_RARE_FIRST: Final = "qzjxkwvyhbgfupdmlcnoirstae0123456789-_. /"
_STATUSES: Final = tuple(STATUSES.index(status) for status in ("indexed", "skipped"))
_FILES: Final = f"""SELECT root_id, folder, name, status, mtime_ns FROM files WHERE status IN {_STATUSES}
                    AND root_id IN (SELECT id FROM roots WHERE missing_since IS NULL)"""


class FoundFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file whose path matches. ``path`` is absolute; ``path_b64`` is None if the path is UTF-8."""

    path: str
    path_b64: str | None = None
    root: str
    relative_path: str
    status: Status


class FoundFiles(NamedTuple):
    """One page, the best first; ``total`` counts all pages."""

    files: list[FoundFile]
    total: int


class _Paths(NamedTuple):
    """All paths of a generation, by length: what is compared is the root's own name and the path below it.

    ``shown`` is as written, ``plain`` without case and diacritics, ``names`` where the base names begin.
    """

    generation: int
    roots: dict[int, bytes]
    rows: list[tuple[int, bytes, bytes, int, int]]
    shown: list[str]
    plain: list[str]
    names: list[int]
    borders: dict[int, bytes]  # of those that were scored


class PathFinder:
    """Finds paths in one index file. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: _Paths | None = None
        self._found: OrderedDict[str, Sequence[int]] = OrderedDict()

    def release_memory(self) -> None:
        with self._lock:
            self._paths = None
            self._found.clear()

    def find(
        self,
        reader: Reader,
        query: str,
        roots: Mapping[int, bytes],
        *,
        limit: int,
        offset: int = 0,
        sort: Literal["relevance", "modified", "path"] = "relevance",
    ) -> FoundFiles:
        """Return the files whose paths have the blank-separated pieces of ``query``, each with its letters in order.

        Without a piece, all files are returned; their ``relevance`` is when they were modified. ``roots`` are the
        watched roots by id. Raises DeadlinePassed or Cancelled.
        """
        paths = self._current(reader, roots)
        pieces = [Piece(text) for text in dict.fromkeys(query[:_MOST_CHARACTERS].split())][:_MOST_PIECES]
        found = self._matching(reader, paths, pieces) if pieces else range(len(paths.rows))
        if sort == "path":
            order: Sequence[int] = sorted(found, key=lambda at: _path(paths, at))
        elif sort == "modified" or not pieces:
            order = sorted(found, key=lambda at: -paths.rows[at][4])
        else:
            order = _ordered(reader, paths, pieces, found, offset + limit)
        return FoundFiles([_record(paths, at) for at in order[offset : offset + limit]], len(found))

    def _current(self, reader: Reader, roots: Mapping[int, bytes]) -> _Paths:
        with reader.snapshot():
            generation = int(reader.one(GENERATION))
            paths = self._paths
            if paths is None or paths.generation != generation or paths.roots != roots:
                paths = _read(reader, generation, roots)
                with self._lock:
                    self._paths = paths
                    self._found.clear()
        return paths

    def _matching(self, reader: Reader, paths: _Paths, pieces: Sequence[Piece]) -> Sequence[int]:
        """Return the places of the paths that match, in order."""
        key = " ".join(piece.typed for piece in pieces)
        with self._lock:
            known = dict(self._found) if self._paths is paths else {}
        found: Sequence[int] = known.get(key, ())
        if key in known:
            return found
        # A path that has `src mai` has `src ma` too, unless that made case not count.
        begun = [typed for typed in known if key.startswith(typed) and (typed == typed.lower()) == (key == key.lower())]
        before = max(begun, key=len, default="")
        found = known[before] if begun else range(len(paths.rows))
        for piece in pieces:
            reader.check()
            texts = paths.shown if piece.has_case else paths.plain
            for character in sorted(set(piece.text).difference(before), key=_RARE_FIRST.find):
                found = [at for at in found if character in texts[at]]
            if len(piece.text) > 1:
                find = piece.find
                found = [at for at in found if find(texts[at])]
        with self._lock:
            if self._paths is paths:
                self._found[key] = found
                while len(self._found) > _REMEMBERED:
                    self._found.popitem(last=False)
        return found


def _read(reader: Reader, generation: int, roots: Mapping[int, bytes]) -> _Paths:
    heads = {root_id: display_path(root).rstrip("/").rpartition("/")[2] for root_id, root in roots.items()}
    below: list[tuple[str, tuple[int, bytes, bytes, int, int]]] = []
    for row in reader.rows(_FILES):
        if row[0] in heads:
            below.append((f"{heads[row[0]]}/{display_path(relpath.join(row[1], row[2]))}", row))
    below.sort(key=lambda entry: (len(entry[0]), entry[0]))
    shown = [text for text, _ in below]
    texts = [plain(text) for text in shown]
    names = [text.rfind("/") + 1 for text in shown]
    return _Paths(generation, dict(roots), [row for _, row in below], shown, texts, names, {})


def _ordered(
    reader: Reader, paths: _Paths, pieces: Sequence[Piece], found: Sequence[int], wanted: int
) -> Sequence[int]:
    """Return at least the first ``wanted`` of ``found``, the best first: of equals, the shortest path."""
    roughly = found
    if len(found) > _SCORED:
        roughly = _roughly_best(reader, paths, pieces, found, wanted)
    best = list(roughly[:_SCORED])
    scores = {at: _score(paths, pieces, at) for at in best}
    best.sort(key=lambda at: (-scores[at], at))
    return [*best, *roughly[_SCORED:]]


def _roughly_best(
    reader: Reader, paths: _Paths, pieces: Sequence[Piece], found: Sequence[int], wanted: int
) -> Sequence[int]:
    names = paths.names
    compared = _likely(paths, pieces[-1], found) if len(found) > _ROUGH else found
    reader.check()
    rough = dict.fromkeys(compared, 0)
    for piece in pieces:
        text = paths.shown if piece.has_case else paths.plain
        for at in compared:
            rough[at] += piece.rough(text[at], names[at])
    first = sorted(compared, key=rough.__getitem__)
    if len(first) >= wanted or len(first) == len(found):
        return first
    return [*first, *(at for at in found if at not in rough)]


def _likely(paths: _Paths, piece: Piece, found: Sequence[int]) -> Sequence[int]:
    """Return the `_ROUGH` paths among which the best are sought."""
    text, names, typed = paths.shown if piece.has_case else paths.plain, paths.names, piece.text
    likely = [at for at in found if text[at].find(typed, names[at]) >= 0]
    if len(likely) > _ROUGH:
        likely = [at for at in likely if text[at].startswith(typed, names[at])]
    if len(likely) < _SCORED:
        initials = piece.find_initials
        likely += [at for at in found if initials(text[at], names[at] - 1) is not None]
    return sorted(dict.fromkeys([*likely[:_ROUGH], *found[: max(0, _ROUGH - len(likely))]]))


def _score(paths: _Paths, pieces: Sequence[Piece], at: int) -> int:
    borders = paths.borders.get(at)
    if borders is None:
        borders = paths.borders[at] = borders_of(paths.shown[at])
    return sum(
        piece.score(paths.shown[at] if piece.has_case else paths.plain[at], paths.names[at], borders)
        for piece in pieces
    )


def _path(paths: _Paths, at: int) -> bytes:
    root_id, folder, name, *_ = paths.rows[at]
    return relpath.absolute(paths.roots[root_id], relpath.join(folder, name))


def _record(paths: _Paths, at: int) -> FoundFile:
    root_id, folder, name, status, _ = paths.rows[at]
    root, below, path = paths.roots[root_id], relpath.join(folder, name), _path(paths, at)
    return FoundFile(
        path=display_path(path),
        path_b64=path_b64(path),
        root=display_path(root),
        relative_path=display_path(below),
        status=STATUSES[status],
    )
