"""A search while a word is being typed, and the place of a hit's first match."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.indexed_folder import Indexed, expressions
from helpers.support import examples
from livedex_indexing.hits.text_lines import CONTEXT_CHARS

FILES = {
    "root/music.txt": "a xylophone and its renewal, which the supervisor calls snapshot isolation\n",
    "root/code.py": "def get_http_response(barrier):\n    return bare(barrier)\n",
    "root/plain.txt": "bare walls are super\n",
}


def found(index: Indexed, query: str, **params: object) -> set[str]:
    answer = index.ask(query, typing=True, **params)
    assert "did_you_mean" not in answer.extras, query
    return {hit["relative_path"] for hit in answer.hits}


def test_every_beginning_of_a_word_finds_it(indexed: Indexed) -> None:
    for word in ("xylophone", "renewal", "supervisor", "isolation"):
        for length in range(3, len(word) + 1):
            assert "music.txt" in found(indexed, word[:length]), word[:length]
            assert "music.txt" in found(indexed, f"walls {word[:length]}"), word[:length]
    assert found(indexed, "get_http_resp") == {"code.py"}


def test_every_beginning_of_a_name_finds_it(index: Indexed) -> None:
    index.write("root/net/shown.c", "int btf_show_all(void);\n#define BTF_SEQ_LEN 3\n")
    index.write("root/net/other.c", "int btf;\nint show_all;\n")
    for name in ("btf_show_all", "BTF_SEQ_LEN", "net/shown.c"):
        for length in range(len("btf_s"), len(name) + 1):
            assert found(index, name[:length]) == {"net/shown.c"}, name[:length]
    hits = index.search("btf_s", typing=True)
    assert [hit["text"] for hit in hits] == ["int btf_show_all(void);"]
    assert found(index, "-path:shown btf_s") == {"net/other.c"}, "its first word, as no name begins so"


def test_no_statement_gathers_the_words_that_begin_with_a_letter_or_two(
    index: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.write("root/net/a.c", "int btf_show(void);\nint btf_seq;\n")
    searched = expressions(monkeypatch)
    for query in ("btf_s", "btf_se", "net/a", "net/a.c", "int btf_s", "_s", "btf_sho"):
        assert found(index, query) == {"net/a.c"}, query
    assert index.found("btf_s") == ["net/a.c"]
    assert [expression for expression in searched if re.search(r'"[^"]* sho" \*', expression)], (
        "but from three letters on"
    )
    assert not [expression for expression in searched if re.search(r'["\s]\w{1,2}" \*', expression)]
    index.search("net/bt", typing=True)
    assert '"net bt" *' not in searched


def test_what_follows_the_first_words_of_a_name_is_looked_up_once(
    index: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.write("root/net/a.py", "def btf_show(shown):\n    pass\n")
    index.write("root/lib/b.py", "btf_show(1)\n")
    searched = expressions(monkeypatch)
    assert index.search("btf_s", typing=True)[0]["relative_path"] == "net/a.py"
    assert 'symbols : ("btf show")' in searched, "its definition"
    assert searched.count('body : "btf"') == 1


def test_no_correction_replaces_the_last_word(indexed: Indexed) -> None:
    assert found(indexed, "barr") == {"code.py"}, "and not bare"
    assert found(indexed, "superv") == {"music.txt"}, "and not super"
    assert found(indexed, "xylx") == set()
    assert found(indexed, "zither") == set(), "and not either"
    assert indexed.ask("bara wal", typing=True).extras["did_you_mean"]["query"] == "bare wal"


def test_a_word_that_is_finished_is_no_beginning(indexed: Indexed) -> None:
    for query in ("isolat ", '"isolat"', "path:isolat", "-isolat", "i"):
        assert indexed.ask(query, typing=True).hits == indexed.ask(query).hits, query
    assert found(indexed, "lang:python barr") == {"code.py"}


def test_the_whole_word_comes_before_those_that_begin_with_it(index: Indexed) -> None:
    index.write("root/a.txt", "cart carton cartridge\n")
    index.write("root/b.txt", "carton carton carton\n")
    index.write("root/c.txt", "car\n")
    hits = index.ask("car", typing=True).hits
    assert hits[0]["relative_path"] == "c.txt"
    assert len(hits) == 3


def test_an_empty_query_lists_what_changed_last(index: Indexed) -> None:
    index.write("root/old.txt", "one\n", mtime=1_700_000_000)
    index.write("root/new.txt", "two\n\nthree\n", mtime=1_800_000_000)
    hits = index.ask("", typing=True).hits
    assert [(hit["relative_path"], hit["line"], hit["text"]) for hit in hits] == [
        ("new.txt", 1, "two"),
        ("old.txt", 1, "one"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("mode", ["auto", "exact"])
def test_the_first_match_has_a_line_and_a_column_in_utf8(index: Indexed, encoding: str, mode: str) -> None:
    text = "größe\r\n\r\ndie Straße hat ein xylophone, größer als alle anderen Größen\r\nxylophone\r\n"
    index.write("root/a.txt", text.encode(encoding))
    hit = index.ask("xylophone", mode=mode).hits[0]
    assert (hit["line"], hit["text"]) == (3, "die Straße hat ein xylophone, größer als alle anderen Größen")
    assert hit["text"].encode()[hit["column"] - 1 :].startswith(b"xylophone")


@pytest.mark.parametrize("mode", ["auto", "exact"])
def test_of_a_very_long_line_only_the_snippet_is_given(index: Indexed, mode: str) -> None:
    ahead = "é" * (4 * CONTEXT_CHARS)
    index.write("root/a.txt", f"first\n{ahead} xylophone {ahead}\n")
    hit = index.ask("xylophone", mode=mode).hits[0]
    assert (hit["line"], hit["column"]) == (2, len(ahead.encode()) + 2)
    assert hit["text"] == hit["snippet"]
    assert "xylophone" in hit["text"]


@given(st.lists(st.text(st.sampled_from("aé🙂 \t"), max_size=9), min_size=1, max_size=6), st.integers(1, 60))
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_line_column_and_text_agree_with_the_file(index: Indexed, rows: list[str], chars: int) -> None:
    lines = [*rows, f"{rows[0]} xylophone {rows[-1]}"]
    index.write("root/a.txt", "\n".join(lines))
    hit = index.ask("xylophone", max_snippet_chars=chars).hits[0]
    assert (hit["line"], hit["column"], hit["text"]) == (len(lines), len(rows[0].encode()) + 2, lines[-1])
