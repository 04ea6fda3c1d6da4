"""Words that are nowhere in the index are replaced by similar ones, and the answer says so."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.indexed_folder import LINES, Indexed
from livedex_indexing.query.query_parser import with_words
from livedex_indexing.query.spell_repair import REPAIRED
from livedex_indexing.query.spelling import Near, distance, mistakes_allowed, nearest
from livedex_indexing.store.read_pool import DeadlinePassed, ReadPool
from livedex_ipc.errors import Cancelled

WORDS = st.text("abc", min_size=1, max_size=7)


def meant(index: Indexed, query: str, **params: Any) -> str | None:
    """Return the suggested query."""
    said = index.ask(query, **params).extras.get("did_you_mean")
    assert said is None or said["applied"] is True
    return None if said is None else said["query"]


def near(index: Indexed, word: str) -> list[Near]:
    with index.pool.connection() as reader:
        return list(nearest(reader, word))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("same", "same", 0),
        ("recieve", "receive", 1),  # exchanged
        ("alocate", "allocate", 1),
        ("allocatte", "allocate", 1),
        ("allocste", "allocate", 1),
        ("alocatte", "allocate", 2),
        ("ca", "abc", 3),  # no letter is changed twice: the unrestricted distance is 2
        ("", "ab", 2),
        ("größe", "grösse", 2),
    ],
)
def test_the_distance_counts_mistakes(left: str, right: str, expected: int) -> None:
    for most in (1, 2, 3):
        assert distance(left, right, most) == distance(right, left, most) == min(expected, most + 1)


def slow_distance(left: str, right: str) -> int:
    """The definition, letter by letter from the end."""

    @cache
    def away(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        ways = [away(i - 1, j) + 1, away(i, j - 1) + 1, away(i - 1, j - 1) + (left[i - 1] != right[j - 1])]
        if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
            ways.append(away(i - 2, j - 2) + 1)
        return min(ways)

    return away(len(left), len(right))


@given(WORDS, WORDS, st.integers(0, 4))
def test_the_distance_is_the_definition(left: str, right: str, most: int) -> None:
    assert distance(left, right, most) == min(slow_distance(left, right), most + 1)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Indexed, list[str]]]:
    words = ["".join(letters) for size in range(3, 7) for letters in itertools.product("abc", repeat=size)][::3]
    with Indexed(tmp_path_factory.mktemp("small")) as made:
        made.write("root/words.txt", "\n".join(words) + "\n")
        yield made, words


@given(st.text("abcd", min_size=4, max_size=8))
def test_all_nearest_words_with_the_same_first_letter_are_found(small: tuple[Indexed, list[str]], word: str) -> None:
    index, words = small
    most = mistakes_allowed(word)
    away = {other: slow_distance(word, other) for other in words}
    expected = {Near(other, count) for other, count in away.items() if 0 < count <= most}
    found = near(index, word)
    alike = [each for each in expected if each.word[0] == word[0]]
    least = min((each.mistakes for each in found), default=most + 1)
    assert found == sorted(each for each in expected if each in found and each.mistakes == least)
    assert all(each.mistakes >= least for each in alike)
    assert set(found) >= {each for each in alike if each.mistakes == least}


@pytest.mark.parametrize(
    "typed", ["cheduler", "csheduler", "xscheduler", "sxcheduler", "shceduler", "schedulre", "scheduerl"]
)
def test_mistakes_are_found_wherever_they_are(index: Indexed, typed: str) -> None:
    index.write("root/a.txt", "the scheduler\n")
    assert [each.word for each in near(index, typed)] == ["scheduler"]
    assert meant(index, typed) == "scheduler"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("igmpsnooping", "igmp snooping"),
        ("Igmpsnooping of switches", "Igmp snooping of switches"),
        ("switchport", "switch port"),  # not "switc hport", nor one of the words that stand apart
        ("snoopingigmp", None),  # never in this order
        ("andsnooping", None),  # a stop word
        ("igmpsnoping", None),  # one of them is misspelt
    ],
)
def test_words_that_were_typed_as_one(index: Indexed, typed: str, expected: str | None) -> None:
    index.write("root/a.txt", "IGMP snooping: the switch and snooping, and a port. A switch port.\n")
    assert meant(index, typed) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("setokport", "set_ok_port"),
        ("SETOKPORT", "set_ok_port"),
        ("testforcloader", "test_for_c_loader"),  # a stop word and a single letter
        ("lamp2readwatts", "lamp2_read_watts"),
        ("setokportal", None),  # no name
        ("okset", None),  # not in this order
    ],
)
def test_the_words_of_a_name_that_were_typed_as_one(index: Indexed, typed: str, expected: str | None) -> None:
    names = ["set_ok_port", "test_for_c_loader", "lamp2_read_watts"]
    index.write("root/a.py", "".join(f"def {name}():\n    return portal\n\n\n" for name in names))
    index.write("root/b.py", "# set ok, port for c, loader test\n" * 9)
    assert meant(index, typed) == expected
    hits = index.search(typed)
    assert expected is None or f"def {expected}" in hits[0]["snippet"]


def test_a_name_of_very_short_parts_is_meant_only_where_it_is_typed_alone(index: Indexed) -> None:
    index.write("root/a.py", "def is_c_ats():\n    return the_cat\n")
    index.write("root/b.py", "# the iscars loader\n")
    assert meant(index, "iscats") == "is_c_ats"
    assert meant(index, "loader iscats") == "loader iscars"


def test_a_short_word_counts_as_soon_and_as_long_as_a_file_has_it(index: Indexed) -> None:
    index.write("root/a.txt", "an owl in the house\n")
    assert meant(index, "owlbat") is None
    index.write("root/b.txt", "an owl, a bat; owl bat\n")
    assert meant(index, "owlbat") == "owl bat"
    index.remove("root/b.txt")
    assert meant(index, "owlbat") is None


def test_a_name_that_no_file_has_any_more_is_not_meant(index: Indexed) -> None:
    index.write("root/a.py", "def set_port(ok):\n    return ok\n")
    index.write("root/b.py", "def set_ok_port():\n    pass\n")
    assert meant(index, "setokport") == "set_ok_port"
    index.remove("root/b.py")
    assert meant(index, "setokport") != "set_ok_port"


def test_a_sentence_is_taken_apart_too(index: Indexed) -> None:
    index.write("root/a.txt", "the lamp posts burn brightly\n")
    assert meant(index, "lamppostsburn") == "lamp posts burn"


def test_of_words_that_were_typed_as_one_the_commonest_count(index: Indexed) -> None:
    index.write("root/a.txt", "super bowls\n")
    index.write("root/b.txt", "superb owls\n")
    index.write("root/c.txt", "some superb owls\n")
    assert meant(index, "superbowls") == "superb owls"
    assert index.found("superbowls")[0] != "a.txt"


def test_other_alphabets_have_first_letters_too(index: Indexed) -> None:
    index.write("root/a.txt", "очередь größe\n")
    assert meant(index, "ачередь") == "очередь"
    assert meant(index, "чередь") == "очередь"
    assert meant(index, "gröse") == "größe"


def test_a_misspelt_word_is_found_said_and_marked(index: Indexed) -> None:
    index.write("root/a.txt", "We allocate a buffer here.\n")
    index.write("root/b.txt", "Nothing of it.\n")
    answer = index.ask("alocate")
    assert answer.extras["did_you_mean"] == {"query": "allocate", "applied": True}
    (hit,) = answer.hits
    assert [hit["snippet"][start:end] for start, end in hit["highlights"]] == ["allocate"]


def test_words_that_are_somewhere_stay(index: Indexed) -> None:
    index.write("root/a.txt", "allocate allocator\n")
    index.write("root/recieve.txt", "receive\n")
    assert meant(index, "allocate alocator") == "allocate allocator"
    assert meant(index, "allocator") is None
    assert meant(index, "allocating") is None  # its stem is there
    assert meant(index, "recieve") is None  # in a path
    assert meant(index, "entirelydifferent") is None


@pytest.mark.parametrize(
    "query",
    ["tre", "wth", '"alocate buffer"', "alocat*", "-alocate", "path:alocate", "tag:alocate", "al0cate7", "日本誤"],
)
def test_what_is_never_repaired(index: Indexed, query: str) -> None:
    index.write("root/a.txt", "tree with allocate7 allocate buffer 日本語\n")
    assert meant(index, query) is None


def test_short_words_bear_one_mistake_and_long_ones_two(index: Indexed) -> None:
    index.write("root/a.txt", "house garden\n")
    assert meant(index, "huse") == "house"
    assert meant(index, "hosue") == "house"
    assert meant(index, "huese") is None
    index.write("root/b.txt", "gardeners and watertight\n")
    assert meant(index, "grdenn") is None
    assert meant(index, "watertght") == "watertight"
    assert meant(index, "waetrtght") == "watertight"
    assert meant(index, "waetrtgh") is None


def test_only_ranked_search_repairs(index: Indexed) -> None:
    index.write("root/a.txt", "allocate\n")
    for mode in ("exact", "regex"):
        answer = index.ask("alocate", mode=mode)
        assert (answer.hits, dict(answer.extras)) == ([], {})


def test_the_rest_of_the_query_stays_as_it_was_typed(index: Indexed) -> None:
    index.write("root/a.md", "# Notes\n\nallocate a big buffer\n")
    query = '  Alocate   "big buffer" -alocate lang:markdown  BUFER, '
    assert meant(index, query) == '  Allocate   "big buffer" -alocate lang:markdown  BUFFER, '
    assert with_words("a b a -a", {"a": "x", "b": "y"}) == "x y x -a"
    assert index.found("alocate ext:md") == ["a.md"]
    assert index.found("alocate ext:txt") == []


@pytest.mark.parametrize("typed", ["Crane.read_limti", "Crane.read_limti()", "Crane::raed_limit(load)"])
def test_a_misspelt_member_is_the_definition_in_its_type(index: Indexed, typed: str) -> None:
    filler = "".join(f"        # step {number}\n" for number in range(LINES))
    member = "    def read_limit(self, load):\n        return load\n"
    index.write("root/crane.py", f"class Crane:\n    def lift(self):\n{filler}        return 1\n\n{member}")
    index.write("root/use.py", "Crane().limit(read)  # Crane, read Crane limit\n" * 9)
    (first, *_) = index.search(typed)
    assert "def read_limit" in first["snippet"]
    assert meant(index, typed) == typed.replace("raed", "read").replace("limti", "limit")


def test_parts_of_names_are_repaired(index: Indexed) -> None:
    index.write("root/a.py", "def getHTTPResponse():\n    return socket_buffer, response\n")
    assert meant(index, "socket_bufer") == "socket_buffer"
    assert meant(index, "socket_bufer.reponse()") == "socket_buffer.response()"
    assert meant(index, "readHTTPReponse") == "readHTTPResponse"
    assert meant(index, "getSocket") is None  # its parts are there, so it is not a mistake


def test_a_correction_is_spelt_as_in_the_files(index: Indexed) -> None:
    index.write("root/a.py", "deltaValue = 'In Zürich gibt es MEHL'\nfoo_Barely = 1\n")
    assert meant(index, "deltaVlaue()") == "deltaValue()"
    assert meant(index, "zurihc") == "zürich"
    assert meant(index, "ZURIHC Mehhl") == "ZÜRICH Mehl"
    assert meant(index, "foo_Barley") == "foo_Barely"


def test_a_correction_is_no_term(index: Indexed) -> None:
    index.write("root/a.txt", "path kind lang meta\n")
    assert meant(index, "kidn:code") is None
    assert meant(index, "kidn code") == "kind code"


def test_at_most_three_words_are_meant_and_the_nearest_first(index: Indexed) -> None:
    for number, text in enumerate(["carted", "carpet carved", "carpet", "carted", "carted", "carded carves"]):
        index.write(f"root/{number}.txt", f"{text} {number}\n")
    assert near(index, "carxed")[0] == Near("carted", 1)
    assert meant(index, "carxed") == "carted"
    found = index.found("carxed")
    assert set(found[:3]) == {"0.txt", "3.txt", "4.txt"}


def test_a_word_that_nobody_holds_any_more_is_neither_meant_nor_spared(index: Indexed) -> None:
    index.write("root/a.txt", "allocate\n")
    index.write("root/b.txt", "alocate\n")
    assert meant(index, "alocate") is None
    index.write("root/b.txt", "something else\n")
    assert meant(index, "alocate") == "allocate"
    assert index.found("alocate") == ["a.txt"]
    index.remove("root/a.txt")
    assert meant(index, "alocate") is None


def test_pages_are_repaired_alike(index: Indexed) -> None:
    for number in range(25):
        index.write(f"root/{number}.txt", f"allocate number{number}\n" + "filler\n" * number)
    whole = [hit["path"] for hit in index.search("alocate", limit=100)]
    pages = []
    for offset in range(0, 30, 10):
        answer = index.ask("alocate", limit=10, offset=offset)
        assert answer.extras["did_you_mean"] == {"query": "allocate", "applied": True}
        pages += [hit["path"] for hit in answer.hits]
    assert pages == whole
    assert len(set(pages)) == 25


def test_a_query_with_more_mistakes_than_are_repaired_means_the_same_each_time(index: Indexed) -> None:
    words = [f"{letter}andrel" for letter in "bcdfghklmnprst"]
    index.write("root/a.txt", " ".join(words) + "\n")
    query = " ".join(f"{word}x" for word in words)
    first = meant(index, query)
    assert first is not None
    assert first.split() == [*words[:REPAIRED], *query.split()[REPAIRED:]]
    assert meant(index, query) == first


def test_facets_count_what_was_meant(index: Indexed) -> None:
    index.write("root/a.py", "allocate = 1\n")
    answer = index.ask("alocate", facets=["languages"], group="file")
    assert answer.extras["facets"] == {"languages": {"python": 1}}
    assert answer.hits[0]["matches"] == 1


@pytest.mark.parametrize("old_s", [60.0, 0.0])
def test_only_a_search_that_does_not_wait_takes_what_a_word_meant_a_moment_ago(
    index: Indexed, monkeypatch: pytest.MonkeyPatch, old_s: float
) -> None:
    monkeypatch.setattr("livedex_indexing.query.word_counts.MISSED_S", old_s)
    index.write("root/a.txt", "mallory\n")
    assert meant(index, "alocate", fresh=False) is None
    index.write("root/b.txt", "allocate\n")
    assert (meant(index, "alocate", fresh=False) is None) == (old_s > 0)
    assert meant(index, "alocate") == "allocate"
    index.write("root/c.txt", "allocate\nlater\n")
    assert meant(index, "alocate", fresh=False) == "allocate", "what the last look found"


def test_what_a_word_meant_counts_as_long_as_it_is_there(index: Indexed) -> None:
    index.write("root/a.txt", "allocate\n")
    assert meant(index, "alocate", fresh=False) == "allocate"
    index.write("root/b.txt", "another\n")
    assert index.found("alocate", fresh=False) == ["a.txt"]
    root_id, path = index.root_of("root/a.txt")
    index.store.remove_files(root_id, [path], forget=True)
    while not index.store.maintain(60.0):
        pass
    index.write("root/c.txt", "alocute\n")
    assert meant(index, "alocate", fresh=False) == "alocute"


def test_all_pages_of_a_generation_mean_the_same(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livedex_indexing.query.word_counts.MISSED_S", 60.0)
    index.write("root/a.txt", "mallory\n")
    assert meant(index, "alocate") is None
    index.write("root/b.txt", "allocate\n")
    assert meant(index, "alocate", fresh=False) is None
    monkeypatch.setattr("livedex_indexing.query.word_counts.MISSED_S", 0.0)
    assert meant(index, "alocate", fresh=False, offset=10) is None
    index.write("root/c.txt", "another\n")
    assert meant(index, "alocate", fresh=False) == "allocate"


def test_a_query_of_many_mistakes_is_answered(index: Indexed) -> None:
    words = [f"{chr(97 + i)}{chr(97 + j)}ndrel" for i in range(20) for j in range(3)]
    index.write("root/a.txt", " ".join(words) + "\n")
    assert index.found(" ".join(word + "x" for word in words)) == ["a.txt"]


def test_looking_for_words_ends_with_the_search(index: Indexed) -> None:
    index.write("root/a.txt", "allocate\n")
    pool = ReadPool(index.database)
    with pool.connection() as reader:
        reader.limit(time.monotonic() - 1, bool)
        with pytest.raises(DeadlinePassed):
            list(nearest(reader, "alocate"))
        reader.limit(float("inf"), lambda: True)
        with pytest.raises(Cancelled):
            list(nearest(reader, "alocate"))
    pool.close()
