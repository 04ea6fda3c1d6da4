"""The order of hits, their pages and groups, and the end of a search that takes too long."""

from __future__ import annotations

import base64
import os

import pytest

from helpers.indexed_folder import LINES, Indexed, expressions
from livedex_indexing.rank import name_places
from livedex_indexing.rank.features import WORDS
from livedex_indexing.rank.score import WEIGHTS
from livedex_ipc.errors import Cancelled


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


def test_a_copy_whose_name_is_not_utf8_is_named_by_its_bytes(index: Indexed) -> None:
    index.write("root/b/copy.txt", "savanna\n")
    index.write("root/c/longer.txt", "savanna\n")
    assert "also_at_b64" not in index.search("savanna")[0], "every name is UTF-8"
    index.write(os.fsdecode(b"root/d/longer-\xff.txt"), "savanna\n")
    (hit,) = index.search("savanna")
    paths = [
        text.encode() if encoded is None else base64.b64decode(encoded)
        for text, encoded in zip(hit["also_at"], hit["also_at_b64"], strict=True)
    ]
    assert paths == [index.roots[1] + b"/c/longer.txt", index.roots[1] + b"/d/longer-\xff.txt"]
    assert all(os.path.exists(path) for path in paths)


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


def test_where_few_files_match_further_chunks_fill_the_page(index: Indexed) -> None:
    index.write("root/big.txt", "walrus walrus walrus\n" * LINES * 30)
    index.write("root/small.txt", "walrus\n")
    hits = index.search("walrus", limit=100)
    names = [hit["relative_path"] for hit in hits]
    assert (sorted(names[:4]), names[4:]) == (["big.txt"] * 3 + ["small.txt"], ["big.txt"] * 27)
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert hits[-1]["score"] > 0
    assert len(index.search("walrus", limit=100, path=f"{hits[0]['root']}/big.txt")) == 30


def test_grouped_by_file(index: Indexed) -> None:
    index.write("root/big.txt", ("walrus\n" + "other\n" * (LINES - 1)) * 5 + "end\n" * LINES)
    index.write("root/small.txt", "a walrus\n")
    hits = index.search("walrus", group="file")
    assert {hit["relative_path"]: hit["matches"] for hit in hits} == {"big.txt": 5, "small.txt": 1}
    index.write("root/other/big.txt", "walrus\n" * LINES + "end\n" * LINES)
    index.write("root/none.txt", "the walruses of walrusland\n")
    for params in ({"query": "walr*"}, {"query": "walrus", "typing": True}):
        hits = index.search(group="file", **params)
        assert {hit["path"]: hit["matches"] for hit in hits} == {
            str(index.folder / path): count
            for path, count in (
                ("root/big.txt", 5),
                ("root/small.txt", 1),
                ("root/none.txt", 1),
                ("root/other/big.txt", 1),
            )
        }
        (hit,) = index.search(group="file", **params, path=str(index.folder / "root/other"))
        assert hit["matches"] == 1


def test_the_matches_of_all_files_of_a_page_are_counted_by_one_statement_if_a_word_is_begun(
    index: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = expressions(monkeypatch)
    counts = list[int]()
    for number in range(4):
        index.write(f"root/f{number}.txt", f"walrus {number}\n")
        searched.clear()
        assert len(index.search("walr*", group="file")) == number + 1
        counts.append(len([expression for expression in searched if expression.endswith("*")]))
    assert len(set(counts)) == 1


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
    monkeypatch.setattr("livedex_indexing.rank.postings.LIST_ROWS", 5)
    monkeypatch.setattr("livedex_indexing.rank.results.BY_PATH", 3)
    for number in range(30):
        index.write(f"root/f{number:02}.txt", f"walrus number{number}\n")
        index.write(f"root/walrus{number:02}.txt", f"other{number}\n")
    hits = index.search("walrus", limit=1000)
    assert len(hits) == 60
    assert len({hit["relative_path"] for hit in hits}) == 60
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0
    again = [hit for offset in range(0, 60, 9) for hit in index.search("walrus", limit=9, offset=offset)]
    assert again == hits


@pytest.mark.parametrize("group", ["chunk", "file"])
def test_past_the_ranked_ones_the_same_score_decides(
    index: Indexed, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    monkeypatch.setattr("livedex_indexing.rank.postings.LIST_ROWS", 5)
    monkeypatch.setattr("livedex_indexing.rank.results.BY_PATH", 3)
    for number in range(60):
        index.write(f"root/f{number:02}.txt", f"{'walrus ' * (1 + number % 3)}{'filler ' * 20} {number}\n")
    hits = index.search("walrus", limit=100, group=group, explain=True)
    assert len(hits) == 60
    past = [int(hit["relative_path"][1:3]) % 3 for hit in hits[20:]]
    assert past == sorted(past, reverse=True), "files with more of the word come first"
    for hit in hits:
        assert hit["score"] == pytest.approx(sum(part["value"] for part in hit["explain"]["parts"]))


def test_explain_sums_up(index: Indexed) -> None:
    index.write("root/walrus_tusks.py", "def walrus():\n    tusk = 1  # walrus tusk\n")
    index.write("root/other.txt", "filler\n")
    (hit,) = index.search("walrus tusk", explain=True)
    names = {part["name"] for part in hit["explain"]["parts"]}
    assert names == set(WEIGHTS) - {
        "heading",
        "titled",
        "close",
        "auxiliary",
        "typed",
        "called",
        "news",
        "similar",
        "prose",
    }
    assert hit["explain"]["total"] == hit["score"] == pytest.approx(sum(p["value"] for p in hit["explain"]["parts"]))


def test_words_of_one_paragraph_come_before_words_of_a_page(index: Indexed) -> None:
    filler = "and so on and so forth and so on and so forth\n"
    index.write("root/a.txt", f"walrus tusk {filler}walrus tusk {filler * 6}walrus iceberg\n")
    index.write("root/b.txt", f"{filler * 6}an iceberg and, with a walrus, its tusk\n{filler}{filler}")
    assert index.found("tusk iceberg walrus")[0] == "b.txt"


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
    monkeypatch.setattr("livedex_indexing.store.read_pool.Reader.is_past_deadline", lambda reader: next(late, True))
    monkeypatch.setattr("livedex_indexing.store.read_pool.Reader.ends_statement", lambda reader: False)
    answer = index.ask("walrus")
    assert (len(answer.hits), answer.next_offset) == (2, 2)
    assert [warning["code"] for warning in answer.warnings] == ["query_deadline"]


def test_a_cancelled_search_ends(index: Indexed) -> None:
    index.write("root/a.txt", "walrus\n")
    with pytest.raises(Cancelled):
        index.ask("walrus", cancelled=lambda: True)
    assert index.found("walrus") == ["a.txt"]


def test_a_file_with_many_matches_can_be_paged_to_its_end(index: Indexed) -> None:
    """No chunk is left out, and no page is shorter than it may be."""
    index.write("root/one.txt", "".join(f"needle {number} {'filler ' * 30}\n" for number in range(400)))
    index.write("root/two.txt", "needle too\n")
    offset: int | None = 0
    pages: list[list[int]] = []
    while offset is not None:
        answer = index.ask("needle", offset=offset, limit=15)
        pages.append([hit["start_byte"] for hit in answer.hits if hit["relative_path"] == "one.txt"])
        offset = answer.next_offset
    assert [len(page) for page in pages] == [14, 15, 11]
    starts = [start for page in pages for start in page]
    assert (
        len(set(starts))
        == len(starts)
        == len(index.search("needle", path=f"{os.fsdecode(index.roots[1])}/one.txt", limit=50))
    )


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("configuration walrus", "config.txt"),  # short for the word
        ("directory walrus", "mkdirs_dir.txt"),
        ("array walrus", "fromarray.txt"),  # contains the word
        ("polynomial walrus", "charpoly_poly.txt"),
    ],
)
def test_a_name_may_say_a_word_in_another_form(index: Indexed, query: str, name: str) -> None:
    for number in range(30):
        index.write(f"root/{number}.txt", f"filler {number}\n")
    word = query.split(maxsplit=1)[0]
    index.write("root/a.txt", f"a walrus {word} 1\n")
    index.write(f"root/{name}", f"a walrus {word} 2\n")
    index.write(f"root/{word}.txt", f"a walrus {word} 3\n")
    assert index.found(query)[:3] == [f"{word}.txt", name, "a.txt"], "less than the word itself, more than nothing"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("getusername", "get.txt"),  # contains less than a third of it
        ("disk", "is.txt"),  # inside the word, not at its beginning
        ("conf*", "config_con.txt"),  # searched for literally
    ],
)
def test_a_name_that_says_too_little_counts_for_nothing(index: Indexed, query: str, name: str) -> None:
    index.write("root/0.txt", f"{query.rstrip('*')} 1\n")
    index.write(f"root/{name}", f"{query.rstrip('*')} 2\n")
    parts = {
        hit["relative_path"]: {part["name"] for part in hit["explain"]["parts"]}
        for hit in index.search(query, explain=True)
    }
    assert ("name" in parts[name]) == query.endswith("*"), "a prefix finds what begins with it"


def test_a_name_may_say_a_word_as_programmers_put_it(index: Indexed) -> None:
    for number in range(30):
        index.write(f"root/{number}.txt", f"filler {number}\n")
    for name in ("walrus_go", "walrus_is", "walrus_on"):
        index.write(f"root/{name}.txt", f"a walrus of {name}\n")
    assert index.found("Whether it is a walrus")[0] == "walrus_is.txt"
    assert index.found("walrus")[0] == "walrus_go.txt", "nothing else asks for it"


def test_of_code_that_says_as_much_the_file_with_the_shorter_name_comes_first(index: Indexed) -> None:
    index.write("root/a_zebra_of_the_plains.py", "walrus = 1  # one\n")
    index.write("root/zebra.py", "walrus = 1  # two\n")
    index.write("root/a_zebra_of_the_plains.txt", "walrus = 1  # one of them\n")
    index.write("root/zebra.txt", "walrus = 1  # two of them\n")
    hits = [hit for hit in index.search("walrus", explain=True) if hit["relative_path"].endswith(".py")]
    assert [hit["relative_path"] for hit in hits] == ["zebra.py", "a_zebra_of_the_plains.py"]
    first, second = ({part["name"]: part["value"] for part in hit["explain"]["parts"]}["brief"] for hit in hits)
    assert first > 0 > second
    (text,) = [hit for hit in index.search("walrus", explain=True) if hit["relative_path"] == "zebra.txt"]
    assert "brief" not in {part["name"] for part in text["explain"]["parts"]}


BESIDE = ("tests/a.c", "src/test_a.py", "a_test.py", "examples/a.py", "vendor/x/a.c", "a_pb2.py", "src/__tests__/a.c")


@pytest.mark.parametrize("path", BESIDE)
def test_code_comes_before_auxiliary_files(index: Indexed, path: str) -> None:
    index.write(f"root/{path}", "walrus = 1  # one\n")
    index.write("root/src/zebra/other.py", "walrus = 1  # two\n")
    assert index.found("walrus") == ["src/zebra/other.py", path]
    root = os.fsdecode(index.roots[1])
    for query, params in (
        ("walrus", {"path": root}),
        ("walrus", {"globs": ["**"]}),
        ("walrus test", {}),
        ("examples of a walrus", {}),
    ):
        for hit in index.search(query, explain=True, **params):
            assert "auxiliary" not in {part["name"] for part in hit["explain"]["parts"]}, (query, params)
    damped = index.search("walrus", explain=True)[1]["explain"]
    assert {part["name"]: part["value"] for part in damped["parts"]}["auxiliary"] < 0
    assert damped["total"] == pytest.approx(sum(part["value"] for part in damped["parts"]))


@pytest.mark.parametrize(
    "path", ["tests/readme.txt", "examples/walrus.md", "latest/a.c", "contest.py", "src/attest.py"]
)
def test_what_is_no_code_or_no_test_is_not_damped(index: Indexed, path: str) -> None:
    index.write(f"root/{path}", "walrus\n")
    (hit,) = index.search("walrus", explain=True)
    assert "auxiliary" not in {part["name"] for part in hit["explain"]["parts"]}


def test_the_chunks_of_files_found_by_their_path_may_all_be_looked_into(
    index: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searching for the beginning of a word gives the same answer as searching for all words that begin so."""
    for number in range(20):
        index.write(f"root/walrus{number:02}.txt", f"filler {number}\n" * LINES * 8 + "walruses\n")
        index.write(f"root/other{number:02}.txt", f"walrus walrus {number}\n")
    monkeypatch.setattr("livedex_indexing.rank.postings.LIST_ROWS", 10)
    answers = [index.search("walrus*", limit=100, explain=True)]
    monkeypatch.setattr("livedex_indexing.rank.results.ALL_CHUNKS", 0)
    answers.append(index.search("walrus*", limit=100, explain=True))
    assert answers[0] == answers[1]
    assert any(hit["score"] and "walruses" in hit["snippet"] for hit in answers[0])


@pytest.mark.parametrize("typed", ["okapi/river.h", "okapi->river_bank", "okapi.river", "wrap(okapi->river);"])
def test_an_answer_is_the_same_whatever_was_searched_before(
    index: Indexed, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr(name_places, "ROWS_READ", 30)
    index.write("root/note.md", f"# About {typed}\n\nSee the river, the bank, the okapi.\n")
    for number in range(40):
        index.write(
            f"root/river{number}.c", f"okapi = {number};\nriver bank river.h;\n{typed if number == 30 else ''}\n"
        )
    first = index.search(typed, explain=True)
    for word in ("okapi", "river", "bank", "h", "wrap", "okapi river"):
        index.search(word)
    assert index.search(typed, explain=True) == first


@pytest.mark.parametrize("group", ["chunk", "file"])
def test_a_word_of_a_long_query_leads_to_its_chunk(index: Indexed, group: str) -> None:
    """Of a long query, not all words are scored. The others lead to the chunks that have them."""
    words = [f"okapi{number}x" for number in range(WORDS + 6)]
    for word in words[:-1]:
        index.write(f"root/{word}.txt", f"{word} {word[:5]}\n")
    index.write("root/z.txt", "filler\n" * LINES * 3 + f"{words[-1]}\n" + "filler\n" * LINES * 2 + f"{words[-1]}\n")
    hits = index.search(" ".join(words), group=group, limit=200)
    assert all(any(word in hit["snippet"] for word in words) for hit in hits)
    assert sum(hit["relative_path"] == "z.txt" for hit in hits) == (1 if group == "file" else 2)
