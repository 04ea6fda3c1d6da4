"""Agent memory without a daemon: what is kept, what is found, and that nothing typed is an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.support import examples
from livedex_daemon.knowledge.agent_memory import NewEntry
from livedex_daemon.knowledge.hot_memory import HALF_LIFE_S, Candidate, hot_text
from livedex_daemon.knowledge.knowledge_store import KnowledgeStore
from livedex_daemon.knowledge.memory_query import memory_query
from livedex_daemon.precious import precious_database
from livedex_daemon.precious.precious_database import DatabaseUnusable


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    opened = KnowledgeStore(str(tmp_path / "knowledge.db"))
    yield opened
    opened.close()


def contents(store: KnowledgeStore, query: str, limit: int = 10, domains: tuple[str, ...] | None = None) -> list[str]:
    return [entry["content"] for entry in store.search(query, limit, domains)]


def test_a_domain_keeps_the_same_content_once(store: KnowledgeStore) -> None:
    first = store.add(NewEntry("the lease lasts thirty days", "a"))
    assert first == (1, True)
    assert store.add(NewEntry("the lease lasts thirty days", "a", heading="another")) == (1, False)
    assert store.add(NewEntry("the lease lasts thirty days", "b")) == (2, True)
    assert store.counts()[:2] == (2, {"a": 1, "b": 1})


def test_what_is_deleted_is_not_found_and_its_id_is_not_used_again(store: KnowledgeStore) -> None:
    number, _ = store.add(NewEntry("a walrus"))
    assert store.remove(number) and not store.remove(number)
    assert contents(store, "walrus") == [] and store.page(None, None, 10, 0) == ([], 0)
    assert store.add(NewEntry("a walrus")) == (number + 1, True)
    assert contents(store, "walrus") == ["a walrus"]


def test_the_words_of_a_deleted_entry_are_gone(tmp_path: Path, store: KnowledgeStore) -> None:
    store.remove(store.add(NewEntry("a walrus"))[0])
    db = apsw.Connection(str(tmp_path / "knowledge.db"), flags=apsw.SQLITE_OPEN_READONLY)
    assert db.execute("SELECT count(*) FROM words WHERE words MATCH 'walrus'").get == 0
    db.close()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("leases", ["a lease lasts"]),  # stemmed
        ("who needs a lease", ["a lease lasts"]),  # the other words are common
        ('"lasts lease"', []),
        ('"lease lasts"', ["a lease lasts"]),
        ("leas*", ["a lease lasts"]),
        ("response", ["call getHTTPResponse"]),  # a part of a name
        ("getHTTPResponse", ["call getHTTPResponse"]),
        ("東京", ["東京都に住む"]),
        ("Zoe", ["Zoë calls"]),
        ("call -Zoë", ["call getHTTPResponse"]),
        ("title", ["of the heading"]),
        ("%", ["100 % sure"]),  # no word: the text as typed
        ("seldom", []),
    ],
)
def test_a_query_finds(store: KnowledgeStore, query: str, expected: list[str]) -> None:
    for text in ("a lease lasts", "call getHTTPResponse", "東京都に住む", "Zoë calls", "100 % sure"):
        store.add(NewEntry(text))
    store.add(NewEntry("of the heading", heading="The title"))
    assert contents(store, query) == expected


def test_more_words_found_and_rarer_ones_come_first(store: KnowledgeStore) -> None:
    for number in range(20):
        store.add(NewEntry(f"the cache of part {number} is warm"))
    store.add(NewEntry("the eviction of the cache"))
    assert contents(store, "cache eviction", 1) == ["the eviction of the cache"]


def test_only_the_asked_domains_are_searched(store: KnowledgeStore) -> None:
    for domain in ("a", "b", "c"):
        store.add(NewEntry("the walrus", domain))
    found = store.search("walrus", 10, ("a", "c"))
    assert {entry["domain"] for entry in found} == {"a", "c"}
    assert store.search("walrus", 10, ()) == []


def test_a_search_notes_that_entries_were_used(store: KnowledgeStore) -> None:
    store.add(NewEntry("the walrus"))
    store.add(NewEntry("the goat"))
    contents(store, "walrus")
    contents(store, "walrus")
    uses = {
        entry["content"]: (entry["uses"], entry["used_at"] is None) for entry in store.page(None, None, 9, 0).entries
    }
    assert uses == {"the walrus": (2, False), "the goat": (0, True)}


def test_what_cannot_be_noted_is_found(store: KnowledgeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add(NewEntry("the walrus"))
    monkeypatch.setattr(precious_database, "BUSY_S", 0.05)
    other = apsw.Connection(str(tmp_path / "knowledge.db"))
    with other:  # nobody else can write
        other.execute("UPDATE entries SET uses = 5")
        assert contents(store, "walrus") == ["the walrus"]
    assert [entry["uses"] for entry in store.search("walrus", 1, None)] == [5]
    other.close()


def test_the_newest_come_without_words(store: KnowledgeStore) -> None:
    for text in ("one", "two", "three"):
        store.add(NewEntry(text))
    assert contents(store, "", 2) == ["three", "two"]


def test_entries_are_listed_in_pages(store: KnowledgeStore) -> None:
    for number in range(5):
        store.add(NewEntry(f"text {number}", kind="finding" if number == 3 else "chunk"))
    page = store.page("general", None, 2, 1)
    assert ([entry["content"] for entry in page.entries], page.total) == (["text 1", "text 2"], 5)
    assert [entry["content"] for entry in store.page(None, "finding", 9, 0).entries] == ["text 3"]


def test_a_page_is_bounded(store: KnowledgeStore) -> None:
    """A thousand entries of the largest size would take more than a gigabyte in the daemon."""
    for number in range(40):
        store.add(NewEntry(f"{number} " + "x" * (200 << 10)))
    sizes: list[int] = []
    while (page := store.page(None, None, 1000, sum(sizes))).entries:
        assert [entry["id"] for entry in page.entries] == [sum(sizes) + 1 + place for place in range(len(page.entries))]
        assert page.total == 40
        sizes.append(len(page.entries))
    assert sizes == [20, 20]
    store.add(NewEntry("small", metadata={"large": "x" * (5 << 20)}))
    assert [len(store.page(None, None, 1000, offset).entries) for offset in (39, 40)] == [1, 1]


def test_the_fields_come_back(store: KnowledgeStore) -> None:
    store.add(NewEntry("the text", "people", "finding", "A heading", "a source", {"confidence": "high", "n": [1]}))
    (entry,) = store.page(None, None, 1, 0).entries
    assert entry["created_at"] is not None
    assert {name: value for name, value in entry.items() if name != "created_at"} == {
        "id": 1,
        "content": "the text",
        "domain": "people",
        "heading": "A heading",
        "kind": "finding",
        "source": "a source",
        "score": 0.0,
        "used_at": None,
        "uses": 0,
        "metadata": {"confidence": "high", "n": [1]},
    }


@settings(max_examples=examples(100))
@given(st.text(max_size=40))
def test_no_query_is_an_error(query: str) -> None:
    compiled = memory_query(query)
    if not compiled.is_empty:
        assert compiled.match() and compiled.ranking()


def test_no_query_is_an_error_for_the_store(store: KnowledgeStore) -> None:
    store.add(NewEntry("the walrus"))
    signs = [
        '"',
        '""',
        '"a',
        "*",
        "a*",
        "-",
        "--",
        "-a",
        "NEAR(a b)",
        "a OR",
        "AND",
        "a:b",
        "path:x",
        "^a",
        "{",
        "\0",
        "\\",
        "''",
    ]
    for query in (*signs, *(f"walrus {sign}" for sign in signs), "x " * 500):
        store.search(query, 5)


def test_a_whole_file_may_be_the_query(store: KnowledgeStore) -> None:
    """An agent pastes one. The text as typed is looked for where no word is found, whatever its length and case."""
    text = "\n".join(f"foo_bar{number} = 100 % sure" for number in range(4000))
    store.add(NewEntry("the walrus"))
    store.add(NewEntry("Before " + text[:200_000].upper()))
    assert contents(store, "qq_" * 30_000) == []
    assert len(contents(store, text)) == 1


def test_hot_memory_is_what_was_used_last_and_most(store: KnowledgeStore) -> None:
    for text in ("the walrus", "the goat", "the seal"):
        store.add(NewEntry(text))
    for _ in range(3):
        contents(store, "goat")
    assert store.hot(6000).split("\n\n")[0] == "the goat"
    assert store.hot(9) == "the goat"


def test_an_entry_that_was_not_used_for_weeks_cools_down() -> None:
    often_then = Candidate(None, "often, a month ago", 9, 4 * HALF_LIFE_S)
    once_now = Candidate("Today", "once, today", 0, 0.0)
    assert hot_text([often_then, once_now], 100) == "Today\nonce, today\n\noften, a month ago"


candidates = st.builds(
    Candidate,
    st.none() | st.text(max_size=10),
    st.text(min_size=1, max_size=30),
    st.integers(0, 5),
    st.floats(0, 1e8),
)


@settings(max_examples=examples(100))
@given(st.lists(candidates, max_size=8), st.integers(1, 80))
def test_hot_memory_is_never_longer_than_asked(found: list[Candidate], max_chars: int) -> None:
    text = hot_text(found, max_chars)
    assert len(text) <= max_chars
    assert bool(text) == bool(found)


def test_a_damaged_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "knowledge.db"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(DatabaseUnusable, match=r"agent memory .* is damaged"):
        KnowledgeStore(str(path))
    assert path.read_bytes() == b"not a database" * 100
