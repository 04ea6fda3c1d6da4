"""A search over real files: what is found, in what order, with which fields, and never as it no longer is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexed import LINES, Indexed
from livedex_indexing.readpool import Reader
from livedex_ipc.errors import Cancelled, InvalidParams, OutsideRoots


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Indexed]:
    with Indexed(tmp_path) as made:
        yield made


def marked(hit: dict[str, Any]) -> list[str]:
    return [hit["snippet"][start:end] for start, end in hit["highlights"]]


def test_a_hit_has_all_fields(index: Indexed) -> None:
    index.write("root/src/tool.py", "\n" * 11 + "def alpha():\n    return 'größe'\n", mtime=1_700_000_000.25)
    (hit,) = index.search("alpha")
    score = hit.pop("score")
    assert score > 0
    root = os.fsdecode(index.roots[1])
    assert hit == {
        "path": f"{root}/src/tool.py", "root": root, "relative_path": "src/tool.py", "kind": "code",
        "language": "python", "heading": None, "symbol": "alpha", "start_line": 11, "end_line": 13, "start_column": 1,
        "start_byte": 10, "end_byte": 45, "snippet": "def alpha():\n    return 'größe'", "snippet_line": 12,
        "snippet_byte": 11, "highlights": [[4, 9]], "modified_at": "2023-11-14T22:13:20.250Z",
        "content_hash": index.row("root/src/tool.py").content_hash.hex(), "metadata": {},  # type: ignore[union-attr]
    }  # fmt: skip


def test_any_word_is_enough_and_more_come_first(index: Indexed) -> None:
    index.write("root/one.txt", "apple tree\n")
    index.write("root/both.txt", "apple and cherry\n")
    index.write("root/none.txt", "nothing of it\n")
    assert index.found("apple cherry") == ["both.txt", "one.txt"]


def test_stop_words_count_only_alone(index: Indexed) -> None:
    index.write("root/a.txt", "the and of\n")
    index.write("root/b.txt", "falcon\n")
    assert index.found("the falcon of") == ["b.txt"]
    assert index.found("the of") == ["a.txt"]


def test_words_are_found_by_stem_case_and_diacritics(index: Indexed) -> None:
    index.write("root/a.txt", "Le CAFÉ connecting naïve\n")
    for query in ("cafe", "Café", "CAFE\u0301", "connected", "connections", "naive"):
        assert index.found(query) == ["a.txt"], query


def test_a_phrase_is_meant_as_written(index: Indexed) -> None:
    index.write("root/run.txt", "running tests twice\n")
    index.write("root/stem.txt", "run test twice\n")
    index.write("root/order.txt", "tests running\n")
    index.write("root/wrapped.txt", "// Running\n// TÉSTS\n")
    assert set(index.found('"running tests"')) == {"run.txt", "wrapped.txt"}
    assert set(index.found('"running" -"tests twice"')) == {"order.txt", "wrapped.txt"}
    assert index.found('"run tests"') == []
    assert index.found('twice "running tests"') == ["run.txt"]


def test_punctuation_of_a_phrase_counts(index: Indexed) -> None:
    index.write("root/a.txt", "call foo->bar (x) now\n")
    index.write("root/b.txt", "call foo.bar now\n")
    index.write("root/c.txt", "C++ and C\n")
    index.write("root/d.txt", "C and Python\n")
    assert index.found('"foo->bar"') == ["a.txt"]
    assert index.found('"foo.bar"') == ["b.txt"]
    assert set(index.found('"foo bar"')) == {"a.txt", "b.txt"}
    assert index.found('"C++"') == ["c.txt"]


def test_a_phrase_over_the_border_of_two_chunks(index: Indexed) -> None:
    lines = [f"filler {number}" for number in range(LINES - 1)]
    index.write("root/a.txt", "\n".join([*lines, "ends with purple", "elephants begin here", *lines]) + "\n")
    assert index.found('"purple elephants"') == ["a.txt"]
    assert index.found('"purple elephant"') == []


def test_all_phrases_wherever_they_stand(index: Indexed) -> None:
    far = "\n" * 3 * LINES
    index.write("root/both.txt", f"red fox{far}blue whale\n")
    index.write("root/one.txt", "red fox\n")
    assert index.found('"red fox" "blue whale"') == ["both.txt"]


def test_prefixes(index: Indexed) -> None:
    index.write("root/a.txt", "configuration\n")
    index.write("root/b.txt", "con\n")
    assert set(index.found("con*")) == {"a.txt", "b.txt"}
    assert index.found("conf*") == ["a.txt"]
    assert index.found("c*") == [], "one character is no prefix"
    assert marked(index.search("conf*")[0]) == ["configuration"]


def test_without(index: Indexed) -> None:
    index.write("root/a.txt", "apple" + "\n" * 3 * LINES + "cherry\n")
    index.write("root/b.txt", "apple\n")
    index.write("root/cherry.txt", "apple\n")
    assert index.found("apple -cherry") == ["b.txt"], "anywhere in the file, or in its path"
    assert index.found("-cherry") == ["b.txt"]
    assert index.found("apple -che*") == ["b.txt"]


def test_parts_of_identifiers(index: Indexed) -> None:
    index.write("root/a.py", "x = getHTTPResponse(snd_soc_dai)\n")
    index.write("root/b.py", "snd = soc = 1\n")
    (hit,) = index.search("response")
    assert marked(hit) == ["Response"]
    assert index.found("gethttpresponse") == ["a.py"]
    assert index.found("getHTTPResponse") == ["a.py"]
    assert index.found("snd_soc_dai") == ["a.py"], "a name that stands somewhere is asked for as a whole"
    assert set(index.found("snd_soc_nothing")) == {"a.py", "b.py"}, "one that stands nowhere is asked for by its parts"


def test_found_by_its_path(index: Indexed) -> None:
    index.write("root/docs/kangaroo_notes.txt", "\n\nhello there\n")
    (hit,) = index.search("kangaroo")
    assert (hit["start_line"], hit["snippet"], hit["highlights"]) == (1, "hello there", [])
    index.write("root/empty_kangaroo.txt", "")
    empty = next(hit for hit in index.search("kangaroo") if hit["relative_path"] == "empty_kangaroo.txt")
    assert (empty["snippet"], empty["start_byte"], empty["end_byte"], empty["start_line"]) == ("", 0, 0, 1)


@pytest.mark.parametrize("query", ["C++", "foo-bar", "a.b", "x:y", "日本語", "né🙂", "foo\0bar", "'it'", "(paren"])
def test_odd_text_finds_itself(index: Indexed, query: str) -> None:
    index.write("root/a.txt", f"before {query} after\n")
    index.write("root/b.txt", "unrelated\n")
    assert index.found(query) == ["a.txt"]
    index.write("root/c.txt", f"between {query} and\n")
    assert set(index.found(f'"{query}"')) == {"a.txt", "c.txt"}


def test_a_query_without_a_word_finds_nothing_and_says_so(index: Indexed) -> None:
    index.write("root/a.txt", "-> ++\n")
    answer = index.ask("-> ++ (")
    assert answer.hits == []
    assert [warning["code"] for warning in answer.warnings] == ["query_no_words"]


def test_an_empty_query_lists_the_newest_first(index: Indexed) -> None:
    for number, name in enumerate("cab"):
        index.write(f"root/{name}.txt", f"text {name}\n", mtime=1_700_000_000 + number)
    index.write("root/copy.txt", "text c\n", mtime=1_700_000_009)
    assert index.found("") == index.found("  ") == ["copy.txt", "b.txt", "a.txt"]
    assert index.found("ext:txt -path:b") == ["copy.txt", "a.txt"]
    hit = index.search("")[0]
    assert (hit["highlights"], hit["also_at_total"]) == ([], 1)


def test_long_queries_are_cut_and_say_so(index: Indexed) -> None:
    index.write("root/a.txt", " ".join(f"word{number}" for number in range(100)) + "\n")
    answer = index.ask(" ".join(f"word{number}" for number in range(65)))
    assert [warning["code"] for warning in answer.warnings] == ["query_cut"]
    assert len(answer.hits) == 1
    assert [warning["code"] for warning in index.ask("word1 " + "x" * 5000).warnings] == ["query_cut"]
    assert index.ask(" ".join(f"word{number}" for number in range(64))).warnings == []


def test_the_same_content_is_one_hit(index: Indexed) -> None:
    for path in ("root/deep/er/zebra.txt", "root/b/copy.txt", "root/longer_name.txt"):
        index.write(path, "savanna text\n")
    (hit,) = index.search("savanna")
    assert hit["relative_path"] == "b/copy.txt"
    root = os.fsdecode(index.roots[1])
    assert hit["also_at"] == [f"{root}/longer_name.txt", f"{root}/deep/er/zebra.txt"]
    assert hit["also_at_total"] == 2
    assert index.search("savanna zebra")[0]["relative_path"] == "deep/er/zebra.txt", "the copy that scores best"
    only = index.search("savanna", path=f"{root}/deep")[0]
    assert only["relative_path"] == "deep/er/zebra.txt"
    assert "also_at" not in only, "no copy outside the filter is named"


def test_copies_are_at_most_twenty(index: Indexed) -> None:
    for number in range(30):
        index.write(f"root/c{number:02}.txt", "savanna\n")
    (hit,) = index.search("savanna")
    assert (len(hit["also_at"]), hit["also_at_total"]) == (20, 29)


def test_at_most_three_chunks_of_a_file_among_the_first_ten(index: Indexed) -> None:
    index.write("root/big.txt", "walrus walrus walrus\n" * LINES * 30)
    for number in range(12):
        index.write(f"root/s{number}.txt", f"walrus {'filler ' * 30}{number}\n")
        index.write(f"root/f{number}.txt", f"filler\n{number}\n" * LINES * 3)
    hits = index.search("walrus", limit=100)
    assert [hit["relative_path"] for hit in hits[:10]].count("big.txt") == 2, "damped: a page shows files first"
    assert len(hits) == 42, "the others follow"
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    inside = index.search("walrus", path=hits[0]["path"], limit=100)
    assert len(inside) == 30
    assert index.search("walrus", limit=10) == hits[:10]


def test_where_few_files_match_further_chunks_do_not_fill_the_page(index: Indexed) -> None:
    index.write("root/big.txt", "walrus walrus walrus\n" * LINES * 30)
    index.write("root/small.txt", "walrus\n")
    hits = index.search("walrus", limit=100)
    assert sorted(hit["relative_path"] for hit in hits) == ["big.txt"] * 3 + ["small.txt"]
    assert len(index.search("walrus", limit=100, path=f"{hits[0]['root']}/big.txt")) == 30


def test_grouped_by_file(index: Indexed) -> None:
    index.write("root/big.txt", ("walrus\n" + "other\n" * (LINES - 1)) * 5 + "end\n" * LINES)
    index.write("root/small.txt", "a walrus\n")
    hits = index.search("walrus", group="file")
    assert {hit["relative_path"]: hit["matches"] for hit in hits} == {"big.txt": 5, "small.txt": 1}


def test_pages_fit_together(index: Indexed) -> None:
    for number in range(40):
        index.write(f"root/f{number:02}.txt", f"walrus {'the ' * (number % 7)}{number}\n" * (1 + 15 * (number % 3)))
    for params in ({}, {"group": "file"}):
        everything = index.search("walrus", limit=1000, **params)
        pages, offset = [], 0
        while offset is not None:
            answer = index.ask("walrus", limit=7, offset=offset, **params)
            pages += answer.hits
            offset = answer.next_offset  # type: ignore[assignment]
        assert pages == everything
        assert {hit["relative_path"] for hit in everything} == {f"f{number:02}.txt" for number in range(40)}


def test_matches_past_the_ranked_ones_can_be_paged_to(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livedex_indexing.postings.LIST_ROWS", 5)
    for number in range(30):
        index.write(f"root/f{number:02}.txt", f"walrus number{number}\n")
        index.write(f"root/walrus{number:02}.txt", f"other{number}\n")
    hits = index.search("walrus", limit=1000)
    assert len(hits) == 60
    assert len({hit["relative_path"] for hit in hits}) == 60
    assert [hit["score"] > 0 for hit in hits] == sorted((hit["score"] > 0 for hit in hits), reverse=True)
    again = [hit for offset in range(0, 60, 9) for hit in index.search("walrus", limit=9, offset=offset)]
    assert again == hits


def test_explain_sums_up(index: Indexed) -> None:
    index.write("root/walrus_tusk.py", "def walrus():\n    tusk = 1  # walrus tusk\n")
    index.write("root/other.txt", "filler\n")
    (hit,) = index.search("walrus tusk", explain=True)
    names = {part["name"] for part in hit["explain"]["parts"]}
    assert names == {"words", "pairs", "near", "symbols", "name", "path"}
    assert hit["explain"]["total"] == hit["score"] == pytest.approx(sum(p["value"] for p in hit["explain"]["parts"]))


# never as it no longer is


def test_a_changed_file_is_left_out_and_told(index: Indexed) -> None:
    index.write("root/a.txt", "walrus one\n")
    index.write("root/b.txt", "walrus two\n")
    (index.folder / "root/a.txt").write_text("no more of it\n")
    answer = index.ask("walrus")
    assert [hit["relative_path"] for hit in answer.hits] == ["b.txt"]
    assert answer.stale == [(1, b"a.txt")]
    (index.folder / "root/b.txt").unlink()
    assert index.ask("walrus").hits == []


def test_a_touched_file_is_served_and_told(index: Indexed) -> None:
    index.write("root/a.txt", "walrus one\n")
    os.utime(index.folder / "root/a.txt", (1, 1))
    answer = index.ask("walrus")
    assert [hit["relative_path"] for hit in answer.hits] == ["a.txt"]
    assert answer.stale == [(1, b"a.txt")]


def test_a_copy_stands_in_for_a_changed_one(index: Indexed) -> None:
    index.write("root/a.txt", "walrus one\n")
    index.write("root/bb.txt", "walrus one\n")
    (index.folder / "root/a.txt").write_text("changed\n")
    answer = index.ask("walrus")
    assert [hit["relative_path"] for hit in answer.hits] == ["bb.txt"]
    assert answer.stale == [(1, b"a.txt")]


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
    assert (answer.hits, answer.stale) == ([], [(1, b"a.txt")])


def test_a_phrase_is_not_believed_of_a_changed_file(index: Indexed) -> None:
    index.write("root/a.txt", "red fox\n")
    (index.folder / "root/a.txt").write_text("red hen\n")
    answer = index.ask('"red fox"')
    assert (answer.hits, answer.stale) == ([], [(1, b"a.txt")])


def test_contents_of_no_visible_file_are_not_found(index: Indexed) -> None:
    for number in range(400):
        index.write("root/a.txt", f"walrus walrus walrus {number}\n")
    index.write("root/b.txt", "one walrus in a long line of other words\n")
    index.write("root/a.txt", "nothing\n")
    assert index.found("walrus") == ["b.txt"], "dead rows do not crowd it out"
    assert index.search("walrus", group="file")[0]["matches"] == 1


# where to look


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


# deadline and cancellation


def test_a_search_past_its_deadline_answers_and_warns(index: Indexed) -> None:
    for number in range(300):
        index.write(f"root/f{number:03}.txt", f"walrus {number}\n" * 9)
    for query in ("walrus", "", "walrus -path:7", '"walrus 7"'):
        answer = index.ask(query, deadline=index.pool.clock() - 1)
        assert [warning["code"] for warning in answer.warnings] == ["query_deadline"], query
        assert len(answer.hits) <= 1
    assert len(index.found("walrus")) == 300, "the reader is as good as new"


def test_the_deadline_serves_what_was_found(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        index.write(f"root/f{number}.txt", f"walrus {number}\n")
    late = iter([False, True])
    monkeypatch.setattr("livedex_indexing.readpool.Reader.late", lambda reader: next(late, True))
    monkeypatch.setattr("livedex_indexing.readpool.Reader._ended", lambda reader: False)
    answer = index.ask("walrus")
    assert (len(answer.hits), answer.next_offset) == (2, 2)
    assert [warning["code"] for warning in answer.warnings] == ["query_deadline"]


def test_a_cancelled_search_ends(index: Indexed) -> None:
    index.write("root/a.txt", "walrus\n")
    with pytest.raises(Cancelled):
        index.ask("walrus", cancelled=lambda: True)
    assert index.found("walrus") == ["a.txt"]


# traps of SQLite


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
    """A row id that reaches FTS5 as an equality makes it run the whole match once for each id of the set."""
    if not small:
        monkeypatch.setattr("livedex_indexing.filters.SMALL", 0)
    statements: list[tuple[str, Any]] = []
    rows = Reader.rows
    monkeypatch.setattr(Reader, "rows", lambda r, sql, values=(): statements.append((sql, values)) or rows(r, sql, values))
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
                (scan,) = [step for step in plan if "VIRTUAL TABLE" in step and ("postings" in step or "paths" in step)][:1]
                assert "=" not in scan.rpartition(":")[2], (sql, plan)
