"""Paths from clients are resolved as the kernel resolves them; a file system that hangs delays only its own paths."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.support import examples
from livedex_daemon.answer import path_lookup
from livedex_daemon.answer.path_lookup import PER_MOUNT, Lookup, PathLookups
from livedex_ipc.errors import Unavailable

WAIT_S = 10.0

T = TypeVar("T")


def lookup() -> Lookup:
    return Lookup(lambda _lookup, _path: None)


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("linked").resolve()
    (base / "a" / "b").mkdir(parents=True)
    (base / "a" / "b" / "file").touch()
    targets = {
        "a/up": "..",
        "a/b/back": "../../c",
        "c": "a/b",
        "whole": str(base / "a"),
        "gone": "nothing/here",
        "far": "a/b/back/..",
    }
    for name, target in targets.items():
        (base / name).symlink_to(target)
    return base


NAMES = ("a", "b", "c", "up", "back", "whole", "gone", "far", "file", "..", ".", "", "other")


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(st.sampled_from(NAMES), max_size=8))
def test_links_are_resolved_as_the_kernel_would(linked: Path, names: list[str]) -> None:
    path = os.fsencode("/".join([str(linked), *names]))
    assert lookup().real(path) == os.path.realpath(path)


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one/x")
    assert lookup().real(os.fsencode(tmp_path / "one" / "y"))


def test_the_entry_itself_is_found_through_links_in_its_folders(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "inner").symlink_to("elsewhere")
    base = os.fsencode(tmp_path.resolve())
    assert lookup().entry(os.fsencode(tmp_path / "link" / "inner")) == base + b"/real/inner"
    assert lookup().entry(os.fsencode(tmp_path / "link" / ".." / "x")) == base + b"/x"


class Hung:
    """The file system at /hung: a call on it waits until the end of the test."""

    def __init__(self) -> None:
        self.ends = threading.Event()
        self.waiting = threading.Semaphore(0)
        self._readlink = os.readlink

    def readlink(self, path: bytes) -> bytes:
        if path.startswith(b"/hung"):
            self.waiting.release()
            self.ends.wait(WAIT_S)
        return self._readlink(path)

    @staticmethod
    def mount_of(path: bytes) -> bytes:
        return b"/hung" if path.startswith(b"/hung") else b"/"


@pytest.fixture
def hung(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hung]:
    hung = Hung()
    monkeypatch.setattr(os, "readlink", hung.readlink)
    monkeypatch.setattr(path_lookup, "HUNG_S", 0.0)
    yield hung
    hung.ends.set()


def run(main: Callable[[PathLookups], Coroutine[Any, Any, T]]) -> T:
    async def with_lookups() -> T:
        lookups = PathLookups(Hung.mount_of)
        try:
            return await asyncio.wait_for(main(lookups), WAIT_S)
        finally:
            lookups.close()

    return asyncio.run(with_lookups())


def real(lookups: PathLookups, path: bytes) -> asyncio.Task[bytes]:
    return asyncio.create_task(lookups.run(path, lambda lookup: lookup.real(path)))


def test_a_hung_file_system_costs_a_few_threads_and_holds_up_no_other_path(hung: Hung, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/hung/x")

    async def main(lookups: PathLookups) -> None:
        stuck = [real(lookups, b"/hung/a") for _ in range(PER_MOUNT)]
        for _ in stuck:
            assert await asyncio.to_thread(hung.waiting.acquire, timeout=WAIT_S)
        for path in (b"/hung/b", os.fsencode(link)):  # by name, and by a link that leads to it
            with pytest.raises(Unavailable, match="/hung does not answer"):
                await real(lookups, path)
        for _ in range(40):
            assert await real(lookups, os.fsencode(tmp_path)) == os.path.realpath(os.fsencode(tmp_path))
        assert not any(task.done() for task in stuck)
        hung.ends.set()
        assert await asyncio.gather(*stuck) == [b"/hung/a"] * PER_MOUNT
        assert await real(lookups, b"/hung/b") == b"/hung/b", "it answers again"

    run(main)


def test_a_caller_waits_only_so_long(hung: Hung, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_lookup, "LOOKUP_S", 0.1)

    async def main(lookups: PathLookups) -> None:
        with pytest.raises(Unavailable, match="/hung does not answer"):
            await real(lookups, b"/hung/a")
        hung.ends.set()

    run(main)


def test_a_lookup_ends_with_the_request_that_waits_for_it() -> None:
    """A path may have so many folders that to look at each takes longer than anybody waits."""
    begun, ended = threading.Event(), threading.Event()

    def look(lookup: Lookup) -> None:
        try:
            while True:
                lookup.exists(b"/")
                begun.set()
        finally:
            ended.set()

    async def give_up() -> None:
        lookups = PathLookups()
        waiting = asyncio.create_task(lookups.run(b"/", look))
        await asyncio.to_thread(begun.wait, WAIT_S)
        waiting.cancel()
        assert await asyncio.to_thread(ended.wait, WAIT_S)
        lookups.close()

    asyncio.run(give_up())
