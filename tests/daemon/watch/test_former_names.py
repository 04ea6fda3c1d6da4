"""Which files are remembered by the names that they had."""

from __future__ import annotations

from livedex_daemon.watch.former_names import MOST, MOST_FILES, FormerNames


def test_the_last_files_of_a_name_are_known() -> None:
    names = FormerNames()
    for ino in (1, 2, 3, 1, *range(4, 3 + MOST_FILES)):
        names.lost((1, b"a"), ino)
    assert names.inodes_of((1, b"a")) == (1, *range(4, 3 + MOST_FILES))
    assert names.inodes_of((2, b"a")) == names.inodes_of((1, b"b")) == ()


def test_the_names_that_were_lost_last_are_known() -> None:
    names = FormerNames()
    for number in range(1, MOST + 1):
        names.lost((1, b"%d" % number), number)
    names.lost((1, b"1"), 1)
    names.lost((1, b"new"), 7)
    assert names.inodes_of((1, b"1")) == (1,)
    assert names.inodes_of((1, b"2")) == ()
    assert names.inodes_of((1, b"3")) == (3,)


def test_a_file_that_could_not_be_described_is_not_remembered() -> None:
    names = FormerNames()
    names.lost((1, b"a"), 3)
    names.lost((1, b"a"), 0)
    assert names.inodes_of((1, b"a")) == (3,)
