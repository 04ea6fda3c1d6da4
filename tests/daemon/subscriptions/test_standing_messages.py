"""Where the news of a standing query begin, step by step, over a real index and a real exchange."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from helpers.exchange_file import Queue
from helpers.fakes import online_root
from helpers.indexed_folder import Indexed
from helpers.support import examples, wait_until
from livedex_daemon.config import settings
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.config.settings import StandingConfig
from livedex_daemon.exchange.exchange_store import SCHEMA
from livedex_daemon.exchange.standing_reports import StandingReports
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.precious.precious_database import PreciousDatabase
from livedex_daemon.subscriptions.standing_messages import Sources, StandingMessages
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_indexing.search.standing_query import FileKey

ALPHA = StandingConfig("alpha", "alpha.found")
NEVER = StandingConfig("never", "never.found")


class World:
    """An index, an exchange, and the thread between them. Each commit is passed on at once, unless it is ``held``."""

    def __init__(self, folder: Path, config: str = "", roots: tuple[str, ...] = ("root",)) -> None:
        self.folder = folder
        self.indexed = Indexed(folder, roots)
        self.root, *self.others = (online_root(path, number) for number, path in self.indexed.roots.items())
        self.paths = frozenset(self.indexed.roots.values())
        self.health = StoreHealth()
        self.held: list[tuple[dict[FileKey, bytes | None], set[int]]] | None = None
        self.turns = 0
        self.in_turn: Callable[[], None] | None = None  # done once, in the next turn
        self.woken = threading.Event()
        self.backlog = Backlog(time.monotonic, lambda: None)
        self.current = CurrentConfig(settings.parse(config))
        self.sources = Sources(
            IndexReaders(self.indexed.database, threading.Event()), Roots([self.root, *self.others]), self.health,
            self.backlog, self.between_turns, lambda _: None, self.woken.set,
        )  # fmt: skip
        self.standing = self._new()
        self.indexed.store.on_change = self.commit

    def _new(self) -> StandingMessages:
        return StandingMessages(self.sources, str(self.folder / "exchange.db"), self.current)

    def restart(self) -> None:
        self.standing.stop(10)
        self.standing, self.held = self._new(), None

    def commit(self, files: dict[FileKey, bytes | None], roots: set[int]) -> None:
        if self.held is not None:
            self.held.append((files, roots))
        else:
            self.standing.changed(files, roots)

    def between_turns(self, action: Callable[[], None]) -> Future[None]:
        """The turn of the writing thread ends: what it committed is passed on."""
        self.turns += 1
        held, self.held = self.held or [], None
        for files, roots in held:
            self.standing.changed(files, roots)
        in_turn, self.in_turn = self.in_turn, None
        if in_turn is not None:
            in_turn()
        action()
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def use(self, *queries: StandingConfig) -> None:
        self.standing.use(queries, self.paths)

    @contextmanager
    def no_notes(self) -> Iterator[None]:
        """Use ALPHA, and keep the thread from noting anything meanwhile."""
        exchange = PreciousDatabase(str(self.folder / "exchange.db"), SCHEMA)
        with closing(exchange) as other, other.transaction(durable=False):
            self.use(ALPHA)
            yield

    def await_noted(self) -> None:
        """Wait until the first contents of the root are noted."""

        def is_noted(reports: StandingReports) -> bool:
            number = reports.numbers().get(ALPHA)
            return number is not None and reports.known_roots(number) == self.paths

        self._await(is_noted)

    def await_kept(self, query: StandingConfig = ALPHA) -> None:
        self._await(lambda reports: query in reports.numbers())

    def settled_names(self) -> list[str]:
        """Return the names of all messages, once everything was compared again and a last file published."""
        self.standing.changed({}, [self.root.id])
        self.indexed.write("root/last.txt", "alpha last\n")
        wait_until(lambda: "last.txt" in self.names(), what="the last message")
        return sorted(set(self.names()) - {"last.txt"})

    def await_forgotten(self) -> None:
        self._await(lambda reports: ALPHA not in reports.numbers())

    def _await(self, condition: Callable[[StandingReports], bool]) -> None:
        path = self.folder / "exchange.db"
        wait_until(path.exists, what="the file of the exchange")
        with closing(StandingReports(str(path))) as reports:
            wait_until(lambda: condition(reports), what="a note of the exchange")

    def messages(self, topic: str = ALPHA.topic) -> list[dict[str, Any]]:
        path = self.folder / "exchange.db"
        if not path.exists():
            return []
        with closing(Queue(path, real=True)) as queue:
            return [json.loads(each["body"]) for each in queue.read(topic, limit=1000)]

    def names(self, topic: str = ALPHA.topic) -> list[str]:
        return [hit["relative_path"] for hit in self.messages(topic)]

    def await_names(self, wanted: Sequence[str]) -> None:
        wait_until(lambda: sorted(self.names()) == sorted(wanted), what=f"messages of {wanted}")

    def end(self) -> None:
        self.standing.stop(10)
        self.indexed.__exit__()


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


def test_a_root_that_left_is_indexed_for_the_first_time(world: World, tmp_path: Path) -> None:
    world.use(ALPHA)
    world.await_noted()
    world.root.state = "indexing"
    with closing(PreciousDatabase(str(tmp_path / "exchange.db"), SCHEMA)) as other, other.transaction(durable=False):
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
