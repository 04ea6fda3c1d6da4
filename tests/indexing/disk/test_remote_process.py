"""The child that uses network and FUSE mounts answers every call, whatever hangs, until it ends."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from helpers.support import is_alive, wait_until
from livedex_indexing.child import code_version
from livedex_indexing.disk import remote_process, tree
from livedex_indexing.disk.remote_process import RemoteProcess

ANSWER_S = 30.0  # on a busy machine


@pytest.fixture
def process() -> Iterator[RemoteProcess]:
    made = RemoteProcess()
    yield made
    made.end()


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Path]:
    """A named pipe: opening it hangs."""
    made = tmp_path / "pipe"
    os.mkfifo(made)
    yield made
    os.close(os.open(made, os.O_RDWR | os.O_NONBLOCK))


def pid_of(process: RemoteProcess) -> int:
    return process.submit(os.getpid).result(ANSWER_S)


def assert_refused(error: BaseException | None) -> None:
    assert isinstance(error, OSError) and error.errno == errno.EAGAIN, "no path is to blame"


def test_one_child_makes_all_calls(process: RemoteProcess, tmp_path: Path) -> None:
    child = pid_of(process)
    assert child not in (os.getpid(), pid_of(RemoteProcess()))
    assert process.submit(partial(os.stat, tmp_path)).result(ANSWER_S) == tmp_path.stat()
    assert pid_of(process) == child


def test_a_call_that_hangs_delays_no_other(process: RemoteProcess, pipe: Path) -> None:
    hung = [process.submit(partial(os.open, pipe, os.O_RDONLY)) for _ in range(20)]
    assert process.submit(partial(os.listdir, pipe.parent)).result(ANSWER_S) == ["pipe"]
    assert not any(call.done() for call in hung)
    other_end = os.open(pipe, os.O_WRONLY)
    assert all(call.result(ANSWER_S) > 0 for call in hung)
    os.close(other_end)


@pytest.mark.parametrize("size", [0, 1, 1 << 16, 3 << 20])
def test_what_is_read_comes_whole(process: RemoteProcess, tmp_path: Path, size: int) -> None:
    text = os.urandom(size)
    (tmp_path / "file").write_bytes(text)
    call = partial(tree.read_file, os.fsencode(tmp_path), b"file", 4 << 20)
    assert process.submit(call).result(ANSWER_S).data == text


def test_errors_are_those_of_the_call(process: RemoteProcess, tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    (tmp_path / "file").write_text("longer than that")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileNotFoundError):
        process.submit(partial(os.stat, tmp_path / "none")).result(ANSWER_S)
    with pytest.raises(tree.Vanished):
        process.submit(partial(tree.read_file, root, b"none", 4)).result(ANSWER_S)
    with pytest.raises(tree.NotRegular) as special:
        process.submit(partial(tree.read_file, root, b"folder", 4)).result(ANSWER_S)
    assert special.value.kind == "folder"
    with pytest.raises(tree.TooLarge, match="16 bytes") as large:
        process.submit(partial(tree.read_file, root, b"file", 4)).result(ANSWER_S)
    assert large.value.stat == tree.stat(root, b"file")
    with pytest.raises(ValueError, match="not a path"):
        process.submit(partial(tree.stat, root, b"../file")).result(ANSWER_S)


def test_a_failed_read_says_why_after_the_journey() -> None:
    import pickle

    fault = pickle.loads(pickle.dumps(tree.ReadFailed(OSError(errno.EIO, "broken"))))
    assert (str(fault), fault.errno) == (os.strerror(errno.EIO), errno.EIO)


def test_the_end_of_the_child_fails_its_calls_and_the_next_has_another(process: RemoteProcess, pipe: Path) -> None:
    child = pid_of(process)
    hung = process.submit(partial(os.open, pipe, os.O_RDONLY))
    os.kill(child, signal.SIGKILL)
    assert_refused(hung.exception(ANSWER_S))
    assert pid_of(process) != child
    wait_until(lambda: not is_alive(child), what="no zombie")


def test_an_end_is_no_harm(process: RemoteProcess) -> None:
    process.end()
    child = pid_of(process)
    process.end()
    wait_until(lambda: not is_alive(child), what="the end of the child")
    assert pid_of(process) != child


def test_a_child_of_another_version_is_asked_nothing(process: RemoteProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_version, "OWN", b"of yesterday")
    with pytest.raises(OSError) as caught:
        pid_of(process)
    assert_refused(caught.value)
    monkeypatch.setattr(remote_process, "start_child", lambda *_: pytest.fail("started again at once"))
    with pytest.raises(OSError):
        pid_of(process)


def test_a_child_that_cannot_be_started_is_no_fault_of_the_path(
    process: RemoteProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(OSError) as caught:
        pid_of(process)
    assert_refused(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nobody_waits_for_what_the_child_has_open(process: RemoteProcess) -> None:
    """The kernel may keep it: it must not hold what it inherited open, such as the end of a pipe."""
    links = [partial(os.readlink, f"/proc/self/fd/{number}") for number in range(3)]
    assert [process.submit(link).result(ANSWER_S) for link in links] == [os.devnull] * 3


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_CORE)[1] == 0, reason="the limit is 0 already, for good")
def test_a_core_dump_of_the_child_has_no_text(process: RemoteProcess) -> None:
    most = process.submit(partial(resource.getrlimit, resource.RLIMIT_CORE)).result(ANSWER_S)
    assert most == ((1, 1) if sys.platform == "linux" else (0, 0))


def test_the_child_ends_with_its_parent(tmp_path: Path) -> None:
    code = (
        "import os\nfrom livedex_indexing.disk.remote_process import PROCESS\nfrom functools import partial\n"
        "print(PROCESS.submit(os.getpid).result(30), flush=True)\n"
        f"PROCESS.submit(partial(os.open, {str(tmp_path / 'pipe')!r}, os.O_RDONLY))\n"
        "PROCESS.submit(os.getpid).result(30)\nos._exit(0)"
    )
    os.mkfifo(tmp_path / "pipe")
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=ANSWER_S, check=True)
    wait_until(lambda: not is_alive(int(ended.stdout)), what="the end of the child")
