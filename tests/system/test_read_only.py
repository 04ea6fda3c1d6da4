"""A root, or the folder of the socket, becomes read-only under the daemon, and is writable again later."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.fault_injection import in_namespaces, inside, needs_namespaces
from helpers.support import Daemon, Home, codes, found, wait_ready, wait_until

if sys.platform != "linux":
    pytest.skip("namespaces are Linux's", allow_module_level=True)

HEALED_S = 10.0  # the promise


@needs_namespaces
def test_every_answer_is_true_meanwhile(start_daemon: Callable[..., Daemon], home: Home, tmp_path: Path) -> None:
    root, door = tmp_path.resolve() / "root", tmp_path.resolve() / "door"
    root.mkdir()
    door.mkdir()
    home.socket = door / "s"
    home.env["LIVEDEX_SOCKET"] = str(home.socket)
    mounts = 'mount -t tmpfs tmpfs "$1"; mount --bind "$2" "$2"; echo "alpha one" > "$1/a"; echo "alpha two" > "$1/b"'
    daemon = start_daemon(f'[[roots]]\npath = "{root}"\n', wrap=in_namespaces(mounts, str(root), str(door)))
    with daemon.client() as client:
        wait_ready(client)

        def is_true(word: str) -> None:
            assert sorted(found(client, "alpha")) == ["a", "b"]
            assert found(client, word) == ["a"]
            assert client.call("index/audit")["differences"] == []
            assert codes(client) == set()

        inside(daemon, 'mount -o remount,ro "$1"', root)
        is_true("one")
        inside(daemon, 'mount -o remount,rw "$1"; echo "alpha three" > "$1/a"', root)
        is_true("three")
        inside(daemon, 'mount -o remount,bind,ro "$1"; echo "alpha four" > "$2/a"', door, root)
        is_true("four")
        assert found(client, "three") == []
        inside(daemon, 'mount -o remount,bind,rw "$1"; rm "$1/s"', door)
        wait_until(lambda: home.server_pid() == daemon.pid, 2 * HEALED_S, what="the socket")
        is_true("four")
