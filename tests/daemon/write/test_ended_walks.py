"""A search of a part of a walked folder goes on when that part is stored, whatever is still read elsewhere in it."""

from __future__ import annotations

import os
import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.inspection_desk import Desk
from helpers.support import examples, wait_until
from helpers.worker_rig import WorkerRig, worker_rig
from livedex_daemon.watch.backlog import Backlog, Entry, Key, Mark, Waiter, intersects
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.file_reading import FileReader
from livedex_daemon.write.outcomes import Outcome, Unsettled
from livedex_indexing.disk.tree import describe
from livedex_indexing.model import FileState
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.store.index_store import Store

TOP = "top"  # the folder that is walked: the test's root has no watches that could be placed on it
FOLDERS = ("top", "top/a", "top/a/b", "top/c")
NAMES = ("one", "two", "held1", "held2", "hidden")
WAIT_S = 20
TURNS = 50  # of the worker, in which searches that need not wait for a file that is held back come to their end


class HeldBack:
    """The outcomes of the files named ``held…`` come only while ``is_open``. Those named ``two`` are read twice."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_open = True
        self._held: list[Outcome] = []
        usual = Pool.collect

        def collect(pool: Pool, limit: int) -> list[Outcome]:
            found = [*self._held, *map(_unsettled_first, usual(pool, limit))]
            self._held = [] if self.is_open else [each for each in found if b"/held" in each.work.path]
            return [each for each in found if each not in self._held]

        monkeypatch.setattr(Pool, "collect", collect)

    @property
    def count(self) -> int:
        return len(self._held)


def _unsettled_first(outcome: Outcome) -> Outcome:
    is_first = outcome.work.path.endswith(b"/two") and outcome.work.tries == 0
    return outcome._replace(result=Unsettled()) if is_first else outcome


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> HeldBack:
    monkeypatch.setattr("livedex_daemon.write.inspector.WALK_S", 0.0)  # a walk takes many turns
    return HeldBack(monkeypatch)


@pytest.fixture
def rig(tmp_path: Path, root: Root, folder: Path, marks: ForgottenFiles, held: HeldBack) -> Iterator[WorkerRig]:
    root.state = "online"
    (folder / TOP).mkdir()
    with worker_rig(tmp_path, Roots([root]), FileReader(lambda *_: False, marks), forgotten=marks) as made:
        made.store.put_root(root.path, 1, 1)
        made.worker.start()
        yield made


@pytest.fixture
def walked(desk: Desk) -> Entry:
    """The entry of a walked folder with two files that are not read yet."""
    for name in ("one.txt", "two.txt"):
        (desk.folder / name).write_text("word\n")
    desk.backlog.mark((1, b""), Mark(tree=True, now=True))
    (entry,) = desk.backlog.take(1, desk.inspector.is_busy)
    desk.inspector.inspect(entry, desk.root)
    return entry


def scoped(desk: Desk, path: bytes) -> Waiter:
    return desk.backlog.wait([(1, path)], lambda: None)


def test_a_search_goes_on_once_what_the_walk_decided_is_committed(desk: Desk, walked: Entry) -> None:
    elsewhere, inside = scoped(desk, b"three.txt"), scoped(desk, b"one.txt")
    whole, run = (
        desk.backlog.wait(None, lambda: None),
        desk.backlog.wait([(1, b"three.txt")], lambda: None, background=True),
    )
    assert not desk.inspector.ended_walks.are_waited_for
    desk.inspector.walk_on()
    desk.inspector.ended_walks.release()
    assert elsewhere.left == 1 and desk.inspector.ended_walks.are_waited_for
    desk.commit()
    desk.inspector.ended_walks.release()
    assert [waiter.left for waiter in (elsewhere, inside, whole, run)] == [0, 1, 1, 1]
    late = scoped(desk, b"three.txt")
    desk.inspector.ended_walks.release()
    assert late.left == 0 and not desk.inspector.ended_walks.are_waited_for


def test_a_search_waits_for_all_walks_of_an_entry(desk: Desk, walked: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    waiter, outside = scoped(desk, b"three.txt"), [{b""}]
    monkeypatch.setattr(desk.watching, "watch_outside", lambda _root: outside.pop() if outside else set())
    for left in (1, 0):
        assert desk.inspector.walk_on()
        desk.commit()
        desk.inspector.ended_walks.release()
        assert waiter.left == left


def test_a_search_waits_for_a_file_that_is_read_again_after_a_moment(desk: Desk, walked: Entry) -> None:
    waiter = scoped(desk, b"one.txt")
    desk.inspector.walk_on()
    desk.commit()
    work = desk.inspector.readings.get((1, b"one.txt"))
    assert work is not None
    desk.inspector.readings.end(work)
    desk.inspector.readings.waiting.append(work)
    desk.inspector.ended_walks.release()
    assert waiter.left == 1


def test_a_store_that_fails_keeps_a_search_waiting(desk: Desk, walked: Entry) -> None:
    waiter = scoped(desk, b"three.txt")
    desk.inspector.walk_on()
    desk.inspector.abandon()
    desk.backlog.requeue_taken()
    desk.commit()
    desk.inspector.ended_walks.release()
    assert waiter.left == 1


class Disk:
    """A folder that is changed at random. No file needs a child process: all count as binary."""

    def __init__(self, folder: Path, random_: random.Random) -> None:
        self._folder = folder
        self._random = random_
        self.changed: set[str] = set()  # what a mark must cover
        self._rules = False

    def change(self) -> None:
        path = f"{self._random.choice(FOLDERS)}/{self._random.choice(NAMES)}"
        step = self._random.choice([self._write, self._write, self._remove, self._link, self._toggle, self._remove_all])
        step(path)

    def _write(self, path: str) -> None:
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"\0" * self._random.randrange(1, 5000))
        self._note(path)

    def _remove(self, path: str) -> None:
        if (self._folder / path).exists():
            self._note(path)  # its hard links have one name less now
            (self._folder / path).unlink()

    def _link(self, path: str) -> None:
        other = self._folder / f"{self._random.choice(FOLDERS)}/{self._random.choice(NAMES)}"
        if (self._folder / path).exists() and other.parent.exists() and not other.exists():
            os.link(self._folder / path, other)
            self._note(path)

    def _toggle(self, _path: str) -> None:
        """Let an ignore file come or go that shuts out the files named ``hidden``."""
        self._rules = not self._rules
        file = self._folder / TOP / ".gitignore"
        file.write_bytes(b"hidden\n\0") if self._rules else file.unlink()
        self.changed.add(f"{TOP}/.gitignore")

    def _remove_all(self, path: str) -> None:
        above = (self._folder / path).parent
        if above.name != TOP and above.exists():
            for file in above.rglob("*"):
                self._note(str(file.relative_to(self._folder)))
            shutil.rmtree(above)
            self.changed.add(str(above.relative_to(self._folder)))

    def _note(self, path: str) -> None:
        ino = (self._folder / path).stat().st_ino
        for name in (self._folder / TOP).rglob("*"):
            if name.stat().st_ino == ino:
                self.changed.add(str(name.relative_to(self._folder)))

    def files(self, scope: list[Key]) -> dict[bytes, FileState]:
        """Return the state of each file in the scope that the index should have."""
        paths = (file for file in (self._folder / TOP).rglob("[!.]*") if file.is_file())
        there = {os.fsencode(file.relative_to(self._folder)): describe(file.stat()).state for file in paths}
        return {
            path: state
            for path, state in there.items()
            if intersects((1, path), scope) and not (self._rules and path.endswith(b"/hidden"))
        }

    def scope(self) -> list[Key]:
        some = [*FOLDERS, *(f"{above}/{name}" for above in FOLDERS for name in NAMES)]
        return [(1, path.encode()) for path in self._random.sample(some, self._random.randrange(1, 3))]

    def mark(self, backlog: Backlog) -> None:
        """Have each change looked at: by its own mark, or by a walk of a folder above it."""
        for path in sorted(self.changed):
            if path == TOP or path.endswith(".gitignore") or self._random.random() < 0.4:
                backlog.mark((1, path.encode()), Mark(from_event=True, tree=path in FOLDERS))
            else:
                above = [folder for folder in FOLDERS if path == folder or path.startswith(f"{folder}/")]
                backlog.mark((1, self._random.choice(above).encode()), Mark(tree=True))
        self.changed.clear()


def indexed(store: Store, scope: list[Key]) -> dict[bytes, FileState]:
    """Return the states that the index has of the files in the scope. Call it on the worker's thread."""
    rows = [row for folder in store.folders_below(1, b"") for row in store.folder(1, folder).values()]
    return {row.path: row.state for row in rows if row.status != "pending" and intersects((1, row.path), scope)}


class Search:
    """Waits for its scope and compares the index with the disk, which rests, as soon as it need wait no more."""

    def __init__(self, disk: Disk, rig: WorkerRig, scope: list[Key]) -> None:
        self.scope = scope
        self.wanted = disk.files(scope)
        self.found: dict[bytes, FileState] | None = None
        self.ended = threading.Event()
        self._rig = rig
        self.waiter = rig.backlog.wait(scope, self._end)

    def _end(self) -> None:
        def look() -> None:
            self.found = indexed(self._rig.store, self.scope)
            self.ended.set()

        if threading.current_thread().name == "worker":
            look()  # before it stores anything more
        else:
            self._rig.worker.submit(look)  # there was nothing to wait for


def test_a_file_that_a_walk_finds_gone_while_it_is_read_stays_out(rig: WorkerRig, folder: Path, held: HeldBack) -> None:
    """No event says so: they were lost."""
    for name in ("held1", "held2", "one"):
        (folder / TOP / name).write_bytes(b"\0")
    ended = threading.Event()
    for path in (b"top/held1", b"top/one"):
        rig.backlog.mark((1, path), Mark(now=True))
        rig.backlog.wait([(1, path)], ended.set)
        assert ended.wait(WAIT_S)
        ended.clear()
    held.is_open = False
    for name in ("held1", "held2"):
        (folder / TOP / name).write_bytes(b"\0\0")
        rig.backlog.mark((1, f"top/{name}".encode()), Mark(now=True))
    wait_until(lambda: held.count == 2, what="both to be read")
    for name in ("held1", "held2"):
        (folder / TOP / name).unlink()
    rig.backlog.mark((1, b"top"), Mark(tree=True, now=True))
    rig.backlog.wait([(1, b"top/one")], ended.set)
    assert ended.wait(WAIT_S)
    held.is_open = True
    found: list[list[bytes]] = []
    rig.backlog.wait(None, lambda: found.append(sorted(indexed(rig.store, [(1, b"")]))))
    wait_until(lambda: found, what="the end")
    assert found == [[b"top/one"]]


@pytest.mark.parametrize("seed", range(examples(30)))
def test_it_goes_on_with_what_is_on_the_disk(rig: WorkerRig, folder: Path, held: HeldBack, seed: int) -> None:
    """``held…`` takes its time to be read: only searches with such a file in their scope may wait for one."""
    disk = Disk(folder, random.Random(seed))
    for turn in range(12):
        held.is_open = turn % 4 == 3
        for _ in range(disk_steps(seed, turn)):
            disk.change()
        disk.mark(rig.backlog)
        searches = [Search(disk, rig, disk.scope()) for _ in range(6)]
        for search in searches if held.is_open else ():
            wait_until(search.ended.is_set, WAIT_S, what=f"the search of {search.scope}")
        for _ in range(TURNS):
            rig.worker.submit(lambda: None).result(WAIT_S)
        for search in searches:
            if not search.ended.is_set():
                rig.backlog.forget(search.waiter)
        rig.worker.submit(lambda: None).result(WAIT_S)  # none of them is about to end
        for search in searches:
            wrong = None if search.found is None else set(search.found.items()) ^ set(search.wanted.items())
            assert not wrong, search.scope


def disk_steps(seed: int, turn: int) -> int:
    return random.Random(seed * 100 + turn).randrange(1, 8)
