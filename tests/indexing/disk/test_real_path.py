"""A path with its links resolved, as the system does it, without waiting for a mount that does not answer."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from livedex_indexing.disk import real_path as module
from livedex_indexing.disk.real_path import RealPath, real_path

LINKS = {
    "relative": "folder/file",
    "absolute": "{top}/folder",
    "folder/up": "../relative",
    "chain": "absolute/up",
    "dangling": "nothing/at/all",
    "dots": "./folder/.././folder",
    "slash": "folder/",
}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path.resolve()
    (top / "folder").mkdir()
    (top / "folder" / "file").write_text("text")
    for name, target in LINKS.items():
        (top / name).symlink_to(target.format(top=top))
    return top


@pytest.mark.parametrize("name", [*LINKS, "folder/file", "none", "none/at/all", "chain/x", ".", "absolute/..", "a//b/"])
def test_it_is_what_the_system_finds(top: Path, name: str) -> None:
    path = os.fsencode(f"{top}/{name}")
    assert real_path(path) == RealPath(os.path.realpath(path), True)


@pytest.mark.parametrize("folder", ["none", "folder/file", "dangling", "n" * 256])
def test_nothing_is_touched_below_what_is_not_there(top: Path, folder: str) -> None:
    touched: list[bytes] = []
    path = os.fsencode(f"{top}/{folder}{'/a' * 5000}")
    assert real_path(path, touched.append).path == os.fsencode(os.path.realpath(top / folder)) + b"/a" * 5000
    assert len(touched) < 20
    back = os.fsencode(f"{top}/{folder}/a{'/..' * 2}/slash/file")
    assert real_path(back) == RealPath(os.path.realpath(back), True)


def test_nothing_is_touched_twice(top: Path) -> None:
    touched: list[bytes] = []
    path = os.fsencode(f"{top}{'/folder/.././none/..' * 1000}/chain")
    assert real_path(path, touched.append).path == os.fsencode(os.path.realpath(top / "chain"))
    assert len(touched) == len(set(touched))


def test_links_in_a_circle_have_an_end(top: Path) -> None:
    (top / "circle").symlink_to("circle")
    assert real_path(os.fsencode(top / "circle")).complete


class Silent:
    """The mounts; the one at ``point`` does not answer."""

    def __init__(self, point: bytes) -> None:
        self.point = point

    def run(self, root: bytes, _rel: bytes, call: Callable[[], bytes]) -> bytes:
        if root.startswith(self.point):
            raise OSError(errno.ETIMEDOUT, "silent")
        return call()


def test_what_lies_on_a_silent_mount_counts_as_no_link(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMOTE", Silent(os.fsencode(top / "folder")))
    assert real_path(os.fsencode(top / "chain")) == RealPath(os.fsencode(top / "folder" / "up"), False)
    assert real_path(os.fsencode(top / "dangling")).complete
