"""Whether other code is installed than the running one: a failed look at it proves nothing."""

from __future__ import annotations

import errno
import os

import pytest

from livedex_indexing.child import code_version


def after(monkeypatch: pytest.MonkeyPatch, code: int) -> bool:
    """Return what is said of the code after the look at it has failed with an errno."""

    def fail(_path: object) -> object:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "scandir", fail)
    return code_version.was_replaced()


@pytest.mark.parametrize("code", [errno.EIO, errno.EMFILE, errno.EACCES, errno.ENOMEM])
def test_code_that_cannot_be_read_is_not_replaced(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    assert not after(monkeypatch, code)


@pytest.mark.parametrize("code", [errno.ENOENT, errno.ENOTDIR])
def test_code_that_is_gone_is_replaced(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    assert after(monkeypatch, code)
