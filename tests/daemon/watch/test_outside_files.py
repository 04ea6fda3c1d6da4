"""The path to a file outside the roots: which entries of it decide, which folders report them, and when it is new."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from livedex_daemon.watch.outside_files import OutsideFiles, trail
from livedex_indexing.ignore.external_files import Source


def names(paths: frozenset[bytes], folder: Path) -> set[str]:
    """The watched folders below the folder, relative to it; the folder itself is ``.``."""
    real = os.path.realpath(folder)
    texts = {os.fsdecode(path) for path in paths}
    return {os.path.relpath(text, real) for text in texts if text == real or text.startswith(real + "/")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config/git").mkdir(parents=True)
    (tmp_path / "config/git/ignore").touch()
    return tmp_path.resolve()


def test_every_folder_on_the_way_reports(folder: Path) -> None:
    found = trail(os.fsencode(folder / "config/git/ignore"))
    assert names(found.points, folder) == {".", "config", "config/git", "config/git/ignore"}
    assert names(found.folders, folder) == {".", "config", "config/git"}
    assert b"/" in found.folders


def test_what_does_not_exist_is_noticed_by_the_last_folder_that_does(folder: Path) -> None:
    found = trail(os.fsencode(folder / "config/jj/deep/ignore"))
    assert names(found.points, folder) == {".", "config", "config/jj"}
    assert names(found.folders, folder) == {".", "config"}


def test_links_are_followed_to_the_real_folders(folder: Path) -> None:
    (folder / "dotfiles").mkdir()
    (folder / "config/git").rename(folder / "dotfiles/git")
    (folder / "config/git").symlink_to("../dotfiles/git")
    (folder / "dotfiles/git/ignore").rename(folder / "mine")
    (folder / "dotfiles/git/ignore").symlink_to(folder / "mine")
    path = os.fsencode(folder / "config/git/ignore")
    assert names(trail(path).points, folder) >= {"config/git", "dotfiles/git", "dotfiles/git/ignore", "mine"}
    assert names(trail(path).folders, folder) == {".", "config", "dotfiles", "dotfiles/git"}
    assert names(trail(path, follow=False).folders, folder) == {".", "config"}


def test_links_in_a_circle_end(folder: Path) -> None:
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    assert names(trail(os.fsencode(folder / "one/x")).points, folder) == {".", "one", "two"}


def test_only_a_touched_trail_is_followed_again(folder: Path) -> None:
    files, watched = OutsideFiles(), list[bytes]()
    source = Source(os.fsencode(folder / "config/git/ignore"), True, b"")
    assert files.follow(b"/", [source], watched.append)
    assert os.fsencode(folder / "config/git") in watched
    watched.clear()
    assert not files.follow(b"/", [source], watched.append)
    assert watched == []
    assert files.touch(os.fsencode(folder / "config/other")) == frozenset()
    assert not files.is_touched
    assert files.touch(os.fsencode(folder / "config/git")) == {b""}
    assert files.follow(b"/", [source], watched.append)
    assert os.fsencode(folder / "config/git") in watched


def test_what_changes_before_it_is_watched_is_followed_again(folder: Path) -> None:
    files, watched = OutsideFiles(), list[bytes]()
    source = Source(os.fsencode(folder / "config/new/ignore"), True, b"")

    def watch(path: bytes) -> None:
        (folder / "config/new").mkdir(exist_ok=True)
        watched.append(path)

    assert files.follow(b"/", [source], watch)
    assert os.fsencode(folder / "config/new") not in watched
    assert files.is_touched
    assert files.follow(b"/", [source], watch)
    assert os.fsencode(folder / "config/new") in watched
    assert not files.is_touched


def test_what_the_root_watches_is_left_to_it(folder: Path) -> None:
    files, watched = OutsideFiles(), list[bytes]()
    (folder / "a/b/.git/info").mkdir(parents=True)
    source = Source(os.fsencode(folder / "a/b/.git/info/exclude"), False, b"a/b")
    assert files.follow(os.fsencode(folder), [source], watched.append)
    assert names(frozenset(watched), folder) == {"a/b", "a/b/.git", "a/b/.git/info"}
    assert files.touch(os.fsencode(folder / "a/b/.git/info/exclude")) == {b"a/b"}
