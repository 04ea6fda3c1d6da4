"""Finds the chunks that a typed import leads to: the definition that it names, or the beginning of the module.

Invariant: a module is an indexed file, or a folder, with the typed folders above it; without one nothing is found.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

from livedex_indexing.query.declaring_line import declares
from livedex_indexing.query.filters import OF_CONTENT
from livedex_indexing.query.typed_import import TypedImport, is_script, stem_of, typed_imports
from livedex_indexing.query.typed_name import TypedName, typed_line
from livedex_indexing.rank.defined_names import Definitions
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.likely_names import having
from livedex_indexing.rank.postings import chunks_in_spans, first_chunks, first_of_each, phrase

_PATHS: Final = """SELECT t.id, t.first_chunk, t.first_chunk + t.chunks - 1, d.folder, d.name, t.pipeline = 'code'
                   FROM paths p CROSS JOIN files d ON d.id = p.rowid CROSS JOIN contents t ON t.id = d.content_id
                   WHERE paths MATCH ? LIMIT 3000"""
_FOLDERS: Final = f"""SELECT DISTINCT d.folder FROM json_each(?) i CROSS JOIN chunks c ON c.id = i.value
                      CROSS JOIN {OF_CONTENT} ON d.content_id = c.content_id"""
_FOLDERS_OF: Final = f"""SELECT c.id, d.folder FROM json_each(?) i CROSS JOIN chunks c ON c.id = i.value
                         CROSS JOIN {OF_CONTENT} ON d.content_id = c.content_id"""
_FILES: Final = 8  # that a line may mean, at most
_PROPOSED: Final = 300  # chunks that define such a name somewhere below the folder of a module, at most
_READ: Final = 24  # chunks that may have a line or a constant
_LINES: Final = 2  # files with an import of one plain word, at least
_VERSION: Final = re.compile(r"-v?[0-9][0-9.]*$")
_SKIPPED: Final = frozenset({"src", "lib"})  # folders that imports leave out
_OF_FOLDER: Final = ("__init__", "index", "lib", "mod", "doc")  # files that stand for their folder, the likeliest first


class _File(NamedTuple):
    """A file that a module may be. ``rank``: 0 where it is the module itself, more for one of its folder."""

    rank: int
    depth: int
    path: str
    content_id: int
    span: tuple[int, int]


class ImportedPlaces:
    """Looks up what one line imports. ``with_line`` returns the chunks that have the line."""

    def __init__(self, view: IndexView, definitions: Definitions) -> None:
        self._view, self._definitions = view, definitions
        self._reader, self._resolved, self._texts = view.reader, view.resolved, view.texts

    def of(self, text: str, with_line: Callable[[], Collection[int]]) -> list[int]:
        """Return the chunks that a text leads to, none where it is no import, or imports nothing that is indexed."""
        for each in typed_imports(text):
            if each.is_plain and not self._is_line(text):
                return []
            found = self._read(each, with_line)
            if found:
                return found
        return []

    def _read(self, one: TypedImport, with_line: Callable[[], Collection[int]]) -> list[int]:
        files = self._files(one)
        if one.up is not None and files:
            files = list(self._nearest(one, files, with_line())) or files
        elif files:
            least = min((file.rank, file.depth) for file in files)
            files = [file for file in files if (file.rank, file.depth) == least]
        files = sorted(files)[:_FILES]
        if not one.names:
            return first_chunks(self._reader, [file.content_id for file in files], self._resolved)
        found = [chunk_id for name in one.names for chunk_id in self._named(one, name, files)]
        if found or not files or (one.up is not None and len(files) > 1):
            return found
        return first_chunks(self._reader, [files[0].content_id], self._resolved) if files[0].rank == 0 else []

    def _is_line(self, text: str) -> bool:
        """Whether several files have an import of a plain word as a line: else these are words."""
        match = f"body : {phrase(self._reader.tokens(text))}"
        found = self._view.proposed(match, _READ)
        lines = having(self._texts, found, typed_line(text))
        return len(lines) >= _LINES

    def _files(self, one: TypedImport) -> list[_File]:
        """Return the files that a module may be, wherever the line with it is."""
        tokens = self._reader.tokens(stem_of(one.module))
        if not tokens:
            return []
        rows = self._reader.rows(_PATHS, (f"{{name folder}} : {phrase(tokens)}",))
        found: list[_File] = []
        for content_id, first, last, folder, name, is_code in rows:
            path = f"{_text(folder)}/{_text(name)}".lstrip("/")
            rank = _rank(one, path) if is_code or _text(name) == one.module else None
            if rank is not None:
                found.append(_File(rank, path.count("/"), path, content_id, (first, last)))
        return [file for file in found if one.suffix and file.path.endswith(one.suffix)] or found

    def _nearest(self, one: TypedImport, files: Sequence[_File], lines: Collection[int]) -> Iterator[_File]:
        """Yield the files that the module is for the files with the line."""
        up = "../" * (one.up or 0)
        module = "/".join((*one.folders, stem_of(one.module)))
        folders = [_text(folder) for (folder,) in self._reader.rows_of(_FOLDERS, lines)]
        wanted = {posixpath.normpath(f"{folder}/{up}{module}").lstrip("/") for folder in folders}
        for file in files:
            base = file.path.partition(".")[0]
            of_folder = posixpath.dirname(base) if posixpath.basename(base) in _OF_FOLDER else base
            if base in wanted or of_folder in wanted or file.path.rpartition(".")[0] in wanted:
                yield file

    def _named(self, one: TypedImport, name: str, files: Sequence[_File]) -> list[int]:
        """Return the chunks that define a name in a module: in its files, else in those below its folder, else a line
        that sets it in the module itself."""
        own = self._reader.tokens(name)
        spans = [file.span for file in files if file.rank == 0]
        found = self._definitions.in_spans(TypedName(name), own, spans) if own else []
        if not found and own and one.up is None:
            near = [file.span for file in files if file.rank]
            found = self._definitions.in_spans(TypedName(name), own, near) or self._below(one, TypedName(name), own)
        if not found and own:
            found = self._declared(name, own, spans)
        return first_of_each(self._reader, found)[:_FILES]  # later chunks of a file are inside the definition

    def _below(self, one: TypedImport, name: TypedName, own: Sequence[str]) -> list[int]:
        proposed = self._view.proposed(f"symbols : {phrase(own)}", _PROPOSED)
        if not proposed or len(proposed) == _PROPOSED:
            return []
        wanted = [*one.folders, one.module]
        rows = self._reader.rows_of(_FOLDERS_OF, proposed)
        inside = sorted({i for i, folder in rows if _is_below(_text(folder), wanted, is_namespace=one.is_namespace)})
        return self._definitions.named(name, own, inside)

    def _declared(self, name: str, own: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[int]:
        found = chunks_in_spans(self._reader, f"body : {phrase(own)}", spans, self._resolved)
        return having(self._texts, found[:_READ], lambda text: declares(text, name))


def _text(path: bytes) -> str:
    return path.decode("utf-8", "replace")


def _rank(one: TypedImport, path: str) -> int | None:
    """Return 0 for a file that is the module, a little more for one that stands for its folder, most for another file
    of that folder; None for any other."""
    folder, _, name = path.rpartition("/")
    base, module = name.partition(".")[0], stem_of(one.module)
    names = {base, base.removeprefix("_"), name.rpartition(".")[0]}
    if module != one.module and not (is_script(name) and is_script(one.module)):
        names = set()
    if one.suffix != ".go" and (name == one.module or module in names):  # a package of Go is a folder
        return 0 if _has_folders(folder, one.folders, is_namespace=one.is_namespace) else None
    if not _has_folders(folder, (*one.folders, module), is_namespace=one.is_namespace):
        return None
    if base in _OF_FOLDER or base == module:
        return 0
    return None if base.endswith("_test") else 1


def _has_folders(folder: str, wanted: Sequence[str], *, is_namespace: bool) -> bool:
    """Whether the typed folders are above a file, from the innermost on; of a namespace, one of them at least."""
    left = list(wanted)
    for part in reversed(folder.split("/")):
        if not left:
            break
        if _VERSION.sub("", part).replace("-", "_") == left[-1].replace("-", "_"):
            left.pop()
        elif part not in _SKIPPED:
            break
    return not left or (is_namespace and len(left) < len(wanted))


def _is_below(folder: str, wanted: Sequence[str], *, is_namespace: bool) -> bool:
    parts = folder.split("/")
    return any(
        _has_folders("/".join(parts[:end]), wanted, is_namespace=is_namespace) for end in range(len(parts), 0, -1)
    )
