"""The scope of a search and what it trusts: roots, folders, filters, and files that have changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.store.read_pool import Reader
from livedex_ipc.errors import InvalidParams, OutsideRoots


def test_a_changed_file_is_left_out_and_named(index: Indexed) -> None:
    index.write("root/a.txt", "walrus one\n")
    index.write("root/b.txt", "walrus two\n")
    (index.folder / "root/a.txt").write_text("no more of it\n")
    answer = index.ask("walrus")
    assert [hit["relative_path"] for hit in answer.hits] == ["b.txt"]
    assert answer.stale == {(1, b"a.txt"): False}
    (index.folder / "root/b.txt").unlink()
    assert index.ask("walrus").hits == []


def test_a_touched_file_is_served_and_named(index: Indexed) -> None:
    index.write("root/a.txt", "walrus one\n")
    os.utime(index.folder / "root/a.txt", (1, 1))
    answer = index.ask("walrus")
    assert [hit["relative_path"] for hit in answer.hits] == ["a.txt"]
    assert answer.stale == {(1, b"a.txt"): True}


def test_a_file_that_grew_is_served_as_far_as_it_was_indexed(index: Indexed) -> None:
    """A log. Its new end is not shown before it is indexed, not even as lines around a hit."""
    index.write("root/a.log", "walrus one\n")
    with (index.folder / "root/a.log").open("a") as file:
        file.write("walrus two\n")
    answer = index.ask("walrus", context_lines=3)
    (hit,) = answer.hits
    assert (hit["snippet"], hit["context_after"]) == ("walrus one", "")
    assert answer.stale == {(1, b"a.log"): True}
    assert [hit["start_line"] for hit in index.ask("walrus", mode="exact").hits] == [1]
    (index.folder / "root/a.log").write_text("walrus owe\nwalrus two\n")
    answer = index.ask("walrus")
    assert (answer.hits, answer.stale) == ([], {(1, b"a.log"): False})


def test_a_copy_replaces_a_changed_one(index: Indexed) -> None:
    index.write("root/a.txt", "walrus one\n")
    index.write("root/bb.txt", "walrus one\n")
    (index.folder / "root/a.txt").write_text("changed\n")
    answer = index.ask("walrus")
    assert [hit["relative_path"] for hit in answer.hits] == ["bb.txt"]
    assert answer.stale == {(1, b"a.txt"): False}


def test_what_is_not_settled_is_hashed_before_it_is_served(index: Indexed) -> None:
    index.write("root/a.txt", "walrus one\n")
    row = index.row("root/a.txt")
    with (index.folder / "root/a.txt").open("r+b") as file:
        file.write(b"badger")
    found = (index.folder / "root/a.txt").stat()
    # As if the write had left every time as it was: a filesystem's clock is coarse.
    state = row.state._replace(mtime_ns=found.st_mtime_ns, ctime_ns=found.st_ctime_ns)
    index.store.put_files([row._replace(state=state, settled=False)])
    answer = index.ask("walrus")
    assert (answer.hits, answer.stale) == ([], {(1, b"a.txt"): False})


def test_a_phrase_is_not_believed_of_a_changed_file(index: Indexed) -> None:
    index.write("root/a.txt", "red fox\n")
    (index.folder / "root/a.txt").write_text("red hen\n")
    answer = index.ask('"red fox"')
    assert (answer.hits, answer.stale) == ([], {(1, b"a.txt"): False})


def test_contents_of_no_visible_file_are_not_found(index: Indexed) -> None:
    for number in range(400):
        index.write("root/a.txt", f"walrus walrus walrus {number}\n")
    index.write("root/a.txt", "ziither\n")
    index.write("root/b.txt", "one walrus and a zither in a long line of other words\n")
    index.write("root/a.txt", "nothing\n")
    assert index.found("walrus") == ["b.txt"], "dead rows do not crowd it out"
    assert index.found("ziither") == ["b.txt"], "a word of dead rows alone is in no file, so it is respelt"
    assert index.search("walrus", group="file")[0]["matches"] == 1


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("walrus", "no animal here: a waltus"),  # respelt
        ("loadFile", "def load_file():"),  # in another convention
        ("the walrus", "the other one"),  # a stop word counts where no other word does
        ("read-only", "a readonly disk"),
        ("wal", "a walnut"),
    ],
)
def test_a_word_of_removed_files_alone_counts_as_missing(index: Indexed, query: str, text: str) -> None:
    index.write("root/b.txt", f"{text}\n")
    wanted = index.ask(query)
    assert [hit["relative_path"] for hit in wanted.hits] == ["b.txt"]
    for number in range(60):
        index.write("root/a.txt", f"walrus loadFile read-only wal {number}\n")
    index.write("root/a.txt", "nothing\n")
    found = index.ask(query)
    assert ([hit["relative_path"] for hit in found.hits], found.extras) == (["b.txt"], wanted.extras)


def test_a_missing_root_is_not_served(tmp_path: Path) -> None:
    with Indexed(tmp_path, ("one", "two")) as index:
        index.write("one/a.txt", "walrus\n")
        index.write("two/b.txt", "walrus too\n")
        index.store.set_root(1, missing_since=5.0)
        assert index.found("walrus") == ["b.txt"]
        assert index.found("") == ["b.txt"]
        assert index.found("walrus", path=str(tmp_path / "one")) == []
        index.store.set_root(1, missing_since=None)
        assert set(index.found("walrus")) == {"a.txt", "b.txt"}


def test_scopes(tmp_path: Path) -> None:
    with Indexed(tmp_path, ("outer", "outer/nested", "side")) as index:
        for path in ("outer/a/x.txt", "outer/ab/x.txt", "outer/nested/x.txt", "side/x.txt"):
            index.write(path, f"walrus {path}\n")

        def paths(**params: Any) -> set[str]:
            return {str(Path(hit["path"]).relative_to(tmp_path)) for hit in index.search("walrus", **params)}

        everything = {"outer/a/x.txt", "outer/ab/x.txt", "outer/nested/x.txt", "side/x.txt"}
        assert paths() == paths(path=str(tmp_path)) == paths(path="/") == everything
        assert paths(path=f"{tmp_path}/outer/a") == {"outer/a/x.txt"}
        assert paths(path=f"{tmp_path}/outer/a/x.txt") == {"outer/a/x.txt"}
        assert paths(path=f"{tmp_path}/outer") == everything - {"side/x.txt"}
        assert paths(roots=[f"{tmp_path}/side", f"{tmp_path}/outer/nested"]) == {"side/x.txt", "outer/nested/x.txt"}
        assert paths(path=f"{tmp_path}/outer", roots=[f"{tmp_path}/side"]) == set()
        assert paths(path=f"{tmp_path}/outer/nothing/here") == set()
        (tmp_path / "outer/link").symlink_to(tmp_path / "side")
        (tmp_path / "elsewhere").symlink_to(tmp_path / "side")
        assert paths(path=f"{tmp_path}/elsewhere") == {"side/x.txt"}, "a path that is asked for may lead through a link"
        for params in ({"path": "/nowhere"}, {"roots": ["/nowhere"]}, {"path": f"{tmp_path}/sid"}):
            with pytest.raises(OutsideRoots):
                index.search("walrus", **params)


def test_a_scope_may_have_a_thousand_folders(index: Indexed) -> None:
    """SQLite refuses an expression deeper than 1,000."""
    index.write("root/last/a.txt", "walrus\n")
    index.write("root/other/a.txt", "walrus goat\n")
    many = [str(index.folder / f"root/nothing/{number}") for number in range(999)]
    for mode in ("keyword", "exact"):
        (hit,) = index.search("walrus", mode=mode, paths=[*many, str(index.folder / "root/last")])
        assert hit["relative_path"] == "last/a.txt"


def test_a_small_folder_in_a_large_index_gives_its_full_answer(index: Indexed) -> None:
    for number in range(700):
        index.write(f"root/big/f{number}.txt", f"walrus walrus walrus {number}\n")
    for number in range(20):
        index.write(f"root/small/s{number}.txt", f"{'other words here ' * 20} walrus {number}\n")
    for params in ({"path": f"{os.fsdecode(index.roots[1])}/small"}, {"globs": ["small/**"]}):
        hits = index.search("walrus", limit=100, **params)
        assert len(hits) == 20
        assert all(hit["relative_path"].startswith("small/") and hit["score"] > 0 for hit in hits)
    assert len(index.search("walrus path:small", limit=100)) == 20


def test_a_glob_that_ripgrep_refuses_names_its_field(index: Indexed) -> None:
    with pytest.raises(InvalidParams, match="globs") as caught:
        index.search("x", globs=["a\0b"])
    assert caught.value.data == {"field": "globs"}


@pytest.mark.parametrize("fraction", ["444012725", "000000001", "999999999", "1234567"])
def test_the_bounds_of_a_time_are_exact_to_the_nanosecond(index: Indexed, fraction: str) -> None:
    index.write("root/a.txt", "walrus\n")
    modified = 1_700_000_000_000_000_000 + int(fraction.ljust(9, "0"))
    os.utime(index.folder / "root/a.txt", ns=(modified, modified))
    index.index("root/a.txt")
    then = f"2023-11-14T22:13:20.{fraction}Z"
    assert index.found("walrus", modified_after=then) == index.found("", modified_after=then) == ["a.txt"]
    assert index.found("walrus", modified_before=then) == index.found("", modified_before=then) == []


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"path": "one"},
        {"globs": ["*.txt"]},
        {"languages": ["c"]},
        {"kinds": ["plain"]},
        {"modified_after": "2020-01-01T00:00:00Z"},
    ],
    ids=str,
)
@pytest.mark.parametrize("small", [True, False])
def test_no_filter_becomes_a_lookup_for_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, params: dict[str, Any], small: bool
) -> None:
    """If a row id reaches FTS5 as an equality, FTS5 runs the whole match once for each id of the set."""
    if not small:
        monkeypatch.setattr("livedex_indexing.query.filters.SMALL", 0)
    monkeypatch.setattr("livedex_indexing.rank.postings.LIST_ROWS", 1)  # else so few rows are not ranked beforehand
    statements: list[tuple[str, Any]] = []
    rows = Reader.rows

    def noted(reader: Reader, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        statements.append((sql, values))
        return rows(reader, sql, values)

    monkeypatch.setattr(Reader, "rows", noted)
    with Indexed(tmp_path, ("one", "two")) as index:
        index.write("one/a.txt", "walrus tusk\n")
        index.write("two/b.c", "walrus tusk dead\n")
        index.write("two/b.c", "walrus tusk\n" * 20)
        index.store.set_root(2, missing_since=1.0)
        inside = {"path": str(tmp_path / params["path"])} if "path" in params else params
        index.search("walrus tusk ext:txt -hello -path:x", **inside)
        index.search("walrus tusk", **inside, group="file")
        asked = [(sql, values) for sql, values in statements if " MATCH ?" in sql and "BETWEEN t." not in sql]
        assert len(asked) > 8
        with index.pool.connection() as reader:
            for sql, values in asked:
                plan = [row[3] for row in rows(reader, f"EXPLAIN QUERY PLAN {sql}", values)]
                tables = tuple(f"SCAN {name} VIRTUAL" for name in ("postings", "paths", "exact"))
                scan = next(step for step in plan if step.startswith(tables))
                assert "=" not in scan.rpartition(":")[2], (sql, plan)


@pytest.mark.parametrize("ahead", [2, 4, 30])
def test_the_best_rows_are_the_same_however_many_were_ranked_before_the_filter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    monkeypatch.setattr("livedex_indexing.rank.postings.LIST_ROWS", 3)
    monkeypatch.setattr("livedex_indexing.query.filters.FEW_FILES", 0)
    with Indexed(tmp_path, ("one", "two")) as index:
        for number in range(12):
            index.write(f"{'one' if number % 3 else 'two'}/f{number}.txt", f"walrus {'tusk ' * number}\n")
            index.write(f"two/other{number}.txt", f"neither word {number}\n")
            index.write(f"one/other{number}.txt", f"nor here {number}\n")
        roots = [str(tmp_path / "two")]
        monkeypatch.setattr("livedex_indexing.rank.postings.AHEAD_ROWS", 0)  # the filter is applied to every row
        wanted = index.search("walrus tusk", roots=roots)
        monkeypatch.setattr("livedex_indexing.rank.postings.AHEAD_ROWS", ahead)
        assert index.search("walrus tusk", roots=roots) == wanted
        assert sorted(hit["relative_path"] for hit in wanted) == ["f0.txt", "f3.txt", "f6.txt", "f9.txt"]
        assert len({hit["score"] for hit in wanted}) == 4


def test_a_root_among_others_is_found_by_its_contents(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this, all rows of a large root would be searched for the copies of ten hits."""
    plans: list[str] = []
    rows = Reader.rows

    def noted(reader: Reader, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        if "d.content_id IN (SELECT value" in sql or "d.content_id = t.id" in sql:
            plans.extend(row[3] for row in rows(reader, f"EXPLAIN QUERY PLAN {sql}", values))
        return rows(reader, sql, values)

    index.write("root/a.txt", "walrus tusk\n")
    monkeypatch.setattr("livedex_indexing.query.filters.FEW_FILES", 0)
    monkeypatch.setattr(Reader, "rows", noted)
    assert len(index.search("walrus", roots=[str(index.folder / "root")], facets=["roots"])) == 1
    assert len([plan for plan in plans if plan.startswith("SEARCH d USING INDEX files_by_content")]) == 4


def test_how_many_chunks_hold_a_common_word_is_kept_while_the_index_hardly_grows(
    index: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("livedex_indexing.query.word_counts.MANY", 5)
    monkeypatch.setattr("livedex_indexing.query.word_counts.SAME_SIZE", 0.3)
    counted: list[str] = []
    one = Reader.one

    def noted(reader: Reader, sql: str, values: Any = ()) -> Any:
        if "temp.vocabulary" in sql:
            counted.append(values[0])
        return one(reader, sql, values)

    monkeypatch.setattr(Reader, "one", noted)
    for number in range(6):
        index.write(f"root/f{number}.txt", "walrus\n" + "\n" * number)
    assert len(index.search("walrus tusk")) == 6
    index.write("root/new.txt", "walrus tusk\n")
    assert index.found("walrus tusk")[0] == "new.txt"
    assert counted == ["walru", "tusk", "tusk"], "what is rare is counted again, or what is new would not be found"
    index.write("root/many.txt", "other\n" * 40)
    assert len(index.search("walrus")) == 7
    assert counted[3:] == ["walru"]


@pytest.mark.parametrize("params", [{}, {"group": "file"}, {"facets": ["languages"]}, {"kinds": ["plain"]}], ids=str)
@pytest.mark.parametrize("query", ["words", "", '"some words"', "wor*", "path:a"])
def test_while_no_root_is_there_nothing_is_found(tmp_path: Path, query: str, params: dict[str, Any]) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/a.txt", "some words\n")
        index.store.set_root(1, missing_since=1.0)
        assert index.search(query, **params) == []
        index.store.set_root(1, missing_since=None)
        assert len(index.search(query, **params)) == 1
