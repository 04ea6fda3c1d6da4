"""Compare every file of the roots with the index and report the differences.

Invariant: it trusts nothing that the index says about a file; it hashes and chunks the bytes on disk again. It asks the
worker for the rows of one folder at a time, so that searches and edits go on, and keeps only one file in memory.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from livedex_daemon.answer.freshness import Freshness
from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.write.worker import Worker
from livedex_daemon.write.write_steps import WriteSteps
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.chunk.chunk_process import ChunkFailure, ChunkJob, ChunkProcess, WorkerDied
from livedex_indexing.disk import tree
from livedex_indexing.hits.document_texts import document_text
from livedex_indexing.model import DocumentText, FileRow, Stat
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.store.row_verifier import RowVerifier
from livedex_indexing.text import decoder
from livedex_ipc.amount import Amount
from livedex_ipc.errors import Cancelled, Unavailable

What = Literal["missing", "extra", "stale", "damaged", "misplaced"]

CHUNK_S = 60.0  # for one file in the chunk process


class AuditSources(NamedTuple):
    """The parts of the daemon that an audit needs."""

    index_file: IndexFile
    worker: Worker
    steps: WriteSteps
    roots: Roots
    freshness: Freshness
    forgotten: ForgottenFiles


class Difference(NamedTuple):
    """``key``: the path where the index and the disk disagree. ``what``: how they disagree."""

    key: Key
    what: What


class Auditor:
    """One pass, in a thread. The caller closes ``chunker``. Raise the errors that a damaged index raises."""

    def __init__(self, sources: AuditSources, chunker: ChunkProcess, ended: threading.Event) -> None:
        """When another thread sets ``ended``, the pass ends at the next file with Cancelled."""
        self.checked = 0
        self._checked_bytes = 0
        self.differences: dict[Difference, Stat | None] = {}  # each with the file's stat at that time; None: no file
        self._sources = sources
        self._policy = sources.steps.pool.policy
        self._chunker = chunker
        self._ended = ended
        self._proof: RowVerifier
        self._died = False

    @property
    def amount(self) -> Amount:
        """How much was checked."""
        return Amount(self.checked, self._checked_bytes)

    def check(self, places: list[Key]) -> None:
        """Check ``places``; fill ``checked`` and ``differences``."""
        self._proof = RowVerifier()  # a SQLite connection stays with the thread that opened it
        try:
            for root_id, path in places:
                root = self._sources.roots.get(root_id)
                if root is not None and root.present:
                    for difference in self._place(root, path):
                        self.differences[difference] = _stat(root, difference.key[1])
        finally:
            self._proof.close()

    def _stop_if_ended(self) -> None:
        if self._ended.is_set():
            raise Cancelled("the audit was ended")

    def _on_worker(self, action: Callable[[], Any]) -> Any:
        self._stop_if_ended()
        return self._sources.worker.submit(action).result()

    def _place(self, root: Root, path: bytes) -> Iterator[Difference]:
        try:
            yield from self._compared(root, path)
        except tree.ReadFailed:
            return  # nothing can be said of it; the warning `read_errors` does

    def _compared(self, root: Root, path: bytes) -> Iterator[Difference]:
        found = tree.stat(root.path, path) if path else None
        if path and (found is None or found.kind != "folder"):
            row = self._on_worker(lambda: self._sources.index_file.store.file(root.id, path))
            is_ignored = found is not None and root.rules.explain(path, False) is not None
            yield from self._file(root, path, found if not is_ignored else None, row, misplaced=is_ignored)
        visited: set[bytes] = set()
        is_folder = not path or (found is not None and found.kind == "folder")
        stack = [path] if is_folder and (not path or root.rules.explain(path, True) is None) else []
        while stack:
            folder = stack.pop()
            visited.add(folder)
            yield from self._folder(root, folder, stack)
        for folder in self._on_worker(lambda: self._sources.index_file.store.folders_below(root.id, path)):
            if folder not in visited:
                yield from self._left_behind(root, folder)

    def _left_behind(self, root: Root, folder: bytes) -> Iterator[Difference]:
        """Yield a difference for each row of a folder that the walk did not reach."""
        there = self._exists(root, folder)
        for row in self._on_worker(lambda: self._sources.index_file.store.folder(root.id, folder)).values():
            yield Difference((root.id, row.path), "misplaced" if there and self._exists(root, row.path) else "extra")

    @staticmethod
    def _exists(root: Root, path: bytes) -> bool:
        try:
            return tree.stat(root.path, path) is not None
        except tree.TreeError:
            return True

    def _folder(self, root: Root, folder: bytes, stack: list[bytes]) -> Iterator[Difference]:
        rows: dict[bytes, FileRow] = self._on_worker(lambda: self._sources.index_file.store.folder(root.id, folder))
        try:
            entries = tree.scan(root.path, folder)
            rules = root.rules.rules(folder, dict(entries))
        except tree.TreeError:
            return
        prefix = folder + b"/" if folder else b""
        for name, stat in entries:
            path = prefix + name
            row = rows.pop(name, None)
            if rules.decide(name, stat.kind == "folder") is not None or not root.belongs(path):
                if row is not None:
                    yield Difference((root.id, path), "misplaced")
            elif stat.kind == "folder":
                if not (row is not None and row.reason == "denied"):
                    stack.append(path)
            else:
                yield from self._file(root, path, stat, row)
        for row in rows.values():
            yield Difference((root.id, row.path), "extra")

    def _file(
        self, root: Root, path: bytes, stat: Stat | None, row: FileRow | None, *, misplaced: bool = False
    ) -> Iterator[Difference]:
        self._stop_if_ended()
        what = self._difference(root, path, stat, row)
        if misplaced and row is not None:
            what = "misplaced"
        if what is None:
            return
        if not self._sources.steps.backlog.pending(
            [(root.id, path)]
        ):  # a change after the start of the audit is in the backlog
            yield Difference((root.id, path), what)

    def _difference(self, root: Root, path: bytes, stat: Stat | None, row: FileRow | None) -> What | None:
        if stat is None:
            return "extra" if row is not None else None
        self.checked += 1
        self._checked_bytes += stat.size
        if row is None or row.status == "pending":
            return "missing"
        if stat.kind != "file":
            return _unless_skipped(row, "symlink" if stat.kind == "symlink" else "special")
        if stat.size > self._policy.max_file_size:
            return _unless_skipped(row, "too_large")
        try:
            data, _ = tree.read_file(root.path, path, self._policy.max_file_size)
        except (tree.Vanished, tree.Unsettled):
            return None  # the file is changing now: an event reports it
        except tree.TreeError:
            return None if row.status == "failed" else "stale"
        if not self._with_reader(lambda reader: self._proof.path_matches(reader, row)):
            return "damaged"
        content_hash = hashlib.blake2b(data, digest_size=16).digest()
        if row.status != "indexed":
            return self._wrongly_left_out(root, path, row, data, content_hash)
        if row.content_hash != content_hash or row.state.mtime_ns != stat.mtime_ns:
            return "stale"  # its other times and its inode say nothing of it: they change with a link elsewhere
        return self._damage(root, path, row, data)

    def _with_reader(self, action: Callable[[Any], bool]) -> bool:
        with self._sources.index_file.readers.current.readers.connection() as reader:
            return action(reader)

    def _wrongly_left_out(self, root: Root, path: bytes, row: FileRow, data: bytes, content_hash: bytes) -> What | None:
        if row.reason == "forgotten":
            is_forgotten = self._sources.forgotten.is_forgotten(root.path, path, content_hash)
            return None if is_forgotten and row.content_hash == content_hash else "missing"
        name, settings = path.rpartition(b"/")[2], self._policy.settings_of(root.path, path)
        if chunk_plan.choose(name, data[: chunk_plan.HEAD_BYTES], settings).parser is not None:
            return None if row.status == "failed" else "missing"  # what was refused is not tried for an audit
        if decoder.is_binary(data[: decoder.BINARY_HEAD]):
            return _unless_skipped(row, "binary")
        if row.status != "failed":
            return "missing"
        if (row.reason or "").startswith("quarantined"):
            return None  # it killed a child twice: do not try it for an audit either
        return None if self._chunked(path, data, settings) is None else "stale"

    def _damage(self, root: Root, path: bytes, row: FileRow, data: bytes) -> What | None:
        """Chunk the file again and compare the result with the index. Return None when they agree."""
        name, settings = path.rpartition(b"/")[2], self._policy.settings_of(root.path, path)
        chosen = chunk_plan.choose(name, data[: chunk_plan.HEAD_BYTES], settings)
        if row.signature != chosen.signature:
            return "stale"
        document = None if chosen.parser is None else self._document(row, chosen.parser)
        if chosen.parser is not None and document is None:
            return "damaged"
        fresh = self._chunked(path, data, settings, document)
        if fresh is None:
            return None if self._died else "damaged"
        matches = self._with_reader(lambda reader: self._proof.content_matches(reader, row, len(data), fresh))
        return None if matches else "damaged"

    def _document(self, row: FileRow, parser: str) -> DocumentText | None:
        """Return the stored text of a document; None if it cannot be read. Its pages have checksums, so that it is not
        converted again."""
        with self._sources.index_file.readers.current.readers.connection() as reader:
            return document_text(reader, row.content_id, parser)

    def _chunked(self, path: bytes, data: bytes, settings: ChunkSettings, document: DocumentText | None = None) -> Any:
        """Chunk the file, or a document's text, again; return None when that fails.

        ``_died``: the child died, so the file is not to blame.

        Raise Unavailable when no child can be started: an audit that compares no text must not find all well.
        """
        self._died = False
        try:
            name = path.rpartition(b"/")[2]
            job = ChunkJob(name, data if document is None else document.text, settings, document is not None)
            (fresh,) = self._chunker.chunk([job], CHUNK_S)
        except WorkerDied as death:
            if death.job is None:
                message = f"cannot compare the index with the files: the chunk worker does not run ({death.reason})"
                raise Unavailable(f"{message}; `livedex status` names the remedy") from death
            self._died = True
            return None
        return None if isinstance(fresh, ChunkFailure) else msgspec.structs.replace(fresh, document=document)


def _stat(root: Root, path: bytes) -> Stat | None:
    try:
        return tree.stat(root.path, path)
    except tree.TreeError:
        return None


def _unless_skipped(row: FileRow, reason: str) -> What | None:
    return None if (row.status, row.reason) == ("skipped", reason) else "stale"
