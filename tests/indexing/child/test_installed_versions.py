"""The versions of distributions by the names of their folders."""

from __future__ import annotations

import errno
import os
from importlib import metadata
from pathlib import Path

import pytest

from livedex_indexing.child.installed_versions import is_there, version_of


def test_each_installed_distribution_has_the_version_that_python_says() -> None:
    names = {each.name for each in metadata.distributions()}
    assert len(names) > 30
    assert {name: version_of(name) for name in names} == {name: metadata.version(name) for name in names}


@pytest.mark.parametrize("name", ["Some.Thing_else", "some-thing-else", "SOME_THING.ELSE"])
def test_a_name_is_known_in_each_of_its_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folder = tmp_path / name / "some_thing_else-1.0.post1+local.dist-info"
    folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path / name)
    assert version_of.__wrapped__(name) == "1.0.post1+local"


def test_what_is_no_wheel_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "elder_thing.egg-info"
    folder.mkdir()
    (folder / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: elder-thing\nVersion: 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert version_of.__wrapped__("elder-thing") == metadata.version("elder-thing") == "7"


def test_what_is_not_installed_has_none() -> None:
    assert version_of("no-such-distribution-anywhere") is None


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO])
def test_what_cannot_be_looked_for_is_not_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    (tmp_path / "late_thing-2.dist-info").mkdir()
    (tmp_path / "late_thing").mkdir()
    monkeypatch.syspath_prepend(tmp_path)

    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as failing:
        failing.setattr(os, "listdir", fail)
        failing.setattr(os, "stat", fail)
        for look in (version_of.__wrapped__, is_there):
            with pytest.raises(OSError, match=os.strerror(code)):
                look("late_thing")
    assert (version_of.__wrapped__("late_thing"), is_there("late_thing")) == ("2", True)
