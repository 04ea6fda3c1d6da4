"""Which errors mean that an entry is gone; no other error does."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from livedex_indexing.disk import tree

GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
NOT_GONE = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENODEV, errno.ENXIO, errno.EXDEV,
            errno.ENAMETOOLONG)  # fmt: skip


class Failing:
    """A call of ``os`` that fails with the errors of ``codes``, one per call, and then works."""

    def __init__(self, real: Callable[..., Any], *codes: int) -> None:
        self._real = real
        self._codes = list(codes)

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self._codes:
            code = self._codes.pop(0)
            raise OSError(code, os.strerror(code))
        return self._real(*args, **named)


@pytest.fixture
def root(tmp_path: Path) -> bytes:
    (tmp_path / "f.txt").write_text("text")
    return os.fsencode(tmp_path)


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def order(name: str, *codes: int) -> None:
        monkeypatch.setattr(os, name, Failing(getattr(os, name), *codes))

    return order


@pytest.mark.parametrize("code", GONE)
def test_these_errors_mean_gone(root: bytes, fail: Callable[..., None], code: int) -> None:
    fail("stat", code)
    assert tree.stat(root, b"f.txt") is None
    fail("open", code)
    with pytest.raises(tree.Missing):
        tree.listing(root, b"")
    fail("open", code)
    with pytest.raises(tree.Vanished):
        tree.read_file(root, b"f.txt", 99)


@pytest.mark.parametrize("code", NOT_GONE)
def test_no_other_error_does(root: bytes, fail: Callable[..., None], code: int) -> None:
    looks: list[tuple[str, Callable[[], object]]] = [
        ("stat", lambda: tree.stat(root, b"f.txt")),
        ("scandir", lambda: tree.listing(root, b"")),
        ("stat", lambda: tree.stat_names(root, b"", [b"f.txt"])),
        ("pread", lambda: tree.read_file(root, b"f.txt", 99)),
    ]
    for name, look in looks:
        fail(name, code)
        with pytest.raises(tree.ReadFailed) as failed:
            look()
        assert failed.value.errno == code


def test_no_entry_has_a_name_that_is_too_long(root: bytes) -> None:
    """Such a name comes from a request, never from a listing: there the error says nothing of the entry."""
    assert tree.stat(root, b"x" * 256) is None
    with pytest.raises(tree.Missing):
        tree.listing(root, b"x" * 5_000 + b"/d")
    with pytest.raises(tree.Vanished):
        tree.read_file(root, b"d/" + b"x" * 256, 99)


def test_a_stale_handle_is_looked_at_twice(root: bytes, fail: Callable[..., None]) -> None:
    fail("stat", errno.ESTALE)
    assert tree.stat(root, b"f.txt") is not None
    fail("scandir", errno.ESTALE)
    assert [name for name, _ in tree.listing(root, b"")] == [b"f.txt"]
    fail("open", errno.ESTALE)
    assert tree.read_file(root, b"f.txt", 99).data == b"text"
    fail("stat", errno.ESTALE, errno.ESTALE)
    with pytest.raises(tree.ReadFailed):  # the share is lost, and not the file
        tree.stat(root, b"f.txt")


def test_whether_permission_has_returned(root: bytes, fail: Callable[..., None]) -> None:
    assert tree.may_read(root, b"f.txt") and tree.may_read(root, b"") and tree.may_read(root, b"gone.txt")
    fail("open", errno.EACCES)
    assert not tree.may_read(root, b"f.txt")
    fail("stat", errno.EIO)
    assert not tree.may_read(root, b"f.txt")
