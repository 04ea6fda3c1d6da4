"""The paragraph that somebody remembers comes first: the live text tells what no index of words knows."""

from __future__ import annotations

import pytest

from helpers.indexed_folder import Indexed

FAR = "and so on and so forth, as it goes " * 6
PARAGRAPH = f"an iceberg {FAR}with a walrus {FAR}and its tusk\n"
QUERY = "tusk iceberg walrus"


@pytest.mark.parametrize("between", ["\n\n", "\n#\n", "\n *\n", "\r\n\r\n", "\n \t\n"])
def test_a_paragraph_comes_before_nearer_words_of_two(index: Indexed, between: str) -> None:
    index.write("root/near.txt", f"a walrus, an iceberg{between}and a tusk{between}{FAR * 2}\n")
    index.write("root/paragraph.txt", PARAGRAPH)
    assert index.found(QUERY) == ["paragraph.txt", "near.txt"]


def test_words_as_typed_come_before_their_forms(index: Indexed) -> None:
    for number in range(20):
        index.write(f"root/other{number}.txt", f"a zebra, {number}\n")  # else no word is rare
    index.write("root/forms.txt", f"tusks, icebergs, walruses {FAR}\n\nwalrus {FAR}\n\n{FAR} iceberg {FAR}\n\ntusk\n")
    index.write("root/paragraph.txt", PARAGRAPH.upper())
    assert index.found(QUERY) == ["paragraph.txt", "forms.txt"]


def test_a_file_with_such_a_name_is_not_passed(index: Indexed) -> None:
    index.write("root/walrus-iceberg-tusk.txt", "walrus\n\niceberg\n\ntusk\n")
    index.write("root/paragraph.txt", PARAGRAPH)
    assert index.found(QUERY)[0] == "walrus-iceberg-tusk.txt"


def test_names_and_unfinished_words_are_remembered_too(index: Indexed) -> None:
    index.write("root/near.txt", f"a walrusTusk, an iceberg\n\nits set_size\n\n{FAR * 2}\n")
    index.write("root/paragraph.txt", f"an iceberg {FAR}with a walrusTusk {FAR}and set_size\n")
    for query, typing in (("size iceberg walrusTusk", False), ("size iceberg walrusTu", True)):
        assert index.found(query, typing=typing)[0] == "paragraph.txt", query


def test_the_chunk_with_all_words_is_found_behind_many_with_some(
    index: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("livedex_indexing.rank.results.EXAMINED", 2)
    for number in range(9):
        index.write(f"root/some{number}.txt", f"a walrus, its tusk, a walrus and its tusk, {number}\n")
    index.write("root/paragraph.txt", PARAGRAPH)
    assert index.found(QUERY)[0] == "paragraph.txt"


def test_a_page_begins_where_the_last_one_ended(index: Indexed) -> None:
    for number in range(30):
        index.write(f"root/near{number:02}.txt", f"walrus iceberg {number}\n\ntusk\n")
    for number in range(5):
        index.write(f"root/paragraph{number}.txt", f"{PARAGRAPH}{number}\n")
    whole = index.found(QUERY, limit=100, group="file")
    assert len(whole) == 35
    pages = [index.found(QUERY, limit=7, offset=offset, group="file") for offset in range(0, 35, 7)]
    assert [path for page in pages for path in page] == whole


def test_words_that_are_nowhere_are_no_error(index: Indexed) -> None:
    index.write("root/paragraph.txt", PARAGRAPH)
    assert index.found("xylem phloem cambium") == []
    assert index.found("tusk iceberg cambium") == ["paragraph.txt"]
