"""Calls on network and FUSE mounts: hanging ones are abandoned, others are awaited."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from helpers.support import wait_until
from livedex_indexing.disk import tree
from livedex_indexing.disk.remote_mounts import ANSWER_S, CALL_S, RemoteMounts

SHARE: Final = b"/mnt/share"
T = TypeVar("T")
LINE: Final = b"%d 1 0:40 / %b rw - %b source rw\n"


class Server:
    """Answers statvfs and other calls unless it hangs. The calls run on threads, as in the child."""

    def __init__(self) -> None:
        self.asked = 0
        self.called = 0
        self.returned = 0
        self.ended = 0
        self.up = threading.Event()
        self.up.set()
        self.error: OSError | None = None
        self.mounts = RemoteMounts(self)
        self.mounts.on_return = self.note
        self.mounts.renew(LINE % (20, b"/", b"ext4") + LINE % (21, SHARE, b"fuse.sshfs"))

    def submit(self, call: Callable[[], T]) -> Future[T]:
        outcome: Future[T] = Future()
        is_statvfs = isinstance(call, partial) and call.func is os.statvfs
        run = self.statvfs if is_statvfs else call
        threading.Thread(target=lambda: settle(outcome, run), daemon=True).start()
        return outcome

    def end(self) -> None:
        self.ended += 1

    def statvfs(self) -> Any:
        self.asked += 1
        self.up.wait()
        if self.error is not None:
            raise self.error

    def note(self) -> None:
        self.returned += 1

    def call(self) -> str:
        self.called += 1
        self.up.wait()
        return threading.current_thread().name

    def read(self, path: bytes = SHARE + b"/file") -> str:
        return self.mounts.run(path, b"", self.call)


def settle(outcome: Future[T], call: Callable[[], T]) -> None:
    try:
        outcome.set_result(call())
    except OSError as error:
        outcome.set_exception(error)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.up.set()


def refuse(server: Server) -> None:
    with pytest.raises(OSError) as caught:
        server.read()
    assert caught.value.errno == errno.ETIMEDOUT


def test_a_local_path_is_touched_by_this_process_itself(server: Server) -> None:
    for path in (b"/mnt", b"/mnt/share2/file", b"/home"):
        assert server.read(path) == threading.current_thread().name
    assert server.asked == 0


@pytest.mark.parametrize("path", [SHARE, SHARE + b"/file"])
def test_a_quick_call_asks_nothing(server: Server, path: bytes) -> None:
    assert server.read(path) != threading.current_thread().name
    assert server.asked == 0


def test_a_mount_that_hangs_is_given_up_and_then_refused_at_once(server: Server) -> None:
    server.up.clear()
    refuse(server)
    for _ in range(20):
        refuse(server)
    assert (server.asked, server.called) == (1, 1), "no call and no question more while it is silent"
    server.mounts.renew(LINE % (21, SHARE, b"fuse.sshfs"))
    refuse(server)
    assert (server.asked, server.called) == (1, 1), "it is the same mount"
    server.up.set()
    wait_until(lambda: server.returned == 1, what="word that it is back")
    assert server.read()


def test_a_call_that_takes_long_on_a_mount_that_answers_is_waited_for(server: Server) -> None:
    def slow() -> str:
        threading.Event().wait(2 * CALL_S + ANSWER_S)
        return "read"

    assert server.mounts.run(SHARE, b"file", slow) == "read"
    assert server.asked > 0 and server.returned == 0


def test_an_error_is_an_answer(server: Server) -> None:
    def slow() -> str:
        threading.Event().wait(2 * CALL_S)
        raise PermissionError(errno.EACCES, "no")

    server.error = OSError(errno.EIO, "broken")
    with pytest.raises(PermissionError):
        server.mounts.run(SHARE, b"file", slow)


def test_a_mount_in_its_place_is_another_one(server: Server) -> None:
    server.up.clear()
    refuse(server)
    server.mounts.renew(LINE % (22, SHARE, b"fuse.sshfs"))
    assert server.mounts.run(SHARE, b"file", lambda: "new") == "new"
    server.mounts.renew(LINE % (22, SHARE, b"fuse.sshfs") + LINE % (23, SHARE, b"ext4"))
    assert server.mounts.run(SHARE, b"file", threading.current_thread) is threading.current_thread()


def test_a_silent_mount_keeps_nothing_from_the_folder_that_it_is_in(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    point, real = tmp_path / "share", os.lstat
    point.mkdir()
    (tmp_path / "file").write_text("text")

    def lstat(path: bytes) -> os.stat_result:
        if path == os.fsencode(point):
            server.up.wait()
        return real(path)

    monkeypatch.setattr(tree, "REMOTE", server.mounts)
    monkeypatch.setattr(os, "lstat", lstat)
    server.mounts.renew(LINE % (21, os.fsencode(point), b"nfs4"))
    root = os.fsencode(tmp_path)
    expected = [(b"file", "file"), (b"share", "folder")]
    assert [(name, found.kind) for name, found in tree.scan(root, b"")] == expected
    server.up.clear()
    assert [(name, found.kind) for name, found in tree.scan(root, b"")] == expected
    with pytest.raises(tree.ReadFailed) as caught:
        tree.listing(root, b"share")
    assert caught.value.errno == errno.ETIMEDOUT
    assert tree.stat(root, b"file") is not None
