"""Which root a path belongs to, and which parts of a root are polled."""

from __future__ import annotations

import random
from collections.abc import Collection

import pytest

from livedex_daemon.config.settings import RootConfig
from livedex_daemon.watch.root_table import Root, RootTable
from livedex_indexing import relpath
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import RootRow
from livedex_indexing.relpath import is_at_or_below, is_below


def root(number: int, path: bytes) -> Root:
    row = RootRow(number, path, 1, number, None, True, None)
    return Root(row, RootConfig(path.decode(), path.decode(), (), 1), RuleTree(path))


@pytest.fixture
def table() -> RootTable:
    return RootTable([root(1, b"/n"), root(2, b"/n/in/ner"), root(3, b"/n2")])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (b"/n", (1, b"")),
        (b"/n/a", (1, b"a")),
        (b"/n/in", (1, b"in")),
        (b"/n/in/ner", (2, b"")),
        (b"/n/in/ner/x", (2, b"x")),
        (b"/n/in/nerve", (1, b"in/nerve")),
        (b"/n2/x", (3, b"x")),
        (b"/n22", None),
        (b"/", None),
    ],
)
def test_the_innermost_root_holds_a_path(table: RootTable, path: bytes, expected: tuple[int, bytes] | None) -> None:
    found = table.locate(path)
    assert (None if found is None else (found[0].id, found[1])) == expected


def test_a_nested_root_does_not_belong_to_the_outer_one(table: RootTable) -> None:
    outer = table.by_path(b"/n")
    assert outer is not None
    assert outer.nested == {b"in/ner"}
    assert outer.belongs(b"in")
    assert not outer.belongs(b"in/ner/x")


def test_roots_inside_a_folder(table: RootTable) -> None:
    assert {found.id for found in table.inside(b"/")} == {1, 2, 3}
    assert {found.id for found in table.inside(b"/n")} == {2}


def test_only_the_topmost_of_what_is_polled_is_walked() -> None:
    polled = root(1, b"/n")
    polled.state = "online"
    assert polled.watching == "native"
    for path in (b"a/b", b"a", b"c"):
        polled.poll(path)
    assert polled.polled == {b"a", b"c"}
    assert polled.watching == "mixed"
    polled.watch_again(b"a")
    assert polled.polled == {b"a/b", b"c"}
    polled.poll(b"", remote=True)
    assert polled.watching == "polling"


def test_only_the_topmost_of_the_folders_without_a_watch_are_polled() -> None:
    chance, names = random.Random(4), [b"", b"a", b"a/b", b"a/b/c", b"ab", b"b", b"b/c", b"b/c/d", b"c"]
    for _ in range(200):
        polled = root(1, b"/n")
        for _ in range(12):
            path = chance.choice(names)
            match chance.randrange(4):
                case 0:
                    polled.watch_again(path)
                case 1:
                    polled.stop_polling([path])
                case kind:
                    polled.poll(path, remote=kind == 2)
            wanted = polled.refused | polled.remote
            topmost = {path for path in wanted if not any(is_below(path, other) for other in wanted)}
            assert polled.polled == topmost


def test_a_folder_that_is_polled_already_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each walk of each of thousands of folders asks for a watch again."""
    polled = root(1, b"/n")
    for number in range(100):
        polled.poll(b"%d" % number)
    assert len(polled.polled) == 100
    compared = compared_paths(monkeypatch)
    polled.poll(b"7")
    assert len(polled.polled) == 100
    assert compared == []


def test_folders_that_change_one_after_the_other_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of watches refuses a hundred thousand folders, and later lets them all be watched."""
    polled = root(1, b"/n")
    compared = compared_paths(monkeypatch)
    for number in range(1_000):
        polled.poll(b"%d/%d" % (number % 10, number))
    assert polled.polled == {b"%d" % number for number in range(10)}, "few walks, not a thousand"
    for number in range(900):
        polled.watch_again(b"%d/%d" % (number % 10, number))
    assert len(polled.polled) == 100
    assert len(compared) == 1_100
    polled.poll(b"one/more")
    assert polled.polled == {b"one", *(b"%d" % number for number in range(10))}
    for number in range(200):
        polled.poll(b"flat%d" % number)
    assert (polled.polled, polled.watching) == ({b""}, "none")
    polled.state = "online"
    assert polled.watching == "mixed"


def compared_paths(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    compared: list[bytes] = []

    def note(path: bytes, folders: Collection[bytes]) -> bool:
        compared.append(path)
        return is_at_or_below(path, folders)

    monkeypatch.setattr(relpath, "is_at_or_below", note)
    return compared
