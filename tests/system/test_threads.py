"""Any part of the daemon that fails is restarted and named in the status meanwhile, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.fault_injection import TICKS_OFTEN, with_code
from helpers.support import Daemon, Home, Tree, add_root, codes, found, wait_until

pytestmark = pytest.mark.breaks_daemon

# When the file FAIL exists, the next call of the function that it names fails, once, as if by a bug.
SEAM = """
import importlib, os, sys

if "livedex_daemon" in sys.orig_argv:
    def fails_once(name):
        module, _, path = name.partition(":")
        owner = importlib.import_module(module)
        *folders, last = path.split(".")
        for folder in folders:
            owner = getattr(owner, folder)
        real = getattr(owner, last)

        def call(*args, **kwargs):
            if os.path.exists(os.environ["FAIL"]) and open(os.environ["FAIL"]).read() == name:
                os.unlink(os.environ["FAIL"])
                sys.exit("a bug") if name.endswith("Backlog.take") else (lambda: 1 // 0)()
            return real(*args, **kwargs)

        setattr(owner, last, call)

    for name in os.environ["PARTS"].split():
        fails_once(name)
"""
PARTS = {
    "worker": ("livedex_daemon.watch.backlog:Backlog.take", "worker_dead"),
    "standing": ("livedex_daemon.subscriptions.subscription:Dirty.take", "thread_dead"),
    "root checks": ("livedex_daemon.upkeep.chores:DaemonChores.check_roots", None),
    "socket": ("livedex_daemon.process.socket_guard:identity", "thread_dead"),
    "watcher": ("livedex_daemon.watch.inotify_reader:InotifyReader.handle_event", None),
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_fails_goes_on(
    part: str, start_daemon: Callable[..., Daemon], home: Home, tree: Tree, tmp_path: Path
) -> None:
    function, code = PARTS[part]
    fail = tmp_path / "fail"
    names = " ".join(name for name, _ in PARTS.values())
    daemon = start_daemon(FAIL=str(fail), PARTS=names, **with_code(tmp_path / "seam", SEAM + TICKS_OFTEN))
    with daemon.client() as client, daemon.client() as subscriber:
        add_root(client, tree)
        subscriber.call("search/subscribe", {"query": "alpha"})
        beside = tmp_path / "fail.new"
        beside.write_text(function)
        beside.rename(fail)
        tree.write("a.txt", "alpha\n")
        wait_until(lambda: not fail.exists(), what="the failure")
        if code is not None:
            wait_until(lambda: code in codes(client), what="the warning")
            assert client.call("status")["state"] == "degraded"
        wait_until(
            lambda: client.call("search", {"query": "alpha"})["hits"], what="the file that was written meanwhile"
        )
        assert subscriber.notification(20)[0] == "search/changed"
        tree.write("b.txt", "beta\n")
        wait_until(lambda: client.call("sync", {"timeout_ms": 5_000})["synced"], what="a complete index")
        assert found(client, "beta") == ["b.txt"]
        home.socket.unlink()
        wait_until(home.socket.exists, what="the socket, bound again")
