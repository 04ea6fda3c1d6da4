"""The steps of a random history that concern the daemon and its machine, not the files of the folder.

Invariant: each step leaves the daemon running and reachable, so that the next check can ask it anything.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from helpers.fault_injection import HAS_NAMESPACES, inside
from helpers.folder_model import Model, Shared, new_word
from helpers.support import Tree, wait_until
from livedex_ipc.errors import Unavailable

if TYPE_CHECKING:
    from livedex_ipc.client import Client

LEAKED = 15  # of the daemon's 64 connections: it may not have noticed the end of the last three times yet
STOPPED_S = 5.0 + 3.0  # the promised time, plus what a busy machine needs
FOLDERS = st.sampled_from(["x", "x/y", "x/y/z", "w", "w w"])
WRITTEN = st.sampled_from(["a.txt", "x/b.md", "x/y/c.py", "w/d e.txt"])
DECIDING = (".gitignore", ".livedexignore", ".git", "Cargo.toml", "CACHEDIR.TAG")
LONG_METHODS: list[tuple[str, dict[str, Any]]] = [
    ("index/run", {"force": True}),
    ("index/audit", {"repair": True}),
    ("sync", {}),
    ("search", {"query": "[a-z]", "mode": "regex", "facets": ["kinds"], "fresh": False, "limit": 1000}),
    ("search", {"query": "text", "limit": 1000}),
    ("search/subscribe", {"query": "text"}),
    ("files/list", {}),
    ("files/find", {"query": "a"}),
    ("server/reload", {}),
]


def kill_children(pid: int) -> None:
    """New ones must then be started."""
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            for child in (task / "children").read_text().split():
                os.kill(int(child), signal.SIGKILL)


def connected() -> Client:
    """Return a client once there is a place for it: the daemon may still count leaked connections."""

    def admitted() -> Client | None:
        client = Shared.daemon.client()
        try:
            client.call("server/ping")
        except Unavailable:
            client.close()
            return None
        return client

    found = wait_until(admitted, what="a place for one more client")
    assert found is not None
    return found


class DaemonHistories(RuleBasedStateMachine):
    """``fate``: the one disaster of the history."""

    fate: str
    folder: Tree
    model: Model
    client: Client
    leaked: ClassVar[list[socket.socket]] = []

    def reconnect(self) -> None:
        self.release()
        self.client = connected()
        self.model.touch_all()

    @classmethod
    def release(cls) -> None:
        """End the leaked connections."""
        while cls.leaked:
            cls.leaked.pop().close()

    def put(self, path: str) -> str:
        """Write a file with a new word; return the word."""
        word = new_word()
        self.model.make_way(path)
        self.folder.write(path, f"text {word}\n")
        self.model.put(path, word, f"text {word}\n")
        return word

    def expect_no_lie(self, path: str, word: str) -> None:
        """A fresh answer contains the file, unless it is ignored."""
        answer = self.client.call("search", {"query": word, "timeout_ms": 300})
        if answer["fresh"]:
            assert len(answer["hits"]) == len(self.model.let_in([path])), answer

    @rule()
    def toggle_battery(self) -> None:
        battery = Shared.machine.battery
        battery.unlink() if battery.exists() else battery.touch()

    @rule(count=st.integers(1, LEAKED), partial=st.booleans())
    def leak_connections(self, count: int, partial: bool) -> None:
        self.release()
        for _ in range(count):
            peer = socket.socket(socket.AF_UNIX)
            self.leaked.append(peer)
            peer.connect(str(Shared.home.socket))
            if partial:
                peer.sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "search", "params": {"query": "te')

    @rule()
    def end_leaked_connections(self) -> None:
        self.release()

    @precondition(lambda _self: HAS_NAMESPACES)
    @rule(folder=FOLDERS)
    def mount_and_unmount(self, folder: str) -> None:
        """Mount a file system over a folder, which hides its contents, and unmount it."""
        top = self.folder / folder
        if not top.is_dir() or any(os.path.lexists(top / name) for name in DECIDING):
            return
        path, word = f"{folder}/m.txt", new_word()
        below = [path for path in self.model.below(folder) if not self.model.copies_of(path)]
        hidden = [self.model.files[path].word for path in below][:20]
        expected = {path: word} if self.model.let_in([path]) else {}
        inside(Shared.daemon, 'mount -t tmpfs tmpfs "$1"; echo "$2" > "$1/m.txt"', top, word)
        try:
            assert self.model.found(self.client, [word, *hidden]) == expected
        finally:
            inside(Shared.daemon, 'umount "$1"', top)
        self.model.gone.append(word)
        self.model.touch_all()

    @precondition(lambda self: self.fate == "no python")
    @rule(path=WRITTEN)
    def lose_the_interpreter(self, path: str) -> None:
        self.fate = "none"
        Shared.machine.python.unlink()
        kill_children(Shared.daemon.pid)
        try:
            self.expect_no_lie(path, self.put(path))
        finally:
            Shared.machine.give_python()

    @precondition(lambda self: self.fate == "upgrade")
    @rule(path=WRITTEN)
    def upgrade(self, path: str) -> None:
        """Let children be of another version than the daemon, until the daemon starts again."""
        self.fate = "none"
        Shared.machine.upgrade()
        kill_children(Shared.daemon.pid)
        word = self.put(path)
        with suppress(OSError):  # an idle daemon ends by itself
            self.expect_no_lie(path, word)
        self.client.close()
        self.release()
        if Shared.daemon.running():
            Shared.daemon.stop()
        Shared.daemon.start()
        self.reconnect()

    @precondition(lambda self: self.fate == "stop")
    @rule(method=st.sampled_from(LONG_METHODS), path=WRITTEN)
    def stop_in_a_long_method(self, method: tuple[str, dict[str, Any]], path: str) -> None:
        self.fate = "none"
        name, params = method
        self.put(path)
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(str(Shared.home.socket))
            request = {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
            peer.sendall(json.dumps(request).encode() + b"\n")
            self.client.close()
            self.release()
            began = time.monotonic()
            assert Shared.daemon.stop() == 0
            assert time.monotonic() - began < STOPPED_S, name
        Shared.daemon.start()
        self.reconnect()
