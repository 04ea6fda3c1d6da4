"""The contents of an answer: text budget, phrases of signs, copies inside the filters, full pages of small folders."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from helpers.indexed_folder import LINES, Indexed
from livedex_indexing.hits import live_files
from livedex_indexing.hits.text_budget import ANSWER_BYTES
from livedex_indexing.rank import features, phrase_filter, spans
from livedex_indexing.search import search_run
from livedex_indexing.store.read_pool import Reader


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Indexed]:
    with Indexed(tmp_path, ("root", "root/worktree", "elsewhere")) as made:
        yield made


@pytest.mark.parametrize("context", [0, 2])
@pytest.mark.parametrize("room", [1, 50, 130, 400, 100_000])
def test_pages_with_little_room_fit_together(index: Indexed, room: int, context: int) -> None:
    for number in range(12):
        index.write(f"root/f{number}.txt", f"before\nwalrus number{number} {'x' * 7 * number}\nafter\n")
    whole = [hit["path"] for hit in index.search("walrus", limit=100)]
    pages: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = index.ask("walrus", limit=5, offset=offset, max_chars=room, context_lines=context)
        assert 1 <= len(answer.hits) <= 5
        texts = ("snippet", "context_before", "context_after")
        assert sum(len(hit.get(name, "")) for hit in answer.hits for name in texts) <= room
        left = answer.extras.get("omitted", 0)
        assert len(answer.hits) + left == min(5, len(whole) - offset)
        if answer.next_offset is not None:
            assert answer.next_offset == offset + len(answer.hits)
        pages += [hit["path"] for hit in answer.hits]
        offset = answer.next_offset
    assert pages == whole


def test_a_phrase_of_signs_is_read_from_the_files(index: Indexed) -> None:
    index.write("root/a.txt", "apple -> pear\n")
    index.write("root/b.txt", "apple - > pear\n")
    index.write("root/c.txt", "pear -> plum\n")
    index.write("root/d.txt", "apple\n" * 30 + "x = a->b\n")
    assert set(index.found('apple "->"')) == {"a.txt", "d.txt"}
    assert set(index.found('apple -"->"')) == {"b.txt"}
    assert set(index.found('apple "- >"')) == {"b.txt"}
    assert index.found('"->"') == []
    assert [w["code"] for w in index.ask('"->"').warnings] == ["query_no_words"]
    (hit,) = [hit for hit in index.search('apple "->"') if hit["relative_path"] == "a.txt"]
    assert [hit["snippet"][a:b] for a, b in hit["highlights"]] == ["apple", "->"]


def test_a_common_phrase_is_checked_in_one_pass(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrase_filter, "ONE_BY_ONE", 5)
    for number in range(40):
        index.write(f"root/f{number:02}.txt", "filler line\n" * 25 + f"red fox{'es' * (number % 2)} {number}\n")
    expected = {f"f{number:02}.txt" for number in range(0, 40, 2)}
    assert set(index.found('"red fox"')) == expected
    assert set(index.found('red -"red fox"')) == {f"f{number:02}.txt" for number in range(1, 40, 2)}


def test_copies_stay_inside_what_was_asked_for(index: Indexed) -> None:
    text = "walrus tusk\n"
    for path in ("root/src/very/deep/a.txt", "root/worktree/src/a.txt", "elsewhere/a.txt", "root/b.txt"):
        index.write(path, text)

    def paths(**params: Any) -> list[str]:
        (hit,) = index.search("tusk", **params)
        assert hit.get("also_at_total", 0) == len(hit.get("also_at", ()))
        found = [hit["path"], *hit.get("also_at", ())]
        return [str(Path(path).relative_to(index.folder)) for path in found]

    root, folder = str(index.folder / "root"), str(index.folder)
    assert sorted(paths()) == ["elsewhere/a.txt", "root/b.txt", "root/src/very/deep/a.txt", "root/worktree/src/a.txt"]
    assert paths()[0] == "root/b.txt"  # the shortest
    assert paths(roots=[root]) == ["root/b.txt", "root/src/very/deep/a.txt"]
    assert paths(roots=[f"{root}/worktree"]) == ["root/worktree/src/a.txt"]
    assert paths(path=f"{root}/src") == ["root/src/very/deep/a.txt"]
    assert paths(path=f"{root}/worktree") == ["root/worktree/src/a.txt"]
    assert set(paths(path=root)) == {"root/b.txt", "root/src/very/deep/a.txt", "root/worktree/src/a.txt"}
    assert paths(path=f"{folder}/elsewhere") == ["elsewhere/a.txt"]
    assert paths(globs=["src/**"]) == ["root/worktree/src/a.txt", "root/src/very/deep/a.txt"]


FILTERS: dict[str, dict[str, Any]] = {
    "path": {"path": "root/small"},
    "globs": {"globs": ["small/**"]},
    "term": {"query": "path:small/"},
    "languages": {"languages": ["markdown"]},
    "kinds": {"kinds": ["markdown_text"]},
    "ext": {"query": "ext:md"},
    "lang": {"query": "lang:markdown"},
    "since": {"modified_after": "2030-01-01T00:00:00Z"},
    "tag": {"query": "tag:rare"},
    "meta": {"query": "meta:status=done"},
    "roots": {"roots": ["elsewhere"]},
    "excluded": {"query": "-ext:txt"},
}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("large"), ("root", "elsewhere")) as made:
        for number in range(1500):
            name = f"root/big{number % 40}/f{number}.txt"
            file = made.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("the walrus and the walrus\n" * 3 + f"number{number}\n")
        with made.store.transaction():
            made.store.put_files([made.row(f"root/big{number % 40}/f{number}.txt") for number in range(1500)])
        for number in range(20):
            block = f"---\nstatus: done\ntags: [rare]\n---\none walrus, number{number}\n" + "filler words\n" * number
            made.write(f"root/small/n{number}.md", block, mtime=1_900_000_000 + number)
            made.write(f"elsewhere/n{number}.md", block + "other\n", mtime=1_000_000_000)
        yield made


@pytest.mark.parametrize("words", ["walrus", "the walrus", '"one walrus"', "wal*", ""])
@pytest.mark.parametrize("name", FILTERS)
def test_a_small_folder_gives_its_full_page(large: Indexed, name: str, words: str) -> None:
    params = dict(FILTERS[name])
    query = f"{words} {params.pop('query', '')}"
    for key in ("path",):
        if key in params:
            params[key] = str(large.folder / params[key])
    if "roots" in params:
        params["roots"] = [str(large.folder / root) for root in params["roots"]]
    hits = large.search(query, **params)
    assert len(hits) == 10
    assert all(Path(hit["path"]).name.startswith("n") for hit in hits)
    if words:
        grouped = large.search(query, limit=50, group="file", **params)
        assert len(grouped) == (20 if name in ("path", "globs", "term", "since", "roots") else 40)


def test_large_files_are_read_in_parts(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part gives the same hit as the whole file, even where a line or the context lines extend beyond it."""
    lines = [f"line {number} {'filler ' * (number % 9)}" for number in range(400)]
    lines[200] = "the walrus " + "long " * 900 + "\nafter"
    lines[210] = "blank " * 700
    lines[211] = "tusk here"
    index.write("root/a.txt", "\n".join(lines))
    index.write("root/b.txt", "\ufeff".encode("utf-16-le") + "\n".join(lines).encode("utf-16-le"))
    asked = [(query, context) for query in ("walrus", "tusk", "line", "after") for context in (0, 2, 30)]
    whole = [index.search(query, context_lines=context) for query, context in asked]
    assert all(whole)
    for part_from, margin in ((0, 0), (0, 64), (0, 4096)):
        monkeypatch.setattr(live_files, "PART_FROM", part_from)
        monkeypatch.setattr(live_files, "MARGIN", margin)
        assert [index.search(query, context_lines=context) for query, context in asked] == whole


def test_files_that_failed_are_counted(index: Indexed) -> None:
    index.write("root/a.txt", "walrus\n")
    row = index.row("root/a.txt")._replace(status="failed", reason="denied", content_id=None)
    with index.store.transaction():
        index.store.put_files([row, row._replace(path=b"b.txt")])
    assert index.ask("walrus").failed == 2
    with closing(sqlite3.connect(index.store.path)) as db:
        plan = db.execute(f"EXPLAIN QUERY PLAN {search_run.COUNT_FAILED}").fetchall()
    assert any("files_failed" in str(step[3]) for step in plan), plan
    index.store.set_root(row.root_id, missing_since=1.0)
    assert index.ask("walrus").failed == 0


def test_nothing_to_look_for_has_empty_facets(index: Indexed) -> None:
    index.write("root/a.txt", "walrus\n")
    assert index.ask("->", facets=["kinds"]).extras == {"facets": {"kinds": {}}}


def test_no_row_is_looked_for_by_a_prefix(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each read would collect the prefix again, which took seconds past the deadline if many words begin so."""
    asked: list[tuple[str, int]] = []
    rows = Reader.rows

    def recorded(reader: Reader, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if sql == features.IN_SPANS:
            asked.append((values[1], len(json.loads(values[0]))))
        return rows(reader, sql, values)

    index.write("root/a.txt", "the walrus tusk\n")
    index.write("root/b.txt", "the walrus tusk again\n")
    monkeypatch.setattr(spans, "ROW_US", 1e9)
    monkeypatch.setattr(features, "LED_WORD_US", 1e9)
    monkeypatch.setattr(Reader, "rows", recorded)
    assert index.found("tusk walrus") == ["a.txt", "b.txt"]
    assert index.found("tusk wal*") == ["a.txt", "b.txt"]
    assert asked == [('"tusk" OR "walrus"', 2), ('"tusk"', 2), ('"wal" *', 1)]


@pytest.mark.parametrize("mode", ["exact", "keyword"])
def test_an_answer_has_a_bound_in_bytes_and_the_next_page_goes_on(index: Indexed, mode: str) -> None:
    """A client may request a thousand hits with a hundred long lines around each."""
    lines = 400
    index.write("root/log.txt", "".join(f"needle {number} {'x' * 3000}\n" for number in range(lines)))
    path = str(index.folder / "root/log.txt")
    numbers: list[int] = []
    offset: int | None = 0
    while offset is not None:
        answer = index.ask("needle", mode=mode, path=path, limit=1000, offset=offset, context_lines=50)
        assert sum(len(msgspec.json.encode(hit)) for hit in answer.hits) <= ANSWER_BYTES
        assert all(hit["context_cut"] for hit in answer.hits)
        numbers += [hit["start_line"] for hit in answer.hits]
        assert ("omitted" in answer.extras) == (answer.next_offset is not None)
        if answer.next_offset is not None:
            assert answer.extras["omitted"] > 0 and answer.next_offset == len(numbers)
        offset = answer.next_offset
    assert sorted(numbers) == list(range(1, lines + 1, 1 if mode == "exact" else LINES))


@pytest.mark.parametrize(
    ("query", "params", "said"),
    [
        ("walrus lang:pyton", {}, ("no indexed file has the language 'pyton'", "did you mean python?")),
        ("walrus", {"languages": ["pyton"]}, ("no indexed file has the language 'pyton'", "did you mean python?")),
        ("walrus", {"languages": ["ruby"]}, ("no indexed file has the language 'ruby'", "livedex languages")),
        ("walrus kind:table", {}, ("no kind of chunk is called 'table'", "did you mean markdown_table?")),
        ("walrus lang:py kind:code", {}, None),
        ("lang:pyton", {"mode": "exact"}, None),
    ],
)
def test_an_unknown_language_or_kind_is_said(
    index: Indexed, query: str, params: dict[str, Any], said: tuple[str, str] | None
) -> None:
    index.write("root/a.py", "walrus = 1\n")
    found = [(w["message"], w["remedy"]) for w in index.ask(query, **params).warnings if w["code"] == "query_unknown"]
    assert found == ([] if said is None else [said])


@pytest.mark.parametrize("mode", ["auto", "exact"])
def test_a_path_without_an_indexed_file_is_said(index: Indexed, mode: str) -> None:
    """As one that is misspelt, or that a rule leaves out."""
    index.write("root/notes/a.md", "walrus\n")
    wanted = {name: str(index.folder / "root" / name) for name in ("notes", "notes/a.md", "note", "notes/a.md.md")}
    for name in ("notes", "notes/a.md"):
        assert index.ask("walrus", mode=mode, path=wanted[name]).warnings == []
    assert index.ask("walrus", mode=mode, path=str(index.folder / "root")).warnings == []
    answer = index.ask("walrus", mode=mode, paths=list(wanted.values()))
    assert [(w["code"], w["message"]) for w in answer.warnings] == [
        ("query_unknown", f"no indexed file is at or below {wanted[name]}") for name in ("note", "notes/a.md.md")
    ]
    assert len(answer.hits) == 1


def test_a_term_with_the_name_of_a_root_is_said(index: Indexed) -> None:
    """Terms compare the path below the root."""
    index.write("elsewhere/notes/a.md", "walrus\n")
    for query in ("walrus path:elsewhere", "walrus path:Elsewhere/notes"):
        [warned] = index.ask(query).warnings
        assert warned["code"] == "query_unknown" and "in its path below a root" in warned["message"]
        assert warned["remedy"] == f"{index.folder}/elsewhere is a root: limit roots to it"
    for query in ("walrus -path:elsewhere", "zebra path:notes", "walrus path:nowhere"):
        assert index.ask(query).warnings == []
    index.write("root/elsewhere.md", "zebra\n")
    assert index.ask("walrus path:elsewhere").warnings == [], "another file has it"


@pytest.mark.parametrize("sort", ["relevance", "path"])
def test_hits_that_no_page_can_have_are_said(index: Indexed, sort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_run, "SEARCH_WINDOW", 6)
    for number in range(6):
        index.write(f"root/{number}.md", f"walrus {number}\n")
    last = {"limit": 3, "offset": 3, "sort": sort}
    assert index.ask("walrus", **last).warnings == []
    index.write("root/6.md", "walrus 6\n")
    assert index.ask("walrus", limit=3, sort=sort).warnings == []
    answer = index.ask("walrus", **last)
    assert (len(answer.hits), answer.next_offset) == (3, None)
    assert [warned["code"] for warned in answer.warnings] == ["hits_cut"]
