"""Which chunks a standing query contains: those that match, whatever else is in the index."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.indexed_folder import LINES, Indexed, expressions
from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.hits.live_files import LiveFiles
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.search.standing_hits import StandingHits
from livedex_indexing.search.standing_query import FileKey, part_of, parts_of_all, standing_query
from livedex_ipc.errors import InvalidParams
from livedex_ipc.methods import check_params, path_bytes, paths_bytes

FILES = {
    "root/a.py": "def alpha():\n    return beta\n" * LINES,
    "root/b.md": "alpha only\n",
    "root/c.md": "beta gamma alpha the\n",
    "root/d.md": "x\n" * (LINES - 1) + "alpha\nbeta here\n",
    "root/sub/e.txt": "foo_bar and getHTTPResponse\n",
    "root/f.txt": "foo then bar\n",
    "root/empty.txt": "",
}


def held(
    indexed: Indexed, query: str, keys: list[FileKey] | None = None, unsure: set[FileKey] | None = None, **params: Any
) -> dict[str, list[int]]:
    """Return the first lines of the chunks in a query, by file; ``keys``: only these files."""
    known = check_params("search", {"query": query, **params})
    path = path_bytes(known)
    asked = standing_query(
        SearchRequest.from_params(known), [path] if path is not None else None, paths_bytes(known, "roots") or ()
    )
    with indexed.pool.connection() as reader, reader.snapshot():
        parts = parts_of_all(reader) if keys is None else [part_of(reader, keys)]
        doubt = set() if unsure is None else unsure
        return {
            found.copy.path.decode(): [chunk.start_line for chunk in found.chunks]
            for part in parts
            for found in asked.found(reader, part, indexed.roots, LiveFiles(indexed.roots), doubt)
        }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("alpha beta", {"a.py": [1, 11], "c.md": [1]}),
        ("the alpha", {"a.py": [1, 11], "b.md": [1], "c.md": [1], "d.md": [1]}),
        ("the", {"c.md": [1]}),
        ("alpha -gamma -ext:py", {"b.md": [1], "d.md": [1]}),
        ("alpha -beta", {"b.md": [1]}),
        ("beta -here", {"a.py": [1, 11], "c.md": [1]}),
        ('"alpha beta"', {"d.md": [11]}),
        ('"beta gamma" lang:markdown', {"c.md": [1]}),
        ('alpha -"beta gamma" ext:md', {"b.md": [1], "d.md": [1]}),
        ('alpha -"alpha beta" ext:md', {"b.md": [1], "c.md": [1]}),
        ("foo_bar", {"sub/e.txt": [1]}),
        ("foo bar", {"sub/e.txt": [1], "f.txt": [1]}),
        ("response http", {"sub/e.txt": [1]}),
        ("gam*", {"c.md": [1]}),
        ("path:sub", {"sub/e.txt": [1]}),
        ("kind:code", {"a.py": [1, 11]}),
        ("-path:sub foo", {"f.txt": [1]}),
        ("", {"a.py": [1, 11], "b.md": [1], "c.md": [1], "d.md": [1, 11], "sub/e.txt": [1], "f.txt": [1]}),
        ("->", {}),
        ("alpha nowhere", {}),
        (" ".join(f"word{number}" for number in range(500)), {}),
    ],
)
def test_a_query_holds_what_has_all_of_it(indexed: Indexed, query: str, expected: dict[str, list[int]]) -> None:
    assert held(indexed, query) == expected
    keys = [(1, path.removeprefix("root/").encode()) for path in FILES]
    one_by_one: dict[str, list[int]] = {}
    for key in keys:
        one_by_one |= held(indexed, query, [key])
    assert one_by_one == held(indexed, query, keys) == expected


def test_filters_are_those_of_a_search(indexed: Indexed) -> None:
    assert held(indexed, "alpha", path=str(indexed.folder / "root/c.md")) == {"c.md": [1]}
    assert held(indexed, "alpha", globs=["*.py", "!a*"]) == {}
    assert held(indexed, "alpha", globs=["*.py"], kinds=["code"], languages=["python"]) == {"a.py": [1, 11]}
    assert held(indexed, "alpha", roots=[str(indexed.folder / "root")], modified_before="2001-01-01T00:00:00Z") == {}
    assert held(indexed, "alpha", path="/nowhere") == {}, "a root that is no more, or not yet"


def test_every_copy_counts_and_nothing_of_a_missing_root(indexed: Indexed) -> None:
    indexed.write("root/copy.md", FILES["root/c.md"])
    assert held(indexed, "gamma") == {"c.md": [1], "copy.md": [1]}
    assert held(indexed, "gamma", [(1, b"copy.md")]) == {"copy.md": [1]}
    indexed.store.set_root(1, missing_since=1.0)
    assert held(indexed, "gamma") == {} == held(indexed, "gamma", [(1, b"c.md")])


def test_what_is_held_does_not_depend_on_other_files(indexed: Indexed) -> None:
    """A search uses the parts of a word that is nowhere in the index, and the whole word once it is there."""
    before = held(indexed, "baz_qux"), held(indexed, "foo_bar")
    indexed.write("root/g.txt", "baz then qux\n")
    assert (held(indexed, "baz_qux"), held(indexed, "foo_bar")) == before
    indexed.write("root/h.txt", "baz_qux\n")
    assert held(indexed, "baz_qux") == {"h.txt": [1]}


def test_a_phrase_in_a_file_that_has_changed_is_in_doubt(indexed: Indexed) -> None:
    (indexed.folder / "root/c.md").write_text("gone from it\n")
    unsure: set[FileKey] = set()
    assert held(indexed, '"beta gamma"', unsure=unsure) == {}
    assert unsure == {(1, b"c.md")}


def test_a_phrase_counts_for_the_chunk_in_which_it_ends(indexed: Indexed) -> None:
    indexed.write("root/p.txt", "alpha-beta\n" + "x\n" * (LINES - 1) + "alpha beta\n")
    assert held(indexed, '"alpha-beta"') == {"p.txt": [1]}


def test_by_file_the_first_chunk_counts(indexed: Indexed) -> None:
    assert held(indexed, "alpha beta", group="file") == {"a.py": [1], "c.md": [1]}


def test_a_query_of_which_only_a_part_would_count_is_refused() -> None:
    with pytest.raises(InvalidParams):
        standing_query(SearchRequest("x" * 5000))


def test_hits_are_made_of_each_copy_for_itself(indexed: Indexed) -> None:
    indexed.write("root/copy.md", FILES["root/c.md"])
    (indexed.folder / "root/c.md").write_text("it has changed since\n")
    asked = standing_query(SearchRequest("alpha gamma"))
    with indexed.pool.connection() as reader, reader.snapshot():
        maker = StandingHits(reader, asked, indexed.roots, Style(400, 0, False, False))
        found = [
            each
            for part in parts_of_all(reader)
            for each in asked.found(reader, part, indexed.roots, LiveFiles(indexed.roots), set())
        ]
        made = {each.copy.path: maker.of(each) for each in found}
    assert made[b"c.md"] is None and set(maker.stale) == {(1, b"c.md")}
    (hit,) = made[b"copy.md"] or []
    assert (hit.relative_path, hit.snippet, hit.score) == ("copy.md", "beta gamma alpha the", 1.0)
    assert hit.highlights == [(5, 10), (11, 16)] and hit.also_at is None


def test_a_commit_names_what_it_changed(indexed: Indexed) -> None:
    heard: list[tuple[dict[FileKey, bytes | None], set[int]]] = []
    before = {path: indexed.row(f"root/{path}").content_hash for path in ("b.md", "c.md", "sub/e.txt")}
    indexed.store.on_change = lambda files, roots: heard.append((files, roots))
    indexed.write("root/new.txt", "new\n")
    indexed.remove("root/b.md")
    with indexed.store.transaction():
        indexed.store.remove_tree(1, b"sub")
        indexed.write("root/c.md", "other\n")
        indexed.write("root/c.md", "and other\n")
    written = indexed.row("root/c.md")
    with pytest.raises(ZeroDivisionError), indexed.store.transaction():
        indexed.store.remove_files(1, [b"c.md"])
        _ = 1 / 0
    indexed.store.set_root(1, missing_since=1.0)
    indexed.store.set_root(1, last_reconciled=1.0)
    unreadable = written._replace(status="failed", reason="denied", content_id=None)
    indexed.store.put_files([unreadable])
    indexed.store.put_files([unreadable])
    indexed.store.drop_root(1)
    assert heard == [
        ({(1, b"new.txt"): None}, set()),
        ({(1, b"b.md"): before["b.md"]}, set()),
        ({(1, b"sub/e.txt"): before["sub/e.txt"], (1, b"c.md"): before["c.md"]}, set()),
        ({}, {1}),
        ({(1, b"c.md"): written.content_hash}, set()),
        ({}, {1}),
    ]


def beginnings(searched: list[str]) -> list[str]:
    """Return the expressions for which FTS5 gathers all words that begin so."""
    return [expression for expression in searched if '" *' in expression]


@pytest.mark.parametrize("query", ["gam* nowhere", "gam* path:sub", "gam* lang:python"])
def test_a_beginning_is_looked_for_only_where_all_else_matches(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    searched = expressions(monkeypatch)
    assert held(indexed, query, [(1, b"c.md"), (1, b"f.txt")]) == {}
    assert beginnings(searched) == []


@pytest.mark.parametrize(("query", "expected"), [("gam*", {"a.txt": [1]}), ("word -gam*", {"z.txt": [1]})])
def test_a_beginning_is_looked_for_once_in_contents_that_lie_apart(
    index: Indexed, monkeypatch: pytest.MonkeyPatch, query: str, expected: dict[str, list[int]]
) -> None:
    index.write("root/a.txt", "gamma word\n")
    index.write("root/between.txt", "gamma word\n" * LINES * 600)
    index.write("root/z.txt", "word\n")
    searched = expressions(monkeypatch)
    assert held(index, query, [(1, b"a.txt"), (1, b"z.txt")]) == expected
    assert len(beginnings(searched)) == 1
