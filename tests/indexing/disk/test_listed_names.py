"""Whether a name is spelled as the disk lists it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.any_case import in_any_case
from livedex_indexing.disk import beneath
from livedex_indexing.disk.listed_names import ListedNames, other_names, stat_as_listed


@pytest.fixture
def root(tmp_path: Path) -> bytes:
    (tmp_path / "Sub").mkdir()
    (tmp_path / "Sub" / "Name.txt").write_text("words\n")
    return os.fsencode(tmp_path)


@pytest.fixture
def any_case(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(beneath, "has_openat2", lambda: False)
        patch.setattr(os, "stat", in_any_case(os.stat))
        patch.setattr(os, "open", in_any_case(os.open))
        yield


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The folders that were listed, in order."""
    usual = os.listdir
    made: list[int] = []

    def listdir(where: int | str) -> list[str]:
        if isinstance(where, int):
            made.append(where)
        return usual(where)

    monkeypatch.setattr(os, "listdir", listdir)
    return made


def test_a_name_that_is_the_only_one_needs_no_listing(root: bytes, listed: list[int]) -> None:
    assert stat_as_listed(root, b"Sub/Name.txt") is not None
    assert stat_as_listed(root, b"Sub/name.txt") is None
    assert listed == []


def test_hard_links_that_differ_in_case_are_both_listed(root: bytes) -> None:
    os.link(root + b"/Sub/Name.txt", root + b"/Sub/nAME.TXT")
    assert stat_as_listed(root, b"Sub/Name.txt") is not None
    assert stat_as_listed(root, b"Sub/nAME.TXT") is not None


@pytest.mark.usefixtures("any_case")
@pytest.mark.parametrize("path", [b"Sub/name.txt", b"Sub/NAME.TXT", b"sub/Name.txt", b"SUB", b"SUB/NAME.txt"])
def test_another_case_is_no_entry(root: bytes, path: bytes) -> None:
    assert stat_as_listed(root, path) is None
    assert stat_as_listed(root, b"Sub/Name.txt") is not None
    assert stat_as_listed(root, b"Sub") is not None


@pytest.mark.usefixtures("any_case")
def test_one_listing_serves_all_changes_before_it(root: bytes, listed: list[int]) -> None:
    now = 10.0
    names = ListedNames(lambda: now)
    for number in range(20):
        Path(os.fsdecode(root), f"f{number}").touch()
    for number in range(20):
        assert names.stat(root, b"f%d" % number, since=9.0) is not None
    assert len(listed) == 1
    os.rename(root + b"/f1", root + b"/F1")
    assert names.stat(root, b"f1", since=10.0) is None, "the change came after the listing"
    assert names.stat(root, b"F1", since=9.0) is not None


@pytest.mark.usefixtures("any_case")
def test_a_folder_that_cannot_be_listed_proves_nothing(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_where: object) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", refuse)
    assert stat_as_listed(root, b"Sub/Name.txt") is not None


@pytest.mark.parametrize(
    ("name", "others"),
    [
        (b"1234", set()),
        (b"a1", {b"A1"}),
        ("\xe9".encode(), {"\xc9".encode(), b"e\xcc\x81"}),
        (b"\xff", set()),
        (b"\xc3\xa9" * 127, {b"\xc3\x89" * 127}),  # decomposed it is too long for a name
    ],
)
def test_the_names_that_may_be_taken_for_the_same(name: bytes, others: set[bytes]) -> None:
    assert other_names(name) == others
