"""The versions of distributions by the names of their folders."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from livedex_indexing.child.installed_versions import version_of


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
