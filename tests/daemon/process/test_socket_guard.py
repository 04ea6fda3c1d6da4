"""The guard of the socket ends the daemon only if its folder is gone, and never loses sight of a socket it bound."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from helpers.support import temporary_home
from livedex_daemon.process import socket_guard
from livedex_daemon.process.socket_guard import GIVE_UP_S, SocketGuard
from livedex_ipc.errors import Unavailable
from livedex_ipc.server import binding
from livedex_ipc.server.rpc_server import Server

LOOKS = 3


class World(NamedTuple):
    folder: Path
    guard: SocketGuard


class FakeServer(Server):
    def __init__(self) -> None:
        """It has no connections, and listens nowhere."""

    async def listen_elsewhere(self, sock: Any) -> None:
        """Do as if it listened."""


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A guard whose clock makes each look come after ``GIVE_UP_S``."""
    clock = iter(range(0, 1_000_000, int(GIVE_UP_S) + 1))
    with temporary_home() as home:
        folder = home.path / "run"
        guard = SocketGuard(str(folder / "livedex.sock"), None, clock=lambda: float(next(clock)))
        yield World(folder, guard)
        guard.close()
        guard.sock.close()


def gives_up(guard: SocketGuard, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether the guard wants the daemon to end within some looks."""
    ended: list[bool] = []

    async def looks() -> None:
        left = iter(range(LOOKS))

        async def tick() -> None:
            if next(left, None) is None:
                raise asyncio.CancelledError

        monkeypatch.setattr(socket_guard, "tick", tick)
        with suppress(asyncio.CancelledError):
            await guard.watch(FakeServer(), lambda: ended.append(True))

    asyncio.run(looks())
    return bool(ended)


def failing(real: Any, folder: Path, code: int) -> Any:
    """The call with this error for whatever is at or below ``folder``."""

    def call(path: Any, *words: Any, **named: Any) -> Any:
        if isinstance(path, str | bytes) and os.fsdecode(path).startswith(str(folder)):
            raise OSError(code, os.strerror(code), path)
        return real(path, *words, **named)

    return call


def test_a_folder_that_the_system_cannot_read_ends_no_daemon(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        for name in ("stat", "lstat", "open", "mkdir"):
            broken.setattr(os, name, failing(getattr(os, name), world.folder, errno.EIO))
        assert not gives_up(world.guard, broken)
        assert world.guard.fault is not None
    assert not gives_up(world.guard, monkeypatch)
    assert world.guard.fault is None, "it was the check that had failed"


def test_a_folder_that_is_gone_ends_the_daemon(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (world.folder / "livedex.sock").unlink()
    world.folder.rmdir()
    with monkeypatch.context() as refused:
        refused.setattr(os, "mkdir", failing(os.mkdir, world.folder, errno.EACCES))
        assert gives_up(world.guard, refused)


def test_a_socket_is_not_used_without_knowing_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_guard, "identity", lambda _path: None)
    with temporary_home() as home, pytest.raises(Unavailable, match="cannot say"):
        SocketGuard(str(home.path / "livedex.sock"), None)


@pytest.mark.parametrize("code", [errno.EROFS, errno.EIO])
def test_a_socket_that_cannot_be_removed_does_not_disturb_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(os, "unlink", failing(os.unlink, world.folder, code))
        world.guard.close()
    assert (world.folder / "livedex.sock").exists()


def test_a_socket_that_is_bound_as_the_daemon_ends_is_removed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()
    real = binding.bind

    def bind_late(path: str) -> Any:
        begun.set()
        assert ended.wait(60)
        return real(path)

    async def no_tick() -> None:
        """Look at once."""

    async def end_while_it_binds() -> None:
        watching = asyncio.create_task(world.guard.watch(FakeServer(), lambda: None))
        await asyncio.to_thread(begun.wait, 60)
        watching.cancel()
        world.guard.close()
        ended.set()
        for thread in [each for each in threading.enumerate() if each.name == "socket"]:
            await asyncio.to_thread(thread.join, 60)

    monkeypatch.setattr(socket_guard, "bind", bind_late)
    monkeypatch.setattr(socket_guard, "tick", no_tick)
    (world.folder / "livedex.sock").unlink()
    asyncio.run(end_while_it_binds())
    assert list(world.folder.iterdir()) == []


def test_a_second_end_removes_no_socket_of_another_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    """An inode is used again once nobody has the former socket open."""
    for module in (binding, socket_guard):
        monkeypatch.setattr(module, "identity", lambda path: (1, 1) if os.path.lexists(path) else None)
    with temporary_home() as home:
        guard = SocketGuard(str(home.socket), None)
        guard.close()
        guard.sock.close()
        with binding.bind(str(home.socket)):
            guard.close()
            assert home.socket.exists()
