"""Facets: counts of matching files, equal to the number that the query finds with that value as a filter."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.chunk.language_detection import by_name
from livedex_indexing.language_names import same_language
from livedex_indexing.rank import facets
from livedex_indexing.store.read_pool import DeadlinePassed


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Indexed]:
    with Indexed(tmp_path, ("root", "other")) as made:
        yield made


def test_counts_are_of_files(index: Indexed) -> None:
    index.write("root/a.py", "walrus\n" * 40)  # several chunks: one file
    index.write("root/copy.py", "walrus\n" * 40)
    index.write("other/b.c", "walrus\n")
    index.write("root/plain.txt", "walrus tusk\n")
    index.write("root/walrus.md", "nothing here\n")  # by its path
    index.write("root/no.md", "nothing\n")
    found = index.ask("walrus", facets=["languages", "kinds", "roots"], limit=1).extras["facets"]
    assert list(found) == ["languages", "kinds", "roots"]
    assert found["languages"] == {"python": 2, "c": 1, "markdown": 1}
    assert list(found["languages"]) == ["python", "c", "markdown"]
    assert found["kinds"] == {"code": 3, "markdown_text": 1, "plain": 1}
    assert found["roots"] == {f"{index.folder}/root": 4, f"{index.folder}/other": 1}
    assert "facets" not in index.ask("walrus").extras


def test_filters_and_phrases_count(index: Indexed) -> None:
    index.write("root/a.py", "red fox\n")
    index.write("root/b.c", "red foxes\n")
    index.write("root/c.txt", "red -> fox\n")
    ask = index.ask
    assert ask('"red fox"', facets=["languages"]).extras["facets"] == {"languages": {"python": 1}}
    assert ask("red", languages=["c"], facets=["languages"]).extras["facets"] == {"languages": {"c": 1}}
    assert ask("red ext:py", facets=["kinds"]).extras["facets"] == {"kinds": {"code": 1}}
    assert ask('red "->"', facets=["kinds"]).extras["facets"] == {"kinds": {"plain": 1}}
    assert ask('red -"->"', facets=["kinds"]).extras["facets"] == {"kinds": {"code": 2}}
    assert ask("", facets=["kinds"]).extras["facets"] == {"kinds": {"code": 2, "plain": 1}}
    assert ask("nothing", facets=["kinds", "roots"]).extras["facets"] == {"kinds": {}, "roots": {}}


def test_more_than_ranking_looks_at(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livedex_indexing.rank.postings.LIST_ROWS", 5)
    for number in range(60):
        index.write(f"root/f{number}.py", f"walrus number{number}\n")
    assert index.ask("walrus", facets=["languages"]).extras["facets"] == {"languages": {"python": 60}}


def test_out_of_time_there_are_none(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise DeadlinePassed("late")

    index.write("root/a.py", "walrus\n")
    monkeypatch.setattr(facets.MatchCounter, "facets", late)
    answer = index.ask("walrus", facets=["languages"], deadline=time.monotonic() + 60)
    assert [hit["relative_path"] for hit in answer.hits] == ["a.py"]
    assert "facets" not in answer.extras
    assert [warning["code"] for warning in answer.warnings] == ["query_deadline"]


def test_the_total_is_what_all_pages_have(index: Indexed) -> None:
    index.write("root/a.py", "walrus\n" * 900)  # several chunks
    index.write("root/copy.py", "walrus\n" * 900)  # the same hits, another file
    index.write("other/b.c", "walrus -> tusk\n")
    index.write("root/walrus.md", "nothing here\n")  # by its path
    index.write("root/walrus.py", "walrus\n" * 300)  # by both
    index.write("root/no.md", "nothing\n")

    def pages(query: str, group: str) -> int:
        answer = index.ask(query, group=group, limit=100)
        hits = len(answer.hits)
        while answer.next_offset is not None:
            answer = index.ask(query, group=group, offset=answer.next_offset, limit=100)
            hits += len(answer.hits)
        return hits

    queries = ("walrus", '"walrus"', 'walrus "->"', "walrus -tusk", "walrus ext:py", "", "ext:py", "zebra")
    for query, group in itertools.product(queries, ("chunk", "file")):
        extras = index.ask(query, group=group, limit=1, total=True, facets=["roots"]).extras
        total = {"hits": pages(query, group), "files": sum(extras["facets"]["roots"].values())}
        assert extras["total"] == total, (query, group)
    assert index.ask("walrus", total=True).extras["total"]["files"] == 5
    assert "total" not in index.ask("nothing", total=True, mode="exact").extras
    assert "total" not in index.ask("walrus").extras


def test_a_language_is_one_whatever_it_is_called(index: Indexed) -> None:
    index.write("root/a.js", "walrus()\n")
    index.write("root/b.fence", "walrus(2)\n")
    index.write("root/c.sh", "walrus\n")
    index.write("root/d.cpp", "int walrus;\n")
    for name in ("js", "JavaScript", "mjs"):
        assert set(index.found("walrus", languages=[name])) == {"a.js", "b.fence"}, name
        assert set(index.found(f"walrus lang:{name}")) == {"a.js", "b.fence"}, name
        assert set(index.found(f"walrus -lang:{name}")) == {"c.sh", "d.cpp"}, name
    assert index.found("walrus", languages=["bash"]) == ["c.sh"]
    assert index.found("walrus", languages=["c++"]) == ["d.cpp"]
    for mode in ("auto", "exact"):
        facets = index.ask("walrus", mode=mode, facets=["languages"]).extras["facets"]["languages"]
        assert facets == {"javascript": 2, "cpp": 1, "shell": 1}, mode


def test_the_usual_name_of_a_language_is_that_of_its_files() -> None:
    for file in (b"a.js", b"a.ts", b"a.rs", b"a.md", b"a.cpp", b"a.sh", b"a.py", b"a.yml", b"a.cs", b"a.go", b"a.rb"):
        found = by_name(file)
        assert found is not None and found[0] is not None
        assert same_language(file.decode()[2:]) == same_language(found[0]) == found[0]


def test_a_file_without_text_counts_by_its_language(index: Indexed) -> None:
    """As an empty `__init__.py`: hits, filters, facets and totals agree about it."""
    index.write("root/walrus.md", "")
    index.write("root/walrus.py", b"\xef\xbb\xbf")  # other bytes: files with the same are one hit
    index.write("root/walrus.none", b"\xff\xfe")
    index.write("root/b.md", "walrus\n")
    names = ["languages", "kinds"]
    for query in ("", "walrus"):
        answer = index.ask(query, facets=names, total=True)
        assert answer.extras["total"] == {"hits": 4, "files": 4}, query
        assert answer.extras["facets"] == {
            "languages": {"markdown": 2, "python": 1},
            "kinds": {"markdown_text": 2, "code": 1, "plain": 1},
        }, query
        assert {hit["relative_path"]: (hit["kind"], hit["language"]) for hit in answer.hits} == {
            "walrus.md": ("markdown_text", "markdown"),
            "walrus.py": ("code", "python"),
            "walrus.none": ("plain", None),
            "b.md": ("markdown_text", "markdown"),
        }, query
        assert set(index.found(query, kinds=["markdown_text"])) == {"walrus.md", "b.md"}, query
        assert set(index.found(query, languages=["python"])) == {"walrus.py"}, query
        assert set(index.found(f"{query} -lang:md")) == {"walrus.py", "walrus.none"}, query
        assert set(index.found(f"{query} -kind:code kind:plain")) == {"walrus.none"}, query
        assert index.found(query, kinds=["code"], languages=["markdown"]) == [], query
