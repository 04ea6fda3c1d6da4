"""The store compared with a model: after any sequence of changes it contains what a dictionary would."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from helpers.indexed_folder import SIGNATURE, chunked
from helpers.purged_store import purge
from helpers.support import examples
from livedex_indexing.model import FileRow, FileState
from livedex_indexing.store.index_store import Store
from livedex_indexing.store.read_pool import ReadPool

PATHS = st.sampled_from([b"a", b"b", b"d/a", b"d/b", b"d/e/a", b"d.x/a", b"d0/a", b"e/f/g/h", b"\xff/\xfe"])
FOLDERS = st.sampled_from([b"", b"d", b"d/e", b"e", b"e/f", b"d.x", b"nothing"])
# Few, so that contents are shared; the first word names the text, and one text has no chunk at all.
TEXTS = st.sampled_from(["", "alpha one\n", "beta two\n" * 25, "gamma three\n", "delta\n" * 12])
DAY = 24 * 3600.0


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = str(Path(self.folder.name) / "index.db")
        self.now = 1e9
        self.files: dict[tuple[int, bytes], str | None] = {}
        self._open()
        self.roots = [self.store.put_root(b"/one", 1, 1), self.store.put_root(b"/two", 1, 2)]

    def _open(self) -> None:
        self.store = Store.open(self.path, now=lambda: self.now)
        self.pool = ReadPool(self.path)

    def teardown(self) -> None:
        self.pool.close()
        self.store.close()
        self.folder.cleanup()

    @rule(root=st.integers(0, 1), files=st.dictionaries(PATHS, TEXTS, min_size=1), fails=st.booleans())
    def put(self, root: int, files: dict[bytes, str], fails: bool) -> None:
        before = self.store.generation
        try:
            with self.store.transaction():
                self.store.put_files([self._row(self.roots[root], path, text) for path, text in files.items()])
                if fails:
                    raise KeyError
        except KeyError:
            assert self.store.generation == before
        else:
            assert self.store.generation == before + 1
            self.files |= {(self.roots[root], path): text for path, text in files.items()}

    @rule(root=st.integers(0, 1), path=PATHS)
    def fail(self, root: int, path: bytes) -> None:
        row = self._row(self.roots[root], path, "")
        self.store.put_files([row._replace(status="failed", reason="denied", content_id=None)])
        self.files[self.roots[root], path] = None

    @rule(root=st.integers(0, 1), paths=st.sets(PATHS, max_size=4), forget=st.booleans())
    def remove(self, root: int, paths: set[bytes], forget: bool) -> None:
        gone = [key for key in self.files if key[0] == self.roots[root] and key[1] in paths]
        assert self.store.remove_files(self.roots[root], paths, forget=forget) == len(gone)
        for key in gone:
            del self.files[key]

    @rule(root=st.integers(0, 1), folder=FOLDERS, forget=st.booleans())
    def remove_tree(self, root: int, folder: bytes, forget: bool) -> None:
        prefix = folder + b"/" if folder else b""
        gone = [key for key in self.files if key[0] == self.roots[root] and key[1].startswith(prefix)]
        assert self.store.remove_tree(self.roots[root], folder, forget=forget) == len(gone)
        for key in gone:
            del self.files[key]

    @rule(hours=st.integers(1, 30), limit=st.integers(1, 5))
    def collect(self, hours: int, limit: int) -> None:
        self.now += hours * 3600.0
        assert self.store.collect(DAY, limit) <= limit

    @rule()
    def maintain(self) -> None:
        while not self.store.maintain(5.0):
            pass

    @rule()
    def purge(self) -> None:
        purge(self.store)
        used = {text for text in self.files.values() if text is not None}
        with self.pool.connection() as reader:
            assert reader.one("SELECT count(*) FROM contents") == len(used)

    @rule()
    @precondition(lambda self: self.files)
    def reopen(self) -> None:
        generation = self.store.generation
        self.pool.close()
        self.store.close()
        self._open()
        assert self.store.generation == generation

    @invariant()
    def holds_the_same_files(self) -> None:
        held = {}
        for root_id in self.roots:
            for folder in self.store.folders_below(root_id, b""):
                for name, row in self.store.folder(root_id, folder).items():
                    path = folder + b"/" + name if folder else name
                    assert row.path == path
                    held[root_id, path] = row.content_hash if row.status == "indexed" else None
        assert held == {key: None if text is None else _digest(text) for key, text in self.files.items()}

    @invariant()
    def finds_the_same_words(self) -> None:
        with self.pool.connection() as reader:
            for word in ("alpha", "beta", "gamma", "delta"):
                rows = reader.rows(
                    "SELECT count(*) FROM postings WHERE postings MATCH ? AND +rowid NOT IN (SELECT id FROM dead)",
                    (word,),
                )
                texts = {text for text in self.files.values() if text and word in text}
                assert rows[0][0] == sum(len(chunked(text.encode()).chunks) for text in texts)
            assert reader.one("SELECT count(*) FROM paths WHERE paths MATCH 'a OR b OR g OR h'") == sum(
                path != b"\xff/\xfe" for _, path in self.files
            )

    @invariant()
    def is_sound(self) -> None:
        assert self.store.integrity() == []

    def _row(self, root_id: int, path: bytes, text: str) -> FileRow:
        data = text.encode()
        content_id = self.store.find_content(_digest(text), SIGNATURE)
        if content_id is None:
            content_id = self.store.add_content(_digest(text), SIGNATURE, len(data), chunked(data))
        state = FileState(len(data), 1, 2, 3)
        return FileRow(
            root_id, path, state, "indexed", None, content_id, _digest(text), SIGNATURE, None, self.now, settled=True
        )


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


TestStore = StoreMachine.TestCase
TestStore.settings = settings(max_examples=examples(20), stateful_step_count=25, deadline=None)
