"""A daemon that is asked to end does so within seconds, whatever hangs, and leaves no process and no socket."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from helpers.daemon_health import children
from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, Tree, add_root, is_alive, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import LivedexError

PROMISED_S = 5.0
SLACK_S = 3.0  # for a busy machine

# In the daemon: once the file HANG_FROM exists, the function HANG (module:name) never returns if a thread calls it
# whose name begins with HANG_THREAD, as on a disk that does not answer. HUNG is created when one hangs.
HANGS = """
import importlib, os, sys, threading

if "livedex_daemon" in sys.orig_argv and "HANG" in os.environ:
    name, _, attribute = os.environ["HANG"].partition(":")
    owner = importlib.import_module(name)
    *path, last = attribute.split(".")
    for part in path:
        owner = getattr(owner, part)
    real = getattr(owner, last)

    def hang(*args, **kwargs):
        named = threading.current_thread().name.startswith(os.environ["HANG_THREAD"])
        if named and os.path.exists(os.environ["HANG_FROM"]):
            open(os.environ["HUNG"], "w").close()
            threading.Event().wait()
        return real(*args, **kwargs)

    setattr(owner, last, hang)
"""
# In a chunk child: it does not return from the first file and handles no signal, as in a long loop in C.
CHILD_HANGS = """
import os, sys

if any("chunk_child" in word for word in sys.orig_argv):
    import signal, time
    from livedex_indexing.chunk import chunker

    def hang(*_, **__):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        open(os.environ["HUNG"], "w").close()
        time.sleep(1_000)

    chunker.chunk_content = hang
"""
# In the daemon: SIGTERM comes as soon as the socket is there.
SIGNALLED_EARLY = """
import os, signal, sys

if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.process import socket_guard

    real = socket_guard.bind

    def bind(path):
        sock = real(path)
        os.kill(os.getpid(), signal.SIGTERM)
        return sock

    socket_guard.bind = bind
"""

Start = Callable[..., Daemon]


class Hanging:
    """How to start a daemon whose function hangs, and when it does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.begins = folder / "hang-from"
        self.hung = folder / "hung"

    def environment(self, function: str, thread: str) -> dict[str, str]:
        files = {"HANG_FROM": str(self.begins), "HUNG": str(self.hung)}
        return {"HANG": function, "HANG_THREAD": thread, **files, **with_code(self._folder / "seam", HANGS)}

    def wait(self) -> None:
        wait_until(self.hung.exists, what="the hanging call")


@pytest.fixture
def hanging(tmp_path: Path) -> Hanging:
    return Hanging(tmp_path)


def assert_ends(daemon: Daemon, home: Home) -> None:
    """SIGTERM ends it in time, in order, with its children and its socket."""
    left = children(daemon.pid)
    assert daemon.process is not None
    began = time.monotonic()
    daemon.process.terminate()
    assert daemon.process.wait(20) == 0
    assert time.monotonic() - began < PROMISED_S + SLACK_S
    assert not home.socket.exists()
    wait_until(lambda: not any(map(is_alive, left)), 5, what="the end of the chunk children")


def in_background(client: Client, method: str, params: dict[str, Any] | None = None) -> Future[Any]:
    """Make the call on a thread: the test goes on."""
    threads = ThreadPoolExecutor(1)
    call = threads.submit(client.call, method, params)
    threads.shutdown(wait=False)
    return call


# What hangs in each test, in which thread, and the request that causes it.
CASES: dict[str, tuple[str, str, str]] = {
    "an audit": ("livedex_indexing.disk.tree:read_file", "audit", "index/audit"),
    "a search": ("livedex_indexing.search.searcher:Searcher.search", "reader", "search"),
    "a read of the configuration": ("livedex_daemon.config.settings:load", "configuration", "server/reload"),
    "a write of the configuration": ("livedex_daemon.config.config_edit:set_text", "backend", "index/run"),
    "a store of knowledge": (
        "livedex_daemon.knowledge.knowledge_store:KnowledgeStore.counts",
        "knowledge",
        "knowledge/stats",
    ),
    "a turn of the worker": ("livedex_daemon.watch.root_presence:Presence.check", "worker", "index/run"),
    "a file that is read": ("livedex_indexing.disk.tree:read_file", "edits", "sync"),
}
PARAMS: dict[str, dict[str, Any]] = {
    "a search": {"query": "alpha", "fresh": False},
    "a write of the configuration": {"backend": "sqlite"},
}


@pytest.mark.parametrize("case", CASES)
def test_a_call_that_hangs(case: str, start_daemon: Start, home: Home, tree: Tree, hanging: Hanging) -> None:
    function, thread, method = CASES[case]
    tree.write("a.txt", "alpha\n")
    daemon = start_daemon(**hanging.environment(function, thread))
    with daemon.client() as client:
        add_root(client, tree)
        hanging.begins.touch()
        tree.write("b.txt", "beta\n")
        call = in_background(client, method, PARAMS.get(case))
        hanging.wait()
        assert_ends(daemon, home)
        with pytest.raises(LivedexError):
            call.result(10)


def test_a_start_that_hangs(start_daemon: Start, home: Home, tree: Tree, hanging: Hanging) -> None:
    """A root on a disk that does not answer: the daemon must end before it has finished starting."""
    hanging.begins.touch()
    env = hanging.environment("livedex_daemon.watch.root_presence:Presence.check", "worker")
    daemon = start_daemon(f'[[roots]]\npath = "{tree}"\n', **env)
    hanging.wait()
    assert_ends(daemon, home)


def test_a_child_whose_start_hangs(start_daemon: Start, home: Home, tree: Tree, hanging: Hanging) -> None:
    """The interpreter lies on a disk that does not answer."""
    hanging.begins.touch()
    tree.write("a.txt", "alpha\n")
    env = hanging.environment("subprocess:Popen", "starter")
    daemon = start_daemon(f'[[roots]]\npath = "{tree}"\n', **env)
    hanging.wait()
    assert_ends(daemon, home)


def test_a_signal_as_soon_as_the_socket_is_there(home: Home, tmp_path: Path) -> None:
    env = {**home.env, **with_code(tmp_path / "seam", SIGNALLED_EARLY)}
    ended = subprocess.run([sys.executable, "-m", "livedex_daemon", "daemon"], env=env, timeout=60, check=False)
    assert ended.returncode == 0
    assert "daemon_stopped" in home.logs()
    assert not home.socket.exists()


def test_a_loop_that_hangs(start_daemon: Start, home: Home, hanging: Hanging) -> None:
    daemon = start_daemon(**hanging.environment("livedex_daemon.answer.handlers:openrpc.document", "MainThread"))
    hanging.begins.touch()
    with daemon.client() as client:
        in_background(client, "rpc.discover")
        hanging.wait()
        assert_ends(daemon, home)


def test_a_child_that_hangs(start_daemon: Start, home: Home, tree: Tree, tmp_path: Path, hanging: Hanging) -> None:
    tree.write("a.txt", "alpha\n")
    env = {"HUNG": str(hanging.hung), **with_code(tmp_path / "seam", CHILD_HANGS)}
    daemon = start_daemon(f'[[roots]]\npath = "{tree}"\n', **env)
    hanging.wait()
    assert_ends(daemon, home)


def test_a_first_index(start_daemon: Start, home: Home, tree: Tree) -> None:
    tree.write_all({f"d{number % 40}/f{number}.txt": f"word{number}\n" for number in range(2_000)})
    daemon = start_daemon(f'[[roots]]\npath = "{tree}"\n')
    assert_ends(daemon, home)


def test_a_hard_pattern(start_daemon: Start, home: Home, tree: Tree) -> None:
    rnd = random.Random(1)
    tree.write("ab.txt", "".join(rnd.choice("ab") for _ in range(2_000_000)) + "\n")
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, tree)
        in_background(client, "search", {"query": "(?:a?[ab]){900}c", "mode": "regex", "timeout_ms": 60_000})
        wait_until(lambda: _uses_cpu(daemon.pid), what="the search at work")
        assert_ends(daemon, home)


def _uses_cpu(pid: int) -> bool:
    running = [Path(task, "stat").read_text().rpartition(")")[2].split()[0] for task in _tasks(pid)]
    return "R" in running


def _tasks(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())


def test_a_client_that_does_not_read(start_daemon: Start, home: Home, tree: Tree) -> None:
    tree.write_all({f"f{number}.txt": "word " * 400 for number in range(200)})
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, tree)
        asked = b'{"jsonrpc":"2.0","id":%d,"method":"search","params":{"query":"word","limit":200}}\n'
        os.write(client.fileno(), b"".join(asked % number for number in range(300)))
        assert_ends(daemon, home)


def test_a_call_after_the_end_was_asked_for(start_daemon: Start, tree: Tree, hanging: Hanging) -> None:
    """No client waits for an order that the worker will never take."""
    daemon = start_daemon(**hanging.environment("livedex_daemon.watch.root_presence:Presence.check", "worker"))
    with daemon.client() as client, daemon.client() as other:
        add_root(client, tree)
        hanging.begins.touch()
        running = in_background(client, "index/run")
        hanging.wait()
        waiting = in_background(other, "files/delete", {"path": str(tree)})
        os.kill(daemon.pid, signal.SIGTERM)
        for call in (running, waiting):
            with pytest.raises(LivedexError):
                call.result(PROMISED_S + SLACK_S)
