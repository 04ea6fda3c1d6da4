"""A chunk process: batches, failures, deaths of every kind, and what it leaves behind."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.fault_injection import with_code
from helpers.support import wait_until
from livedex_indexing.child import code_version
from livedex_indexing.chunk import chunk_messages as messages
from livedex_indexing.chunk import chunk_process
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.chunk.chunk_process import ChunkFailure, ChunkJob, ChunkProcess, WorkerDied
from livedex_indexing.chunk.chunker import chunk_content
from livedex_indexing.model import ChunkedContent

SETTINGS = ChunkSettings()
LONG_S = 60.0


def job(name: str, data: bytes) -> ChunkJob:
    return ChunkJob(name.encode(), data, SETTINGS)


SMALL = job("a.md", b"# Title\n\nwords\n")
# At least two seconds of work, so that a test can kill the child in the middle.
SLOW = job("slow.c", b"int f(int a) { return a + 1; }\n" * 30_000)


@pytest.fixture
def process() -> Iterator[ChunkProcess]:
    process = ChunkProcess(nice=0)
    yield process
    process.close()


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_answers_come_in_order_and_equal_those_made_here(process: ChunkProcess) -> None:
    jobs = [job(f"{i}.{suffix}", f"# {i}\nx = {i}\n".encode() * 9) for i in range(20) for suffix in ("md", "py", "txt")]
    jobs.append(job("wide.txt", "Съешь ещё\n".encode("utf-16")))
    expected = [chunk_content(one.data, one.name, one.settings) for one in jobs]
    assert process.chunk(jobs, LONG_S) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_loads_no_library_that_no_chunk_needs(process: ChunkProcess) -> None:
    table = b"# T\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```c\nint a;\n```\n![x](y.png)\n"
    process.chunk([job("a.md", table), job("a.c", b"int f(int a) { return a; }\n" * 200), job("a.txt", b"w\n")], LONG_S)
    maps = Path(f"/proc/{process.pid}/maps").read_text()
    assert "chonkie_core" in maps
    assert "numpy" not in maps
    assert "_ssl" not in maps  # httpx and asyncio load it


def test_bytes_pass_both_ways_at_once(process: ChunkProcess) -> None:
    jobs = [job("a.txt", b"some words\n" * 100_000) for _ in range(6)]
    results = process.chunk(jobs, LONG_S)
    assert all(isinstance(one, ChunkedContent) and len(one.chunks) > 500 for one in results)


def test_it_starts_when_it_is_needed_and_stays(process: ChunkProcess) -> None:
    assert process.pid is None
    assert process.chunk([], LONG_S) == []
    assert process.pid is None
    process.chunk([SMALL], LONG_S)
    pid = process.pid
    assert pid is not None
    process.chunk([SMALL, SMALL], LONG_S)
    assert process.pid == pid


def test_close_ends_it(process: ChunkProcess) -> None:
    process.chunk([SMALL], LONG_S)
    pid = process.pid
    assert pid is not None
    process.close()
    assert is_gone(pid)
    assert process.pid is None
    assert len(process.chunk([SMALL], LONG_S)) == 1


def test_a_failure_is_an_answer_without_text(process: ChunkProcess) -> None:
    bad = ChunkJob(b"a.txt", b"secret words", ChunkSettings(tokenizer="secret"))
    first, second, third = process.chunk([SMALL, bad, SMALL], LONG_S)
    assert isinstance(second, ChunkFailure)
    assert second.stage == "chunk"
    assert second.message.startswith("ValueError in ")
    assert "secret" not in second.message
    assert first == third


def test_one_that_is_killed_leaves_the_answers_before(process: ChunkProcess) -> None:
    process.chunk([SMALL], LONG_S)
    pid = process.pid
    assert pid is not None
    killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(WorkerDied) as died:
        process.chunk([SMALL, SMALL, *[SLOW] * 200], LONG_S)
    killer.join()
    assert died.value.reason == "killed by signal 9"
    assert died.value.job is not None
    assert died.value.job == len(died.value.results)
    assert is_gone(pid)
    assert isinstance(process.chunk([SMALL], LONG_S)[0], ChunkedContent)


def test_one_that_hangs_is_killed(process: ChunkProcess) -> None:
    process.chunk([SMALL], LONG_S)
    pid = process.pid
    assert pid is not None
    with pytest.raises(WorkerDied) as died:
        process.chunk([SLOW], 0.01)
    assert (died.value.reason, died.value.job, died.value.results) == ("timed out", 0, [])
    assert is_gone(pid)


def test_one_that_is_stopped_is_killed(process: ChunkProcess) -> None:
    process.chunk([SMALL], LONG_S)
    pid = process.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(WorkerDied, match="timed out"):
        process.chunk([SMALL], 0.2)
    assert is_gone(pid)


def test_one_that_died_between_calls_is_replaced(process: ChunkProcess) -> None:
    process.chunk([SMALL], LONG_S)
    pid = process.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # it has ended, but its parent has not reaped it yet
    assert len(process.chunk([SMALL], LONG_S)) == 1


def test_one_that_cannot_start_blames_no_job(
    process: ChunkProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with pytest.raises(WorkerDied) as died:
        process.chunk([SMALL], LONG_S)
    assert (died.value.reason, died.value.job) == ("exit status 3", None)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EAGAIN, errno.ENOMEM])
def test_one_that_the_system_cannot_start_blames_no_job(
    process: ChunkProcess, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as short, pytest.raises(WorkerDied) as died:
        short.setattr(subprocess, "Popen", refuse)
        process.chunk([SMALL], LONG_S)
    assert (died.value.reason, died.value.job) == (f"cannot start: {os.strerror(number)}", None)
    assert not died.value.other_version
    assert len(process.chunk([SMALL], LONG_S)) == 1, "once it can"


def test_one_without_an_interpreter_blames_no_job(
    process: ChunkProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    for expected in ("cannot start: No such file or directory", "cannot start: Permission denied"):
        with pytest.raises(WorkerDied) as died:
            process.chunk([SMALL], LONG_S)
        assert (died.value.reason, died.value.job) == (expected, None)
        (tmp_path / "python").write_text("not to be executed")


@pytest.fixture
def impostor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Let children run a program instead of the interpreter; ``send(kind, body)`` writes a frame."""

    def begin(program: str) -> None:
        script = tmp_path / "impostor"
        script.write_text(f"""#!{sys.executable}
import os, sys, time
from livedex_indexing.child import code_version
from livedex_indexing.chunk import chunk_messages as messages

def send(kind, message):
    os.write(1, messages.frame(kind, message))

{program}
""")
        script.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(script))

    return begin


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("b'another'", chunk_process.OTHER_VERSION),
        ("None", chunk_process.OTHER_VERSION),
        ("code_version.UNKNOWN", chunk_process.UNKNOWN_VERSION),
    ],
)
def test_one_of_another_version_blames_no_job(
    process: ChunkProcess, impostor: Callable[[str], None], version: str, reason: str
) -> None:
    """None is of a time before there were versions; one that could not read its code proves no upgrade."""
    impostor(f"send(messages.READY, {version}); sys.stdin.read()")
    with pytest.raises(WorkerDied) as died:
        process.chunk([SMALL], LONG_S / 6)
    assert (died.value.reason, died.value.job) == (reason, None)
    assert died.value.other_version == (reason == chunk_process.OTHER_VERSION)
    assert process.pid is None


def test_one_that_never_starts_after_an_upgrade_says_so(
    process: ChunkProcess, impostor: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_version, "OWN", b"of yesterday")
    impostor("sys.exit(1)")
    with pytest.raises(WorkerDied) as died:
        process.chunk([SMALL], LONG_S / 6)
    assert (died.value.reason, died.value.job, died.value.other_version) == ("exit status 1", None, True)


READY_THEN = "send(messages.READY, code_version.OWN)\n"


@pytest.mark.parametrize(
    "says",
    [
        "os.write(1, (1 << 31).to_bytes(4, 'little') + b'\\1')",  # a frame of 2 GiB
        "send(messages.CONTENT, b'x' * (5 << 20))",
        "send(messages.FAILURE, ('chunk', 'x' * 1000))",
        "send(messages.READY, code_version.OWN)",  # it would postpone the deadline forever
        "send(9, ('chunk', ''))",
    ],
)
def test_an_answer_out_of_bounds_is_a_death_on_that_file(
    process: ChunkProcess, impostor: Callable[[str], None], says: str
) -> None:
    impostor(f"{READY_THEN}os.read(0, 1)\n{says}\nsys.stdin.buffer.read()")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(WorkerDied) as died:
        process.chunk([SMALL], LONG_S / 6)
    assert (died.value.reason, died.value.job) == ("bad answer", 0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_an_answer_too_many_makes_the_last_one_doubtful(process: ChunkProcess, impostor: Callable[[str], None]) -> None:
    answers = "".join(messages.frame(messages.FAILURE, ("chunk", name)).hex() for name in ("one", "two", "three"))
    impostor(f"{READY_THEN}os.read(0, 1)\nos.write(1, bytes.fromhex({answers!r}))\nsys.stdin.buffer.read()")
    with pytest.raises(WorkerDied, match="bad answer") as died:
        process.chunk([SMALL, SMALL], LONG_S)
    assert (died.value.job, died.value.results) == (1, [ChunkFailure("chunk", "one")])


def test_one_that_talks_nonsense_is_killed(
    process: ChunkProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    babbler = tmp_path / "python"
    babbler.write_text("#!/bin/sh\nprintf '\\002\\000\\000\\000\\001xx'\nexec cat >/dev/null\n")
    babbler.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(babbler))
    with pytest.raises(WorkerDied, match="bad answer"):
        process.chunk([SMALL], LONG_S)


def test_modules_in_the_working_folder_are_not_loaded(
    process: ChunkProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("numpy", "chonkie", "msgspec", "livedex_indexing"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)\n")
    monkeypatch.chdir(tmp_path)
    assert isinstance(process.chunk([SMALL], LONG_S)[0], ChunkedContent)


def test_it_ends_with_its_parent() -> None:
    code = """import os, sys
from livedex_indexing.chunk.chunk_process import ChunkJob, ChunkProcess
from livedex_indexing.chunk.chunk_plan import ChunkSettings
process = ChunkProcess()
process.chunk([ChunkJob(b"a.txt", b"x", ChunkSettings())], 60)
print(process.pid, flush=True)
os.kill(os.getpid(), 9)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    wait_until(lambda: is_ended(pid))


# Only in the child: an endless loop in C, which runs no signal handler and does not end with its pipe.
LOOPING = """
import sys
if "livedex_indexing.chunk.chunk_child" in sys.orig_argv:
    from itertools import repeat
    from livedex_indexing.chunk import chunk_limits, chunker

    chunk_limits.TIME_S = 0.0
    chunker.chunk_content = lambda *_, **__: all(repeat(True))
"""


def test_one_in_a_loop_of_c_code_ends_with_its_parent(tmp_path: Path) -> None:
    code = """import os, threading
from livedex_indexing.chunk.chunk_process import ChunkJob, ChunkProcess
from livedex_indexing.chunk.chunk_plan import ChunkSettings
process = ChunkProcess()
job = ChunkJob(b"a.txt", b"x", ChunkSettings())
threading.Thread(target=process.chunk, args=([job], 600), daemon=True).start()
while process.pid is None: pass
print(process.pid, flush=True)
threading.Event().wait()"""
    endless = LOOPING.replace("TIME_S = 0.0", "TIME_S = 600.0")
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE, text=True,
        env={**os.environ, **with_code(tmp_path / "seam", endless)},
    )  # fmt: skip
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    try:
        wait_until(lambda: cpu_s(pid) > 1.5, what="the loop")
        parent.kill()
        parent.wait()
        wait_until(lambda: is_ended(pid), what="the end of the child")
    finally:
        for end in (parent.kill, parent.wait, parent.stdout.close):
            end()
        if not is_ended(pid):
            os.kill(pid, signal.SIGKILL)


def test_one_in_a_loop_of_c_code_ends_by_itself(
    process: ChunkProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in with_code(tmp_path / "seam", LOOPING).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(WorkerDied) as died:
        process.chunk([SMALL], LONG_S / 2)
    assert died.value.reason == f"killed by signal {int(signal.SIGXCPU)}"


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_ended(pid: int) -> bool:
    return is_gone(pid) or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"


def test_it_outlives_the_thread_that_started_it(process: ChunkProcess) -> None:
    starter = threading.Thread(target=process.chunk, args=([SMALL], LONG_S))
    starter.start()
    starter.join()
    pid = process.pid
    assert process.chunk([SMALL], LONG_S)
    assert process.pid == pid


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_it_holds_no_more_than_it_needs() -> None:
    process = ChunkProcess(nice=5)
    try:
        process.chunk([SMALL, SLOW], LONG_S)
        pid = process.pid
        assert pid is not None
        assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 5)
        loaded = Path(f"/proc/{pid}/maps").read_text()
        assert "_ssl" not in loaded  # httpx and asyncio are not loaded, nor what they import
        assert "tree_sitter_c" in loaded
        assert "tree_sitter_rust" not in loaded
    finally:
        process.close()


def test_the_parent_imports_no_chunker() -> None:
    code = (
        f"import sys, {chunk_process.__name__}; print([n for n in ('chonkie', 'numpy', 'asyncio') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
