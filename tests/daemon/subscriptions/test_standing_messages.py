"""Where the news of a standing query begin, step by step, over a real index and a real exchange."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from helpers.exchange_file import Queue
from helpers.standing_world import ALPHA, NEVER, World
from helpers.support import examples, wait_until


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.end()


def test_what_is_there_first_is_no_news(world: World) -> None:
    world.indexed.write("root/old.txt", "alpha old\n")
    world.root.state = "indexing"
    world.use(ALPHA)
    world.indexed.write("root/first.txt", "alpha first\n")
    world.root.state = "online"
    world.indexed.write("root/new.txt", "alpha new\n")
    assert world.settled_names() == ["new.txt"]
    hit = world.messages()[0]
    assert (hit["snippet"], hit["matches"], hit["start_line"]) == ("alpha new", 1, 1)
    assert world.woken.is_set()


def test_a_commit_that_is_seen_before_it_is_passed_on_is_news(world: World) -> None:
    world.held = []
    world.indexed.write("root/new.txt", "alpha new\n")
    world.use(ALPHA)
    world.await_names(["new.txt"])
    assert world.turns


def test_what_still_waits_to_be_converted_or_cut_is_no_news(world: World) -> None:
    def waits(name: str) -> None:
        world.indexed.write(f"root/{name}", f"alpha of {name}\n")
        row = world.indexed.row(f"root/{name}")
        world.indexed.store.put_files([row._replace(status="pending", reason="parse", content_id=None)])

    waits("slow.txt")
    with world.no_notes():
        world.use(ALPHA)
        waits("later.txt")
    world.await_noted()
    world.indexed.index("root/slow.txt", "root/later.txt")
    world.indexed.write("root/new.txt", "alpha new\n")
    assert world.settled_names() == ["later.txt", "new.txt"]


def test_the_same_content_is_published_once(world: World) -> None:
    world.use(ALPHA)
    world.await_noted()
    world.indexed.write("root/a.txt", "alpha one\n")
    world.await_names(["a.txt"])
    world.indexed.write("root/b.txt", "alpha one\n")
    world.indexed.remove("root/a.txt")
    world.indexed.write("root/a.txt", "alpha two\n")
    world.indexed.write("root/a.txt", "alpha one\n")
    world.standing.all_changed()
    world.indexed.write("root/last.txt", "alpha last\n")
    wait_until(lambda: "last.txt" in world.names(), what="the last message")
    assert [hit["snippet"] for hit in world.messages()].count("alpha one") == 1


def test_what_was_committed_before_a_kill_is_published(world: World) -> None:
    world.indexed.write("root/old.txt", "alpha old\n")
    world.use(ALPHA)
    world.await_noted()
    world.held = []  # the kill comes before the commit is passed on
    world.indexed.write("root/new.txt", "alpha new\n")
    world.restart()
    world.use(ALPHA)
    world.await_names(["new.txt"])


def test_a_file_that_changed_meanwhile_is_published_as_it_is_indexed_again(world: World) -> None:
    world.use(ALPHA)
    world.await_noted()
    changed = world.folder / "root/a.txt"
    world.held = []
    world.indexed.write("root/a.txt", "alpha one\n")
    changed.write_text("alpha two, longer\n")
    world.between_turns(lambda: None)
    wait_until(lambda: (world.root.id, b"a.txt") in world.backlog.pending_keys(), what="the mark of the file")
    assert world.names() == []
    world.indexed.index("root/a.txt")
    wait_until(world.messages, what="the message")
    assert [hit["snippet"] for hit in world.messages()] == ["alpha two, longer"]


def test_a_full_topic_is_said_and_the_rest_follows(tmp_path: Path) -> None:
    world = World(tmp_path, "[exchange]\nmax_waiting = 2\n")
    try:
        world.use(ALPHA)
        world.await_noted()
        for number in range(5):
            world.indexed.write(f"root/{number}.txt", f"alpha {number}\n")
        wait_until(world.standing.faults, what="the fault")
        ((query, reason),) = world.standing.faults()
        assert query == "alpha" and "alpha.found is full" in reason
        with closing(Queue(tmp_path / "exchange.db", real=True)) as queue:
            for _ in range(5):
                wait_until(lambda: queue.try_claim("alpha.found"), what="a message")
        assert sorted(world.names()) == [f"{number}.txt" for number in range(5)]
        wait_until(lambda: not world.standing.faults(), what="the end of the fault")
    finally:
        world.end()


def test_a_query_that_was_left_out_begins_again(world: World) -> None:
    world.use(ALPHA, NEVER)
    world.await_noted()
    world.use(NEVER)
    world.indexed.write("root/between.txt", "alpha between\n")
    world.await_forgotten()
    world.use(ALPHA)
    world.indexed.write("root/new.txt", "alpha new\n")
    assert world.settled_names() == ["new.txt"]


def test_a_root_that_left_is_indexed_for_the_first_time(world: World) -> None:
    world.use(ALPHA)
    world.await_noted()
    world.root.state = "indexing"
    with world.no_notes():
        world.standing.use([ALPHA], frozenset())  # both before the thread can note anything
        world.use(ALPHA)
        world.indexed.write("root/first.txt", "alpha first\n")
    world.root.state = "online"
    world.indexed.write("root/new.txt", "alpha new\n")
    assert world.settled_names() == ["new.txt"]


def test_nothing_is_noted_of_half_an_index(world: World) -> None:
    world.health.rebuilding = True
    world.use(ALPHA)
    world.await_kept()
    world.indexed.write("root/old.txt", "alpha old\n")
    world.health.rebuilding = False
    world.standing.all_changed()
    world.indexed.write("root/new.txt", "alpha new\n")
    assert world.settled_names() == ["new.txt"]


@pytest.mark.parametrize(("is_old", "news"), [(True, ["down.txt", "new.txt"]), (False, ["new.txt"])])
def test_a_kill_before_anything_was_noted(world: World, is_old: bool, news: list[str]) -> None:
    """An old query had its first contents then; for a new one they are what is there when the root is online again."""
    world.indexed.write("root/old.txt", "alpha old\n")
    world.root.state, world.root.first_indexed = "indexing", False
    world.use(ALPHA if is_old else NEVER)
    world.await_kept(ALPHA if is_old else NEVER)
    world.restart()
    world.root.state, world.root.first_indexed = "recovering", True
    world.use(ALPHA)
    world.indexed.write("root/down.txt", "alpha down\n")  # as the first walk finds it
    world.await_kept(ALPHA)
    world.root.state = "online"
    world.indexed.write("root/new.txt", "alpha new\n")
    assert world.settled_names() == news


def test_a_root_that_is_complete_after_the_snapshot_is_noted_with_the_next(tmp_path: Path) -> None:
    world = World(tmp_path, roots=("root", "other"))

    def complete() -> None:
        world.indexed.write("other/old.txt", "alpha old\n")
        world.others[0].state = "online"
        world.indexed.write("root/next.txt", "nothing\n")

    try:
        world.others[0].state, world.in_turn = "indexing", complete
        world.use(ALPHA)
        world.await_noted()
        world.indexed.write("other/new.txt", "alpha new\n")
        assert world.settled_names() == ["new.txt"]
    finally:
        world.end()


@pytest.mark.parametrize("there_again", ["a.txt", "b.txt"])
def test_what_was_there_first_is_no_news_when_it_comes_back(world: World, there_again: str) -> None:
    world.indexed.write("root/a.txt", "alpha old\n")
    with world.no_notes():
        world.use(ALPHA)
        world.indexed.index("root/a.txt")  # the same content again
        world.indexed.write("root/a.txt", "alpha new\n")
    world.await_noted()
    world.indexed.write(f"root/{there_again}", "alpha old\n")
    world.settled_names()
    assert "alpha old" not in [hit["snippet"] for hit in world.messages()]


NAMES = ("a.txt", "b.txt", "c.txt")
TEXTS = ("alpha one\n", "alpha two\n", "alpha first\n", "nothing\n")
STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(TEXTS)),
    st.tuples(st.sampled_from(("remove", "restart", "kill", "compare", "rebuilt")), st.just(""), st.just("")),
)


@given(st.lists(STEPS, max_size=14))
@hypothesis_settings(max_examples=examples(12))
def test_after_any_history_each_content_was_published_once(steps: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        there = {"z.txt": "alpha first\n"}
        written: set[str] = set()
        try:
            world.indexed.write("root/z.txt", there["z.txt"])
            world.use(ALPHA)
            world.await_noted()
            for step, name, text in steps:
                if step == "write":
                    world.indexed.write(f"root/{name}", text)
                    there[name] = text
                    written.add(text.strip())
                elif step == "remove" and there:
                    gone = sorted(there)[0]
                    world.indexed.remove(f"root/{gone}")
                    del there[gone]
                elif step == "kill":
                    world.held = []  # what is committed from now on is passed on to nobody, until a restart
                elif step in ("restart", "compare", "rebuilt"):
                    act(world, step)
            act(world, "restart")
            world.settled_names()
            published = [hit["snippet"] for hit in world.messages() if hit["relative_path"] != "last.txt"]
            assert len(published) == len(set(published))
            wanted = {text.strip() for text in there.values()} - {"nothing", "alpha first"}
            assert wanted <= set(published) <= written - {"nothing", "alpha first"}
        finally:
            world.end()


@given(st.lists(STEPS.filter(lambda step: step[0] in ("write", "remove")), max_size=6), st.booleans())
@hypothesis_settings(max_examples=examples(12))
def test_what_changes_before_the_first_contents_are_noted_is_news(
    steps: list[tuple[str, str, str]], late: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        there = {"a.txt": "alpha one\n", "z.txt": "alpha first\n"}
        first, written = set(there.values()), set[str]()
        try:
            for name, text in there.items():
                world.indexed.write(f"root/{name}", text)
            with world.no_notes():
                world.use(ALPHA)
                world.held = [] if late else None
                for step, name, text in steps:
                    if step == "write":
                        world.indexed.write(f"root/{name}", text)
                        there[name] = text
                        written.add(text)
                    elif there:
                        gone = sorted(there)[0]
                        world.indexed.remove(f"root/{gone}")
                        del there[gone]
            world.await_noted()
            world.settled_names()
            published = [f"{hit['snippet']}\n" for hit in world.messages() if hit["relative_path"] != "last.txt"]
            assert len(published) == len(set(published))
            assert set(there.values()) - first - {"nothing\n"} <= set(published) <= written - first - {"nothing\n"}
        finally:
            world.end()


def act(world: World, step: str) -> None:
    if step == "restart":
        world.restart()
        world.use(ALPHA)
    elif step == "compare":
        world.standing.changed({}, [world.root.id])
    else:
        world.standing.all_changed()


def test_no_exchange_is_made_without_a_query(world: World) -> None:
    world.use()
    world.indexed.write("root/new.txt", "alpha new\n")
    assert os.listdir(world.folder) and not (world.folder / "exchange.db").exists()
