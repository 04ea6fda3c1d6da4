"""What clients of standing queries are sent, step by step, over a real index: it adds up, and nothing is stale."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.indexed_folder import Indexed
from helpers.subscription_client import Place, place_of
from helpers.support import examples
from livedex_daemon.subscriptions import answer_diff
from livedex_daemon.subscriptions import subscription as subscriptions
from livedex_daemon.subscriptions.answer_diff import AnswerDiff, ChangeSets
from livedex_daemon.subscriptions.delivered import DeliveredFile, DeliveredState
from livedex_daemon.subscriptions.subscription import Dirty, Subscription
from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.search.standing_query import FileKey, standing_query

QUERIES = ("alpha", "alpha beta", '"alpha beta"', "alpha -gamma", "beta path:sub", "")


class Recorded:
    """Replaces a request's call: keeps what is sent."""

    def __init__(self) -> None:
        self.connection_closed = object()
        self.behind = False
        self.sent: list[dict[str, Any]] = []

    def send_from_thread(self, message: bytes) -> None:
        self.sent.append(json.loads(message)["params"])


class Rounds:
    """An index, standing queries over it, and the rounds that send their changes."""

    def __init__(self, indexed: Indexed, queries: tuple[str, ...]) -> None:
        self.indexed = indexed
        self.delivered = DeliveredState()
        self.dirty = Dirty()
        indexed.store.on_change = self.dirty.add
        self.queries = [self.subscribe(number, query) for number, query in enumerate(queries)]

    def subscribe(self, number: int, query: str) -> Subscription:
        call: Any = Recorded()
        made = Subscription(number, call, standing_query(SearchRequest(query)), Style(400, 0, False, False))
        made.add_pending((), self.indexed.roots, 0.0)
        return made

    def round(self, only: int | None = None) -> None:
        """Send to all, or to one of them while the changes of the others stay pending."""
        dirty = self.dirty.take()
        with self.indexed.pool.connection() as reader, reader.snapshot():
            change_sets = ChangeSets(reader, self.delivered)
            diff = AnswerDiff(
                reader, self.delivered, self.indexed.roots, self.indexed.roots, self.indexed.store.generation
            )
            for each in self.queries:
                each.add_pending(dirty.files, dirty.roots, 0.0)
                if only is None or each.id == only:
                    left, stale = diff.notify(each, change_sets.at(each.pending.take()))
                    each.add_pending(left | stale.keys(), (), 0.0)

    def sent(self, number: int = 0) -> list[dict[str, Any]]:
        call: Any = self.queries[number].call
        sent: list[dict[str, Any]] = call.sent
        return sent

    def held(self, number: int = 0) -> Counter[Place]:
        """The sum of the messages."""
        held: Counter[Place] = Counter()
        for change in self.sent(number):
            for hit in change["removed"]:
                assert held[place_of(hit)] > 0, f"never reported: {hit}"
                held[place_of(hit)] -= 1
            held = +held
            held.update(map(place_of, change["added"]))
        return held


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Rounds]:
    with Indexed(tmp_path) as indexed:
        made = Rounds(indexed, ("alpha",))
        yield made
        made.delivered.close()


def names(hits: list[dict[str, Any]]) -> list[str]:
    return [hit["relative_path"] for hit in hits]


def test_a_file_that_changed_meanwhile_is_not_shown_as_it_was(one: Rounds) -> None:
    one.indexed.write("root/a.txt", "alpha one\n")
    one.round()
    one.indexed.write("root/a.txt", "alpha two\n")
    (one.indexed.folder / "root/a.txt").write_text("alpha three, longer\n")
    one.round()
    assert names(one.sent()[-1]["removed"]) == ["a.txt"] and one.sent()[-1]["added"] == []
    one.round()
    assert len(one.sent()) == 2, "what is in doubt is no news"
    one.indexed.index("root/a.txt")
    one.round()
    assert [hit["snippet"] for hit in one.sent()[-1]["added"]] == ["alpha three, longer"]
    assert one.sent()[-1]["removed"] == []


def test_a_phrase_in_doubt_keeps_what_was_sent(one: Rounds) -> None:
    made = Rounds(one.indexed, ('"alpha one"',))
    made.indexed.write("root/a.txt", "alpha one\n")
    made.round()
    made.indexed.write("root/a.txt", "alpha one and more\n")
    (made.indexed.folder / "root/a.txt").write_text("no such thing at all\n")
    made.round()
    assert len(made.sent()) == 1
    made.indexed.index("root/a.txt")
    made.round()
    assert names(made.sent()[-1]["removed"]) == ["a.txt"]
    made.delivered.close()


def test_the_same_state_is_sent_once(one: Rounds) -> None:
    one.indexed.write("root/a.txt", "alpha one\n")
    one.round()
    one.indexed.index("root/a.txt")
    one.dirty.add((), [1])
    one.round()
    assert len(one.sent()) == 1


def test_a_large_change_comes_in_several_messages(one: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_diff, "MESSAGE_CHARS", 10_000)
    for number in range(40):
        one.indexed.write(f"root/{number:02}.txt", f"alpha {number}\n")
    one.round()
    assert 0 < len(one.sent()[0]["added"]) < 40
    while one.queries[0].pending:
        one.round()
    added = [name for change in one.sent() for name in names(change["added"])]
    assert added == [f"{number:02}.txt" for number in range(40)]


def test_a_file_with_many_hits_comes_and_goes_in_several_messages(one: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_diff, "MESSAGE_CHARS", 3_000)

    def written(text: str) -> list[dict[str, Any]]:
        before = len(one.sent())
        if text:
            one.indexed.write("root/a.txt", text)
        else:
            one.indexed.store.remove_files(1, [b"a.txt"])
        one.round()
        while one.queries[0].pending:
            one.round()
        return one.sent()[before:]

    first = written("alpha one\n" * 400)
    whole = one.held()
    assert sum(whole.values()) == 40
    assert len(first) >= 10
    second = written("alpha two\n" * 300)
    assert sum(one.held().values()) == 30
    assert not one.held() & whole
    third = written("")
    assert not one.held()
    assert all(len(change["added"]) <= 4 and len(change["removed"]) <= 10 for change in (*first, *second, *third))


def test_many_files_are_owed_as_whole_roots(one: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "MAX_FILES", 10)
    for number in range(40):
        one.indexed.write(f"root/{number:02}.txt", f"alpha {number}\n")
    assert (one.dirty.files, one.dirty.roots) != (set(), set()) and len(one.dirty.files) <= 10
    one.round()
    one.indexed.store.remove_files(1, [b"%02d.txt" % number for number in range(1, 40)])
    assert one.dirty.roots == {1}
    one.round()
    assert [place.path.rpartition("/")[2] for place in one.held()] == ["00.txt"]


def test_a_root_that_is_no_more_is_taken_back(one: Rounds) -> None:
    one.indexed.write("root/a.txt", "alpha one\n")
    one.round()
    one.indexed.store.drop_root(1)
    one.round()
    (gone,) = one.sent()[-1]["removed"]
    assert gone == {
        "path": str(one.indexed.folder / "root/a.txt"),
        "root": str(one.indexed.folder / "root"),
        "relative_path": "a.txt",
        "kind": "plain",
        "start_line": 1,
        "end_line": 1,
        "content_hash": one.sent()[0]["added"][0]["content_hash"],
    }


def test_what_was_sent_is_dropped_with_its_query() -> None:
    delivered = DeliveredState()
    entry = DeliveredFile(b"h" * 16, b"")
    delivered.put(1, {(1, b"a"): entry, (2, b"b"): entry})
    delivered.put(2, {(1, b"a"): entry})
    assert delivered.roots() == {1, 2}
    delivered.put(1, {(2, b"b"): None})
    assert delivered.of_files([(1, b"a"), (2, b"b")]) == {1: {(1, b"a"): entry}, 2: {(1, b"a"): entry}}
    delivered.forget([1])
    assert delivered.of_roots(1, [1, 2]) == {} and delivered.of_roots(2, [1]) == {(1, b"a"): entry}
    delivered.close()


def test_a_file_in_doubt_is_owed_again_later_and_later() -> None:
    call: Any = Recorded()
    made = Subscription(1, call, standing_query(SearchRequest("x")), Style(400, 0, False, False))
    key: FileKey = (1, b"a")
    made.retry_later([key], 100.0)
    made.retry_later([key], 100.1)
    made.retry(100.1)
    assert not made.pending and made.retry_at == 100.0 + subscriptions.RETRY_S
    made.retry(100.2)
    assert made.pending.take().files == {key} and made.retry_at == float("inf")
    made.retry_later([key], 101.0)
    assert made.retry_at == 101.0 + 2 * subscriptions.RETRY_S
    made.retry(102.0)
    made.settled()
    made.retry_later([key], 103.0)
    assert made.retry_at == 103.0 + subscriptions.RETRY_S


def test_quick_subscriptions_come_first_and_none_waits_for_ever() -> None:
    call: Any = Recorded()
    quick, slow = (
        Subscription(n, call, standing_query(SearchRequest("x")), Style(400, 0, False, False)) for n in (1, 2)
    )
    slow.notify_s = 0.5
    assert quick.due_order(100.0) < slow.due_order(100.0)
    slow.add_pending([(1, b"a")], (), 100.0)
    assert slow.due_order(103.0) < quick.due_order(103.0)


NAMES = st.sampled_from(["a.txt", "b.txt", "sub/c.txt", "sub/d.md"])
TEXTS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "alpha beta", "\n" * 9, "the"]), max_size=6).map("\n".join)
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, TEXTS),
    st.tuples(st.just("change unheard"), NAMES, TEXTS),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("remove"), NAMES),
    st.tuples(st.just("round"), st.one_of(st.none(), st.integers(0, len(QUERIES) - 1))),
    st.tuples(st.just("root"), st.booleans()),
)


def carry_out(made: Rounds, step: tuple[Any, ...]) -> None:
    indexed, (what, *rest) = made.indexed, step
    if what == "write":
        indexed.write(f"root/{rest[0]}", rest[1])
    elif what == "round":
        made.round(rest[0])
    elif what == "root":
        indexed.store.set_root(1, missing_since=1.0 if rest[0] else None)
    elif (indexed.folder / "root" / rest[0]).exists():
        if what == "change unheard":
            (indexed.folder / "root" / rest[0]).write_text(rest[1])
        elif what == "remove":
            indexed.remove(f"root/{rest[0]}")
        elif rest[0] != rest[1]:
            target = indexed.folder / "root" / rest[1]
            target.parent.mkdir(exist_ok=True)
            (indexed.folder / "root" / rest[0]).rename(target)
            with indexed.store.transaction():
                indexed.store.remove_files(1, [rest[0].encode()])
                indexed.index(f"root/{rest[1]}")


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(STEPS, max_size=30))
def test_whatever_happens_what_is_sent_adds_up(tmp_path_factory: pytest.TempPathFactory, steps: list[Any]) -> None:
    with Indexed(tmp_path_factory.mktemp("reported")) as indexed:
        made = Rounds(indexed, QUERIES)
        for step in steps:
            carry_out(made, step)
        indexed.store.set_root(1, missing_since=None)
        files = [path for path in (indexed.folder / "root").rglob("*") if path.is_file()]
        indexed.index(*(str(path.relative_to(indexed.folder)) for path in files))
        made.round()
        fresh = Rounds(indexed, QUERIES)
        fresh.round()
        for number, query in enumerate(QUERIES):
            assert made.held(number) == fresh.held(number), query
        made.delivered.close()
        fresh.delivered.close()
