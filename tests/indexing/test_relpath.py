"""Paths are compared by whole names, and a path that was split can be joined again."""

from __future__ import annotations

import pytest

from livedex_indexing import relpath


@pytest.mark.parametrize("path", [b"", b"a", b"a/b", b"a/b/\xff\n"])
def test_a_split_path_is_joined_again(path: bytes) -> None:
    folder, name = relpath.split(path)
    assert relpath.join(folder, name) == path
    assert (folder, name) == (relpath.parent(path), relpath.name_of(path))


@pytest.mark.parametrize(
    ("path", "folder", "within", "below"),
    [
        (b"a/b", b"a", True, True),
        (b"a", b"a", True, False),
        (b"a-evil/b", b"a", False, False),
        (b"a", b"a/b", False, False),
        (b"a", b"", True, True),
        (b"", b"", True, False),
        (b"", b"a", False, False),
        (b"/r/a", b"/r", True, True),
        (b"/r", b"/", True, True),
        (b"/", b"/", True, False),
    ],
)
def test_containment_is_decided_by_whole_names(path: bytes, folder: bytes, within: bool, below: bool) -> None:
    assert relpath.is_within(path, folder) == within
    assert relpath.is_below(path, folder) == below


@pytest.mark.parametrize(
    ("root", "path", "whole"),
    [(b"/r", b"a/b", b"/r/a/b"), (b"/", b"a", b"/a"), (b"/r", b"", b"/r"), (b"/", b"", b"/")],
)
def test_a_path_in_a_root_is_made_absolute(root: bytes, path: bytes, whole: bytes) -> None:
    assert relpath.absolute(root, path) == whole


def test_the_range_below_a_folder_holds_what_lies_below_it() -> None:
    first, last = relpath.range_below(b"a")
    paths = [b"a", b"a!", b"a/", b"a/b", b"a/\xff", b"a0", b"aa"]
    assert [path for path in paths if first <= path < last] == [path for path in paths if path.startswith(b"a/")]


@pytest.mark.parametrize("more", [0, relpath.FEW])
def test_which_paths_lie_at_or_below_some_folders(more: int) -> None:
    folders = frozenset([b"a/b", b"c", *(b"other%d" % number for number in range(more))])
    for path, expected in {b"a/b": True, b"a/b/c": True, b"a/bc": False, b"a": False, b"": False, b"c/x": True}.items():
        assert relpath.is_at_or_below(path, folders) is expected, path
    assert relpath.is_at_or_below(b"x/y", folders | {b""})
    assert not relpath.is_at_or_below(b"x/y", frozenset())


class Counted(frozenset[bytes]):
    """Counts the paths that are looked up: each is hashed as a whole."""

    looked_up = 0

    def __contains__(self, path: object) -> bool:
        self.looked_up += 1
        return super().__contains__(path)


def test_a_path_of_thousands_of_folders_is_not_looked_up_folder_by_folder() -> None:
    folders = Counted([b"b", b"a/a/b"])
    assert not relpath.is_at_or_below(b"a/" * 3000 + b"a", folders)
    assert folders.looked_up <= len(folders)
