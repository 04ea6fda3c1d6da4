"""What a search finds (words, phrases, prefixes, exclusions, paths), and the fields of a hit."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import msgspec
import pytest

from helpers.indexed_folder import LINES, SIGNATURE, Indexed, chunked


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
        "snippet_byte": 11, "highlights": [[4, 9]], "line": 12, "column": 5, "text": "def alpha():",
        "modified_at": "2023-11-14T22:13:20.250Z",
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


def test_all_phrases_wherever_they_are(index: Indexed) -> None:
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


def test_words_with_a_hyphen_and_without(index: Indexed) -> None:
    index.write("root/a.txt", "a Built-in function\n")
    index.write("root/b.txt", "the builtin ones\n")
    index.write("root/c.txt", "built with it\n")
    assert set(index.found("builtins")) == {"a.txt", "b.txt"}
    assert [marked(hit) for hit in index.search("builtin")] == [["builtin"], ["Built-in"]]
    assert index.found("built-in") == ["a.txt"], "what stands somewhere as it is typed is asked for as it is typed"
    assert set(index.found("built* -builtin")) == {"c.txt"}


def test_what_is_nowhere_with_a_hyphen_is_found_without(index: Indexed) -> None:
    index.write("root/a.txt", "an email to all\n")
    index.write("root/b.txt", "plan b, and male\n")
    assert index.found("e-mail") == ["a.txt"]
    assert "did_you_mean" not in index.ask("plan e-mails").extras
    assert index.found("x-mail") == []


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


@pytest.mark.parametrize("query", ['"->"', '"__"', '"->" "=="', '-> "__"'])
def test_a_phrase_without_words_finds_nothing(index: Indexed, query: str) -> None:
    """No term is left, which is not the same as a query for everything."""
    index.write("root/a.txt", "apple -> __\n")
    answer = index.ask(query)
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
    index.write("root/b.txt", "a walrus\n")
    nowhere = " ".join(f"{first}{second}qx" for first in "abcdefgh" for second in "klmnopqrs")
    assert index.found(f"{nowhere} walrus") == ["b.txt"]


def test_a_word_is_found_in_its_own_chunk_alone(index: Indexed) -> None:
    """The text before a chunk is its context: shown with it, but not a reason to find it."""
    index.write("root/a.txt", "filler\n" * (LINES - 1) + "walrus\n" + "filler\n" * LINES)
    (hit,) = index.search("walrus")
    assert marked(hit) == ["walrus"]


def test_a_word_torn_by_a_cut_is_found(index: Indexed) -> None:
    text = "x" * 5 + " " + "hippopotamus" + " y"
    whole = chunked(text.encode())
    first, second = whole.chunks[0], whole.chunks[0]
    at = text.index("potamus")
    pieces = [
        msgspec.structs.replace(first, text=text[:at], end_byte=at),
        msgspec.structs.replace(second, ordinal=1, text=text[at:], context=text[:at], start_byte=at),
    ]
    (index.folder / "root/a.txt").write_text(text)
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    terms = [*whole.terms, *whole.terms]
    index.store.add_content(digest, SIGNATURE, len(text), msgspec.structs.replace(whole, chunks=pieces, terms=terms))
    index.index("root/a.txt")
    assert index.found("hippopotamus") == ["a.txt"]


def test_a_path_finds_the_file_that_is_there(index: Indexed) -> None:
    for path in ("drivers/net/tun.c", "drivers/net/port_tun.c", "drivers/usb/tun.c", "net/readme.txt"):
        index.write(f"root/{path}", f"nothing of it, number {path[::-1]}\n")
    index.write("root/docs/tuntap.txt", "as drivers/net/tun.c has it, and net/tun.c\n")
    assert index.found("drivers/net/tun.c")[:2] == ["drivers/net/tun.c", "docs/tuntap.txt"]
    for query in ("net/tun.c", "drivers/net/tun", "drivers/net/tu*"):
        found = index.found(query)
        assert {"drivers/net/tun.c", "docs/tuntap.txt"}.issubset(found), query
        assert "drivers/usb/tun.c" not in found, query
    assert index.found("usb/tun.c") == ["drivers/usb/tun.c"]
    assert "drivers/net/tun.c" not in index.found("nothing -drivers/net/tun.c")
    assert index.ask("usb/tun.c", facets=["languages"]).extras["facets"] == {"languages": {"c": 1}}


@pytest.mark.parametrize("query", ["walrus(x)", "x=walrus", "no/such/walrus.c", "walrus[17]", "a\0walrus"])
def test_what_is_no_name_is_taken_apart(index: Indexed, query: str) -> None:
    index.write("root/a.txt", "the walrus\n")
    assert index.found(query) == ["a.txt"]


def test_a_word_is_not_cut_at_its_letters_beyond_ascii(index: Indexed) -> None:
    index.write("root/a.txt", "Gr e is no word\n")
    index.write("root/b.txt", "die Größe\n")
    assert index.found("größe walrus") == ["b.txt"]
    assert index.found("GrößeÄndern walrus") == []
