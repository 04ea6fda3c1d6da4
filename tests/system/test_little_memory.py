"""Where memory lacks, the daemon goes on and says so, ends when it is asked to, and is well once there is memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.fault_injection import with_code
from helpers.support import Daemon, Tree, add_root, found, wait_until
from livedex_ipc.errors import LivedexError

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and macOS does not limit memory so")
ENDS_S = 8.0  # 5 are promised
# In the daemon: while the file LACKING exists, no new thread has the memory for its first step.
NO_FIRST_STEP = """
import os, sys, threading

if "livedex_daemon" in sys.orig_argv and "LACKING" in os.environ:
    first_step = "_bootstrap_inner"
    real = getattr(threading.Thread, first_step)

    def begin(thread):
        if os.path.exists(os.environ["LACKING"]):
            raise MemoryError
        real(thread)

    setattr(threading.Thread, first_step, begin)
"""
ENCODED = """
import resource
import msgspec
from livedex_indexing.hits.text_budget import TextBudget
from livedex_indexing.store.database import as_json
from livedex_ipc.server import message_json
class Text(msgspec.Struct):
    snippet: str
    context_before: str = ""
    context_after: str = ""
text = Text("x" * (8 << 20))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20),) * 2)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
try:
    {}
except MemoryError:
    print("no memory")
"""


@LINUX
@pytest.mark.parametrize("encodes", ["message_json.answer(1, text)", "TextBudget(None).take(text)", "as_json(text)"])
def test_no_encoding_ends_the_process(encodes: str) -> None:
    done = subprocess.run([sys.executable, "-c", ENCODED.format(encodes)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "no memory\n", "")


def limit_memory(daemon: Daemon, free: int | None) -> None:
    """Leave the daemon ``free`` bytes of address space above what it has; None: as much as it wants."""
    import resource

    pages = int(Path(f"/proc/{daemon.pid}/statm").read_text().split()[0])
    most = resource.RLIM_INFINITY if free is None else pages * resource.getpagesize() + free
    resource.prlimit(daemon.pid, resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def works_without_memory(daemon: Daemon, tree: Tree) -> None:
    """Have it read files and answer searches, and take what it answers for right."""
    for number in range(4):
        tree.write(f"{number}.txt", "zebra " * 10 ** (number + 1))
        with suppress(LivedexError, OSError), daemon.client() as client:
            client.call("search", {"query": "zebra", "limit": 100, "timeout_ms": 500})


def assert_ends(daemon: Daemon) -> None:
    assert daemon.process is not None
    daemon.process.terminate()
    daemon.process.wait(ENDS_S)


@LINUX
@pytest.mark.breaks_daemon
@pytest.mark.parametrize("free", [1 << 20, 7 << 20])
def test_without_memory_it_ends_when_it_is_asked_to(free: int, start_daemon: Callable[..., Daemon], tree: Tree) -> None:
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, tree)
    limit_memory(daemon, free)
    works_without_memory(daemon, tree)
    assert_ends(daemon)


@LINUX
@pytest.mark.breaks_daemon
def test_once_it_has_memory_again_it_is_well(start_daemon: Callable[..., Daemon], tree: Tree) -> None:
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, tree)
    limit_memory(daemon, 2 << 20)
    works_without_memory(daemon, tree)
    limit_memory(daemon, None)
    tree.write("after.txt", "afterwards\n")
    with daemon.client() as client:
        wait_until(lambda: client.call("search", {"query": "afterwards", "timeout_ms": 1_000})["fresh"], 40)
        assert found(client, "afterwards") == ["after.txt"]
        assert set(found(client, "zebra")) == {"0.txt", "1.txt", "2.txt", "3.txt"}


@pytest.mark.breaks_daemon
def test_threads_that_cannot_begin_hold_up_nothing(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path
) -> None:
    lacking = tmp_path / "lacking"
    daemon = start_daemon(LACKING=os.fspath(lacking), **with_code(tmp_path / "seam", NO_FIRST_STEP))
    with daemon.client() as client:
        add_root(client, tree)
        lacking.touch()
        tree.write("a.txt", "alpha\n")
        answer = client.call("search", {"query": "alpha", "timeout_ms": 500})
        assert (answer["fresh"], answer["hits"]) == (False, [])
        lacking.unlink()
        wait_until(lambda: client.call("search", {"query": "alpha", "timeout_ms": 1_000})["fresh"], 40)
        assert found(client, "alpha") == ["a.txt"]
        lacking.touch()
        assert_ends(daemon)
