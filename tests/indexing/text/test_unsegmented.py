"""Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese and Tibetan are found by pieces, as other words are."""

from __future__ import annotations

import unicodedata

import pytest

from helpers.indexed_folder import SIGNATURE, Indexed
from livedex_indexing.hits.live_files import LiveFiles
from livedex_indexing.model import Chunk, ChunkedContent, ChunkTerms, FileRow, FileState
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.search.standing_query import parts_of_all, standing_query
from livedex_indexing.text.unsegmented import folded, mask_runs, query_bigrams, to_bigrams

FILES = {
    "root/chinese.md": "# 数据库配置\n\n如何配置数据库连接，Python是很好的语言。\n",
    "root/japanese.txt": "日本語テキスト検索のしくみ。第１０章、ｶﾞｲﾄﾞとＰｙｔｈｏｎ\n",
    "root/korean.txt": "한국어 검색을 합니다\n",
    "root/thai.txt": "การค้นหาภาษาไทยด้วย livedex\n",
    "root/lao.txt": "ການຄົ້ນຫາພາສາລາວ\n",
    "root/khmer.txt": "ការស្វែងរកភាសាខ្មែរ\n",
    "root/burmese.txt": "မြန်မာဘာသာစကား\n",
    "root/tibetan.txt": "བོད་ཡིག་འཚོལ་བ\n",
    "root/設計書/会議メモ.txt": "nothing but ascii\n",
    "root/half.txt": "日本 本語 本 の検 文\n",
    "root/plain.txt": "Python and livedex\n",
}


@pytest.mark.parametrize(
    ("query", "path", "marked"),
    [
        ("数据库", "chinese.md", ["数据库", "数据库"]),
        ("连接", "chinese.md", ["连接"]),
        ("据库连", "chinese.md", ["据库连"]),
        ("语", "chinese.md", ["语"]),
        ("Python是很", "chinese.md", ["Python是很"]),
        ("PYTHON是", "chinese.md", ["Python是"]),
        ("テキスト検索", "japanese.txt", ["テキスト検索"]),
        ("語テ", "japanese.txt", ["語テ"]),
        ("第10章", "japanese.txt", ["第１０章"]),
        ("ガイド", "japanese.txt", ["ｶﾞｲﾄﾞ"]),
        ("ｶﾞｲ", "japanese.txt", ["ｶﾞｲ"]),
        ("검색", "korean.txt", ["검색"]),
        ("국어", "korean.txt", ["국어"]),
        (unicodedata.normalize("NFD", "검색을"), "korean.txt", ["검색을"]),
        ("ภาษาไทย", "thai.txt", ["ภาษาไทย"]),
        ("ค้น", "thai.txt", ["ค้น"]),
        ("ษา", "thai.txt", ["ษา"]),
        ("ພາສາ", "lao.txt", ["ພາສາ"]),
        ("ភាសា", "khmer.txt", ["ភាសា"]),
        ("ဘာသာ", "burmese.txt", ["ဘာသာ"]),
        ("ཡིག", "tibetan.txt", ["ཡིག"]),
        ("བོད་ཡིག", "tibetan.txt", ["བོད་ཡིག"]),
        ('"配置数据库连接，Python"', "chinese.md", ["配置数据库连接，Python"]),
        ('"검색을 합니다"', "korean.txt", ["검색을 합니다"]),
        ('"とＰｙｔｈｏｎ"', "japanese.txt", ["とＰｙｔｈｏｎ"]),
        ("会議", "設計書/会議メモ.txt", []),
        ("計書", "設計書/会議メモ.txt", []),
        ("メモ.txt", "設計書/会議メモ.txt", []),
    ],
)
def test_found_by_pieces(indexed: Indexed, query: str, path: str, marked: list[str]) -> None:
    hits = indexed.search(query)
    assert hits[0]["relative_path"] == path
    assert [hits[0]["snippet"][start:end] for start, end in hits[0]["highlights"]] == marked
    if query != "メモ.txt":  # whose piece txt others have
        assert len(hits) == 1


@pytest.mark.parametrize(
    "query", ["日語", "日本本語", "の検索文", "本のしくみ", "ไทยภาษา", "본국", '"数据 库"', "是Python"]
)
def test_what_is_nowhere_is_not_found(indexed: Indexed, query: str) -> None:
    assert indexed.found(query if query.startswith('"') else f'"{query}"') == []


def test_words_next_to_runs_are_found(indexed: Indexed) -> None:
    assert set(indexed.found("python")) == {"chinese.md", "japanese.txt", "plain.txt"}
    shown = {hit["relative_path"]: hit for hit in indexed.search("python")}
    for path, word in (("chinese.md", "Python"), ("japanese.txt", "Ｐｙｔｈｏｎ")):
        ((start, end),) = shown[path]["highlights"]
        assert shown[path]["snippet"][start:end] == word
    assert indexed.found('"python and"') == ["plain.txt"]
    indexed.write("root/both.txt", "Python日本Ruby, Python and Ruby\n")
    assert indexed.found('"python ruby"') == []
    assert indexed.found('"ruby python"') == ["both.txt"]


def test_a_run_counts_as_one_word(indexed: Indexed) -> None:
    indexed.write("root/both.txt", "日本語 한국어\n")
    assert set(indexed.found("日本語 한국어")) == {"japanese.txt", "korean.txt", "both.txt"}
    assert indexed.found("日本語 한국어")[0] == "both.txt"
    assert set(indexed.found("日本 -テキスト")) == {"half.txt", "both.txt"}
    assert indexed.found("日本語 -日本語テキスト") == ["both.txt"]
    assert set(indexed.found('日本 -"本語テキスト検索"')) == {"half.txt", "both.txt"}
    assert set(indexed.found("日本*")) == {"japanese.txt", "half.txt", "both.txt"}
    answer = indexed.ask("日本", facets=["languages", "kinds"], limit=1)
    assert sum(answer.extras["facets"]["kinds"].values()) == 3
    assert answer.next_offset == 1
    asked = standing_query(SearchRequest("日本語 한국어"))
    with indexed.pool.connection() as reader, reader.snapshot():
        found = [
            each.copy.path
            for part in parts_of_all(reader)
            for each in asked.found(reader, part, indexed.roots, LiveFiles(indexed.roots), set())
        ]
    assert found == [b"both.txt"]


def test_a_run_that_no_text_holds_is_asked_by_its_pairs(indexed: Indexed) -> None:
    for query in ("怎样才能配置好数据库的连接参数", "数据库的连接", "配置库"):
        assert indexed.found(query) == ["chinese.md"]


def test_the_file_with_the_run_comes_before_one_with_its_parts(indexed: Indexed) -> None:
    indexed.write("root/parts.txt", "ページの全文を読む。検索する。\n")
    indexed.write("root/whole.txt", "これはページの全文検索です。\n")
    assert indexed.found("全文検索 ページ") == ["whole.txt", "parts.txt"]


def test_a_run_over_the_border_of_two_chunks_is_found(indexed: Indexed) -> None:
    run = "".join(chr(0x4E00 + place) for place in range(40))
    file = indexed.folder / "root/torn.txt"
    file.write_text(run, encoding="utf-8")
    row = indexed.row("root/plain.txt")
    data = run.encode()
    chunks = [
        Chunk(0, run[:20], "", "plain", None, None, None, 1, 1, 0, 60, {}),
        Chunk(1, run[20:], run[:20], "plain", None, None, None, 1, 1, 60, 120, {}),
    ]
    content = ChunkedContent("plain", None, "utf-8", False, chunks, [ChunkTerms("", "", "")] * 2)
    found = file.stat()
    state = FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
    with indexed.store.transaction():
        content_id = indexed.store.add_content(b"0" * 16, SIGNATURE, len(data), content)
        torn = FileRow(row.root_id, b"torn.txt", state, "indexed", None, content_id, b"0" * 16, SIGNATURE, None, 1.0,
                       settled=True)  # fmt: skip
        indexed.store.put_files([torn])
    for start in range(12, 20):
        assert indexed.found(run[start : start + 8]) == ["torn.txt"], start
        assert indexed.found(f'"{run[start : start + 8]}"') == ["torn.txt"], start


def test_names_in_parts_are_the_same_names(indexed: Indexed) -> None:
    indexed.write(f"root/{unicodedata.normalize('NFD', '계획서ガイド')}.md", "x\n")
    assert indexed.found("계획") == indexed.found("획서ガイ") != []


def test_nothing_changes_for_other_texts() -> None:
    for text in ("plain", "Höhe naïve — “quoted” → done", "Привет, мир", "שלום हम مكتب", "e\u0301 \ue000 🙂"):
        assert to_bigrams(text) == folded(text)[0] == mask_runs(text) == text
        assert folded(text)[1] is None


def test_as_it_is_spelled() -> None:
    assert to_bigrams("Python是很好").split() == ["Python", "是很", "很好", "好"]
    assert query_bigrams("是很好")[0].split() == ["是很", "很好"]
    assert query_bigrams("A是") == ("A 是", True)
    assert folded("xｶﾞ1") == ("xガ1", [0, 1, 3, 4])
