"""Which root a path belongs to, and which parts of a root are polled."""

from __future__ import annotations

import pytest

from livedex_daemon.config.settings import RootConfig
from livedex_daemon.watch.root_table import Root, RootTable
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import RootRow


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
