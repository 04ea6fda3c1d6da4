"""Proves that the index equals the disk: reads every file again, and compares what the index holds of it.

Invariant: the audit trusts nothing that the index says about a file; the bytes on disk, hashed and chunked anew,
decide. It goes file by file and asks the worker for one folder's rows at a time, so that searches and edits go on.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from livedex_daemon.backlog import Key
from livedex_daemon.roots import Root
from livedex_daemon.running import on_loop
from livedex_indexing import parse, plan, tree
from livedex_indexing.backend import Chunk, FileRow, Stat
from livedex_indexing.chunk_process import ChunkFailure, ChunkJob, ChunkProcess, WorkerDied
from livedex_indexing.glance import spans
from livedex_indexing.paths_text import path_fields

if TYPE_CHECKING:
    from livedex_daemon.app import App

What = Literal["missing", "extra", "stale", "damaged", "misplaced"]

WAIT_S = 30.0  # for what is already known to have changed, before the audit begins
CHUNK_S = 60.0  # for one file in the chunk process


class Difference(NamedTuple):
    """``key`` is where the index and the disk disagree."""

    key: Key
    what: What


async def run(app: App, places: list[Key], *, repair: bool) -> dict[str, Any]:
    """The result of ``index/audit`` over ``places``."""
    auditor = Auditor(app)
    differences = await asyncio.to_thread(auditor.check, places)
    repaired = 0
    if repair and differences:
        await _repair(app, differences)
        again = await asyncio.to_thread(Auditor(app).check, sorted({difference.key for difference in differences}))
        repaired = len(differences) - len(again)
    return {
        "checked": auditor.checked,
        "differences": [
            {**path_fields(_absolute(app, difference.key)), "what": difference.what} for difference in differences
        ],
        "repaired": repaired,
    }


async def _repair(app: App, differences: list[Difference]) -> None:
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    keys = [difference.key for difference in differences]
    for key in keys:
        app.backlog.mark(key, force=True, tree=True, now=True)
    app.backlog.wait(keys, on_loop(loop, done.set), background=True)
    await done.wait()


def _absolute(app: App, key: Key) -> bytes:
    root = app.worker.roots.get(key[0])
    return root.absolute(key[1]) if root is not None else key[1]


class Auditor:
    """One audit. Runs in a thread of its own."""

    def __init__(self, app: App) -> None:
        self.checked = 0
        self._app = app
        self._policy = app.pool.policy
        self._chunker = ChunkProcess(nice=10)

    def check(self, places: list[Key]) -> list[Difference]:
        found: list[Difference] = []
        try:
            for root_id, path in places:
                root = self._app.worker.roots.get(root_id)
                if root is not None and root.present:
                    found += self._place(root, path)
        finally:
            self._chunker.close()
        return sorted(set(found))

    def _on_worker(self, action: Callable[[], Any]) -> Any:
        return self._app.worker.order(action).result()

    def _place(self, root: Root, path: bytes) -> Iterator[Difference]:
        found = tree.stat(root.path, path) if path else None
        if path and (found is None or found.kind != "folder"):
            row = self._on_worker(lambda: self._app.store.file(root.id, path))
            shut_out = found is not None and root.rules.explain(path, False) is not None
            yield from self._file(root, path, found if not shut_out else None, row, misplaced=shut_out)
        visited: set[bytes] = set()
        stack = [path] if not path or (found is not None and found.kind == "folder") else []
        if path and root.rules.explain(path, True) is not None:
            stack = []
        while stack:
            folder = stack.pop()
            visited.add(folder)
            yield from self._folder(root, folder, stack)
        for folder in self._on_worker(lambda: self._app.store.folders_below(root.id, path)):
            if folder not in visited:
                yield from self._left_behind(root, folder)

    def _left_behind(self, root: Root, folder: bytes) -> Iterator[Difference]:
        """Rows of a folder that the walk did not come by."""
        there = tree.stat(root.path, folder) is not None if folder else True
        for row in self._on_worker(lambda: self._app.store.folder(root.id, folder)).values():
            yield Difference((root.id, row.path), "misplaced" if there and self._exists(root, row.path) else "extra")

    @staticmethod
    def _exists(root: Root, path: bytes) -> bool:
        try:
            return tree.stat(root.path, path) is not None
        except tree.TreeError:
            return True

    def _folder(self, root: Root, folder: bytes, stack: list[bytes]) -> Iterator[Difference]:
        rows: dict[bytes, FileRow] = self._on_worker(lambda: self._app.store.folder(root.id, folder))
        try:
            entries = tree.scan(root.path, folder)
        except tree.TreeError:
            return
        rules = root.rules.rules(folder, dict(entries))
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
        what = self._difference(root, path, stat, row)
        if misplaced and row is not None:
            what = "misplaced"
        if what is None:
            return
        if not self._app.backlog.pending([(root.id, path)]):  # what changed since the audit began is under way already
            yield Difference((root.id, path), what)

    def _difference(self, root: Root, path: bytes, stat: Stat | None, row: FileRow | None) -> What | None:
        self.checked += stat is not None
        if stat is None:
            return "extra" if row is not None else None
        if row is None or row.status == "pending":
            return "missing"
        if stat.kind != "file" or stat.size > self._policy.max_file_size:
            return "stale" if row.status == "indexed" else None
        try:
            data, _ = tree.read_file(root.path, path, self._policy.max_file_size)
        except tree.TreeError:
            return "stale" if row.status == "indexed" else None
        content_hash = hashlib.blake2b(data, digest_size=16).digest()
        if row.status != "indexed":
            return self._wrongly_left_out(row, data, content_hash)
        if row.content_hash != content_hash:
            return "stale"
        return self._damage(path, row, data, content_hash)

    def _wrongly_left_out(self, row: FileRow, data: bytes, content_hash: bytes) -> What | None:
        if row.status == "failed" or (row.reason == "forgotten" and row.content_hash == content_hash):
            return None
        if row.reason == "binary" and parse.is_binary(data[: parse.BINARY_HEAD]):
            return None
        return "missing"

    def _damage(self, path: bytes, row: FileRow, data: bytes, content_hash: bytes) -> What | None:
        """Chunks the file anew and compares each chunk with what the index holds."""
        name = path.rpartition(b"/")[2]
        chosen = plan.choose(name, data[: plan.HEAD_BYTES], self._policy.chunking)
        if row.signature != chosen.signature:
            return "stale"
        try:
            (fresh,) = self._chunker.chunk([ChunkJob(name, data, self._policy.chunking)], CHUNK_S)
        except WorkerDied:
            return None
        if isinstance(fresh, ChunkFailure):
            return "damaged"
        held = spans(self._app.serving.side.readers, content_hash, chosen.signature)
        return None if held == [_span(chunk) for chunk in fresh.chunks] else "damaged"


def _span(chunk: Chunk) -> tuple[Any, ...]:
    return (
        chunk.kind,
        chunk.language,
        chunk.start_byte,
        chunk.end_byte,
        chunk.start_line,
        chunk.end_line,
        chunk.heading,
        chunk.symbol,
        len(chunk.context),
    )
