"""Frontmatter as rows, and the terms that query them: text without case, lists by membership, nested keys by dots."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import islice, product
from pathlib import Path

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.store.database import open_writer
from livedex_indexing.store.properties import PRESENT, TAGS, Row, rows_of


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("notes")) as made:
        for name, block in NOTES.items():
            made.write(f"root/{name}.md", f"---\n{block}\n---\nwalrus\n" if block else "walrus status done\n")
        made.write("root/code.py", "walrus = 1\n")
        yield made


NOTES = {
    "one": "status: Done\ntags: [work, Home]\nauthor: {name: Jane Doe, role: [editor, writer]}",
    "two": "status: open\ntag: Work\ncount: 010\nflag: yes\nempty:",
    "three": "tags: '#work, garden'\n'a key': Größe\nparts: [{name: x}, {name: y}]",
    "four": "tags:\n  - to do\n  - Café\nstatus: [open, Done]\na.b: dotted",
    "none": "",
    "signs": '"k=v": a=b\nformula: x=y',
}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("meta:status=done", "one four"),
        ("meta:STATUS=DONE", "one four"),
        ("meta:status=don", ""),
        ("meta:status", "one two four"),
        ("-meta:status", "three none code signs"),
        ("meta:status=done meta:status=open", "one two four"),
        ("meta:status=done -meta:status=open", "one"),
        ("meta:status=done tag:work", "one"),
        ("meta:status meta:count", "one two four"),
        ("meta:author", "one"),
        ("meta:author=", ""),
        ("meta:empty=", "two"),
        ("meta:author.name=jane", ""),
        ('meta:author.name="jane doe"', "one"),
        ('meta:"author.name=Jane Doe"', "one"),
        ("meta:author.role=writer", "one"),
        ("meta:parts.name=y", "three"),
        ("meta:a.b=dotted", "four"),
        ('meta:"A KEY"=GRÖSSE', "three"),
        ('meta:"k=v"=a=b', "signs"),
        ("meta:formula=x=y", "signs"),
        ("meta:count=010", "two"),
        ("meta:count=8", ""),
        ("meta:count=10", ""),
        ("meta:flag=yes", "two"),
        ("meta:flag=true", ""),
        ("tag:work", "one two three"),
        ("tag:#work", "one two three"),
        ("tag:WORK -tag:home", "two three"),
        ("-tag:work", "four none code signs"),
        ("tag:garden tag:home", "one three"),
        ('tag:"to do"', "four"),
        ("tag:do", ""),
        ("tag:cafe\u0301", "four"),
        ("meta:tags=home", "one"),
        ("meta:nothing", ""),
        ("-meta:nothing", "one two three four none code signs"),
        ("tag:work ext:md path:two", "two"),
        ("walrus meta:status=open", "two four"),
    ],
)
def test_terms(index: Indexed, query: str, expected: str) -> None:
    assert {path.partition(".")[0] for path in index.found(query)} == set(expected.split())


@pytest.mark.parametrize(
    ("wanted", "others", "expected"),
    [
        ("tag:garden", "tag:", ["three.md"]),
        ("tag:garden", "-tag:", ["three.md"]),
        ("meta:parts", "meta:", ["three.md"]),
        ("meta:parts", "meta:x=y=", ["three.md"]),
        ("meta:parts", "-meta:", ["three.md"]),
        ("ext:py", "ext:", ["code.py"]),
        ("ext:py", "-ext:", ["code.py"]),
    ],
)
def test_a_query_may_be_full_of_terms(index: Indexed, wanted: str, others: str, expected: list[str]) -> None:
    """SQLite refuses an expression deeper than 1,000."""
    several = (f"{others}{first}{second}" for first, second in product("qvwxz0123456789#@!%&~+", repeat=2))
    query = f"{wanted} {' '.join(islice(several, 4000 // len(f'{others}00 ')))}"
    assert index.found(query, sort="path") == expected


def test_rows() -> None:
    assert rows_of({"A": "X", "b": ["y", "Y", []], "tags": "p q"}) == [
        Row("a", "x"),
        Row("b", PRESENT),
        Row("b", "y"),
        Row("tags", "p q"),
        Row(TAGS, "p q"),
        Row(TAGS, "p"),
        Row(TAGS, "q"),
    ]


def test_a_long_name_is_not_repeated_without_bounds() -> None:
    rows = rows_of({"k" * 30_000: {str(number): "v" for number in range(2000)}})
    assert sum(len(row.name) for row in rows) < 2000
    assert rows_of({"k" * 300: "v"}) == [Row("k" * 256, "v")]


def test_what_goes_takes_its_rows_along(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/a.md", "---\nstatus: done\n---\nwalrus\n")
        index.write("root/a.md", "---\nstatus: open\n---\nwalrus\n")
        assert index.found("meta:status=done") == []
        assert index.found("meta:status=open") == ["a.md"]
        index.store.collect(older_than_s=-1)
        assert index.store.integrity() == []
        with closing(open_writer(index.database)) as db:
            assert db.execute("SELECT count(*) FROM properties").get == 1
