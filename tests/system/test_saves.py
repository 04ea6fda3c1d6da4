"""The ways in which editors and tools save a file, checked by fresh searches that run all the time.

Rule: while the path exists on disk with text in it, a fresh search finds that text; an absence is answered only while
the file was absent or empty. Each search is judged by the states on disk between its request and its answer.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from helpers.support import Daemon, Tree, add_root, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

SAVES = int(os.environ.get("LIVEDEX_SAVES", "10"))
SEARCHERS = 2
NAME = "f.txt"


class Asked(NamedTuple):
    """One fresh search: when it was sent and answered, and the version it found. None: no file."""

    sent: float
    answered: float
    version: int | None


class History:
    """The content of the path, and the latest and the earliest time since which it may have been there."""

    def __init__(self) -> None:
        self.stood: list[tuple[float, float, int | None]] = []  # from (earliest), until (latest), version
        self._lock = threading.Lock()

    @contextmanager
    def becomes(self, version: int | None) -> Iterator[None]:
        """Surround the one system call that changes the content: the former state before it, the new one after it."""
        before = time.monotonic()
        yield
        after = time.monotonic()
        with self._lock:
            if self.stood:
                began, _, former = self.stood[-1]
                self.stood[-1] = (began, after, former)
            self.stood.append((before, float("inf"), version))

    def allows(self, asked: Asked) -> bool:
        with self._lock:
            return any(
                version == asked.version and began <= asked.answered and asked.sent <= ended
                for began, ended, version in self.stood
            )


def text_of(version: int) -> bytes:
    return b"steadyword is v%dv\n" % version  # one line: an answer by lines shows no other


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def fill(history: History, path: Path, version: int, *, sync: bool = False) -> None:
    """Write into the file at the path, which is created or emptied first."""
    with history.becomes(None):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    with history.becomes(version):
        os.write(handle, text_of(version))
    if sync:
        os.fsync(handle)
    os.close(handle)


def vim(history: History, tree: Tree, version: int) -> None:
    """vim with backupcopy=no: the test of the folder's permissions, the backup by rename, the new file, its removal."""
    probe = tree / "4913"
    probe.touch()
    probe.unlink()
    path, backup = tree / NAME, tree / f"{NAME}~"
    with history.becomes(None):
        path.rename(backup)
    fill(history, path, version, sync=True)
    path.chmod(0o644)
    backup.unlink()


def vim_copying(history: History, tree: Tree, version: int) -> None:
    """vim with backupcopy=yes: a copy next to it, then the file is overwritten in place."""
    shutil.copy2(tree / NAME, tree / f"{NAME}~")
    fill(history, tree / NAME, version, sync=True)
    (tree / f"{NAME}~").unlink()


def emacs(history: History, tree: Tree, version: int) -> None:
    """A dangling link as lock, the auto-save file, the backup by rename, the new file."""
    lock, saved = tree / f".#{NAME}", tree / f"#{NAME}#"
    lock.symlink_to("user@host.1234:1")
    put(saved, text_of(version))
    with history.becomes(None):
        (tree / NAME).rename(tree / f"{NAME}~")
    fill(history, tree / NAME, version, sync=True)
    saved.unlink()
    lock.unlink()


def in_place(history: History, tree: Tree, version: int) -> None:
    """VS Code, nano, a shell's `>`: emptied, then written."""
    fill(history, tree / NAME, version)


def over(history: History, tree: Tree, version: int, beside: str) -> None:
    put(tree / beside, text_of(version))
    with history.becomes(version):
        (tree / beside).replace(tree / NAME)


def atomic(history: History, tree: Tree, version: int) -> None:
    """A temporary file next to it, renamed to its name: VS Code for files that need it, JetBrains, most libraries."""
    over(history, tree, version, f"{NAME}.tmp{version}")


def hidden(history: History, tree: Tree, version: int) -> None:
    """rsync: a hidden temporary name, times set, renamed over."""
    beside = f".{NAME}.Xy{version}"
    put(tree / beside, text_of(version))
    os.utime(tree / beside, (1_700_000_000, 1_700_000_000))
    with history.becomes(version):
        (tree / beside).replace(tree / NAME)


def exchanged(history: History, tree: Tree, version: int) -> None:
    """With a hard link: the new file is linked under the name after the old one was removed."""
    put(tree / "beside.tmp", text_of(version))
    with history.becomes(None):
        (tree / NAME).unlink()
    with history.becomes(version):
        os.link(tree / "beside.tmp", tree / NAME)
    (tree / "beside.tmp").unlink()


def with_time_kept(history: History, tree: Tree, version: int) -> None:
    """Overwritten in place with the same size in one call, and its times reset."""
    path = tree / NAME
    before = path.stat()
    text = text_of(version)
    handle = os.open(path, os.O_WRONLY)
    with history.becomes(version):
        os.pwrite(handle, text, 0)
    os.ftruncate(handle, len(text))
    os.close(handle)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


Save = Callable[[History, Tree, int], None]
WAYS: list[Save] = [vim, vim_copying, emacs, in_place, atomic, hidden, exchanged, with_time_kept]


def search(client: Client, tree: Tree) -> Asked | str:
    """Return one fresh search, or why it was not fresh."""
    sent = time.monotonic()
    answer = client.call("search", {"query": "steadyword", "path": str(tree), "timeout_ms": 10_000})
    answered = time.monotonic()
    if not answer["fresh"]:
        return str(answer["reason"])
    hits = [hit for hit in answer["hits"] if hit["path"] == str(tree / NAME)]
    if not hits:
        return Asked(sent, answered, None)
    return Asked(sent, answered, int(hits[0]["snippet"].partition(" v")[2].partition("v")[0]))


class Searches:
    """Fresh searches that run all the time, on their own connections."""

    def __init__(self, daemon: Daemon, tree: Tree) -> None:
        self.asked: list[Asked] = []
        self.late: list[str] = []
        self._daemon = daemon
        self._tree = tree
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(SEARCHERS)]

    def _run(self) -> None:
        with self._daemon.client() as client:
            while not self._ended.is_set():
                answer = search(client, self._tree)
                if isinstance(answer, Asked):
                    self.asked.append(answer)
                else:
                    self.late.append(answer)

    def __len__(self) -> int:
        return len(self.asked) + len(self.late)

    def __enter__(self) -> Searches:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()


def play(daemon: Daemon, client: Client, tree: Tree, save: Save) -> None:
    """Save the file again and again; search after some saves, follow others at once."""
    history = History()
    with history.becomes(1000):
        put(tree / NAME, text_of(1000))
    with Searches(daemon, tree) as searches:
        for version in range(1001, 1001 + SAVES):
            count = len(searches)
            save(history, tree, version)
            if version % 3:
                wait_until(lambda count=count: len(searches) > count + 1, what="searches meanwhile")  # type: ignore[misc]
            if version % 7 == 0:
                relative = f"{tree.path.name}/{NAME}"
                assert found(client, f"v{version}v", path=str(tree))[:1] == [relative]
    wrong = [one for one in searches.asked if not history.allows(one)]
    assert not wrong, f"{len(wrong)} of {len(searches.asked)}: {wrong[:5]}"
    assert set(searches.late) <= {"unsettled"}
    assert len(searches.late) <= len(searches.asked)


def test_a_save_is_seen_whole_at_every_moment(daemon: Daemon, client: Client, tree: Tree) -> None:
    add_root(client, tree)
    for save in WAYS:
        play(daemon, client, Tree(tree / save.__name__), save)
    assert client.call("index/audit", {})["differences"] == []
