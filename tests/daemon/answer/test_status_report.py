"""Each fault has its own warning, and a healthy daemon has none."""

from __future__ import annotations

import errno
import shlex
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from helpers.fakes import FakePool, FakeWatcher, FakeWatching, FakeWorker, online_root
from helpers.store_rig import Rig
from livedex_daemon.answer.exchange_thread import ExchangeThread
from livedex_daemon.answer.freshness import Freshness
from livedex_daemon.answer.knowledge_answers import KnowledgeThread
from livedex_daemon.answer.status_checks import DaemonState
from livedex_daemon.answer.status_report import Health
from livedex_daemon.answer.stuck_check import StuckCheck
from livedex_daemon.backend.backend_switch import BackendSwitch
from livedex_daemon.backend.mirror import Origin
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.documents.conversions import Document
from livedex_daemon.documents.lane import Lane
from livedex_daemon.embedding.embedding_thread import EmbeddingThread
from livedex_daemon.exchange.dead_letters import DeadLetters
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.precious.precious_database import DatabaseDamaged, DatabaseUnusable
from livedex_daemon.process.restart import OwnCode, Restart
from livedex_daemon.subscriptions.standing_messages import StandingMessages
from livedex_daemon.watch.backlog import Backlog, Mark
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_daemon.write.chunk_health import WorkerFault
from livedex_daemon.write.commit_latency import CommitLatency
from livedex_daemon.write.crashes import Crashes
from livedex_indexing.model import Counts
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.store.index_store import IndexUnwritable


class OpenSocket:
    fault: str | None = None
    path = "/s"


class Part:
    name = "standing"
    fault: str | None = None


class FakeStuckCheck:
    """``paths``: the stuck paths."""

    def __init__(self) -> None:
        self.paths: list[bytes] = []

    def stuck(self, _roots: Roots, _health: StoreHealth) -> list[bytes]:
        return self.paths

    def late(self) -> list[bytes]:
        return []

    @property
    def real(self) -> StuckCheck:
        return cast("StuckCheck", self)


class FakeLane:
    fault: str | None = None

    @property
    def real(self) -> Lane:
        return cast("Lane", self)


class FakeExchange:
    fault: DatabaseUnusable | None = None
    dead_letters: Sequence[DeadLetters] = ()

    @property
    def real(self) -> ExchangeThread:
        return cast("ExchangeThread", self)


class FakeMemory:
    fault: DatabaseUnusable | None = None

    @property
    def real(self) -> KnowledgeThread:
        return cast("KnowledgeThread", self)


class FakeStanding:
    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []

    def faults(self) -> list[tuple[str, str]]:
        return self.found

    @property
    def real(self) -> StandingMessages:
        return cast("StandingMessages", self)


class FakeEmbedding:
    """No embedder."""

    name = pending = fault = None
    embedded = 0
    gateways: tuple[tuple[str, int], ...] = ()

    @property
    def real(self) -> EmbeddingThread:
        return cast("EmbeddingThread", self)


class World:
    """A healthy daemon, which a test then breaks."""

    def __init__(self, folder: Path) -> None:
        self.rig = Rig(folder / "index.db")
        self.root = online_root(b"/r", self.rig.root)
        self.worker, self.pool, self.store_health = FakeWorker(), FakePool(), StoreHealth()
        self.crashes = Crashes(str(folder))
        self.forgotten = ForgottenFiles(str(folder / "forgotten.db"))
        nothing: Any = None
        self.socket = OpenSocket()
        guard: Any = self.socket
        self.config = CurrentConfig(nothing)
        roots, worker, pool = Roots([self.root]), self.worker.real, self.pool.real
        self.backlog = backlog = Backlog(time.monotonic, lambda: None)
        freshness = Freshness(FakeWatching().real, backlog, roots, worker, pool, self.store_health)
        freshness.begun.set()
        self.readers = readers = IndexReaders(self.rig.path, threading.Event())
        index = IndexFile(self.rig.store, readers, nothing, self.store_health)
        self.restart = Restart(lambda: False, lambda: None, lambda: False, OwnCode([]))
        self.watcher, self.part, self.stuck = FakeWatcher(), Part(), FakeStuckCheck()
        self.lane, self.standing, self.exchange = FakeLane(), FakeStanding(), FakeExchange()
        self.memory = FakeMemory()
        self.health = Health(
            DaemonState(
                index, roots, worker, pool, guard, self.config, self.crashes, self.forgotten, freshness,
                CommitLatency(), FakeWatching(self.watcher).real, (self.part,), self.stuck.real, self.restart,
                PluginHost({}), FakeEmbedding().real,
                BackendSwitch(PluginHost({}), Origin(readers, roots, str, lambda: None), str(folder / "mark")),
                (self.lane.real,), self.standing.real, self.exchange.real, self.memory.real,
            )
        )  # fmt: skip

    def codes(self, failed: int = 0) -> list[str]:
        return [item["code"] for item in self.health.warnings(failed)]

    def pending(self) -> tuple[int, int]:
        """The number of pending paths, of all roots and of the only one."""
        status = self.health.status()
        (root,) = status["roots"]
        return status["pending"], root["pending"]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_all_is_well(world: World) -> None:
    assert world.codes() == []


def lose(world: World) -> None:
    world.root.state, world.root.missing_since = "missing", 1.0


def test_a_remedy_can_be_typed_as_printed(world: World) -> None:
    world.root.path = b"/my notes/it's $HOME"
    lose(world)
    (said,) = world.health.warnings()
    command = said["remedy"].partition("`")[2].partition("`")[0]
    assert shlex.split(command) == ["livedex", "roots", "remove", "/my notes/it's $HOME"]


def break_parsing(world: World) -> None:
    world.worker.conversions.request((b"1" * 16, b"plan"), Document(world.root, b"a.pdf", "pypdfium2", ".pdf", False))
    world.lane.fault = "exit status 1"


CASES: dict[str, Callable[[World], object]] = {
    "root_missing": lose,
    "root_denied": lambda world: setattr(world.root, "state", "denied"),
    "watch_limit": lambda world: world.root.poll(b"d"),
    "backend_unavailable": lambda world: world.store_health.failed(IndexUnwritable("no")),
    "worker_dead": lambda world: setattr(world.worker, "lives", False),
    "thread_dead": lambda world: setattr(world.part, "fault", "KeyError"),
    "stuck": lambda world: world.stuck.paths.append(b"/r/f"),
    "chunk_worker": lambda world: setattr(world.pool, "worker_fault", WorkerFault("exit status 1")),
    "restart_needed": lambda world: setattr(world.pool, "worker_fault", WorkerFault("exit status 1", True)),
    "paused": lambda world: setattr(world.pool, "is_paused", True),
    "socket_lost": lambda world: setattr(world.socket, "fault", "taken"),
    "config_refused": lambda world: setattr(world.config, "fault", "no such key"),
    "safe_mode": lambda world: setattr(world.crashes, "avoided", frozenset((b"/r/f",))),
    "forgotten_lost": lambda world: world.forgotten.adopt(b"/r", [(b"f", b"1" * 16)]),
    "parse_worker": break_parsing,
    "standing_waits": lambda world: world.standing.found.append(("alpha", "the topic is full")),
    "exchange_unavailable": lambda world: setattr(world.exchange, "fault", DatabaseDamaged("it is damaged")),
    "knowledge_unavailable": lambda world: setattr(world.memory, "fault", DatabaseDamaged("it is damaged")),
    "index_rebuilding": lambda world: setattr(world.store_health, "rebuilding", True),
}


@pytest.mark.parametrize("code", CASES)
def test_what_is_wrong_is_said_once(world: World, code: str) -> None:
    CASES[code](world)
    assert world.codes() == [code]


def test_parsing_that_nobody_waits_for_is_no_fault(world: World) -> None:
    break_parsing(world)
    world.worker.conversions.settled((world.root.id, b"a.pdf"))
    assert world.codes() == []


def test_a_turn_that_fails_is_a_worker_that_does_nothing(world: World) -> None:
    world.worker.turn_fault = "KeyError"
    assert world.codes() == ["worker_dead"]


def test_what_the_system_says_of_a_store_that_cannot_be_written_is_said(world: World) -> None:
    fault = IndexUnwritable("no")
    fault.__cause__ = apsw.ReadOnlyError("attempt to write a readonly database")
    world.store_health.failed(fault)
    (found,) = world.health.warnings()
    assert "(attempt to write a readonly database)" in found["message"]


def test_a_restart_that_is_needed_is_said_once(world: World) -> None:
    world.restart.request()
    assert world.codes() == ["restart_needed"]
    world.pool.worker_fault = WorkerFault("exit status 1", True)
    assert world.codes() == ["restart_needed"]


def test_a_watcher_that_ended_is_named(world: World) -> None:
    world.watcher.lives = False
    assert world.codes() == ["thread_dead"]


def test_files_that_failed_come_last(world: World) -> None:
    world.store_health.rebuilding = True
    assert world.codes(failed=2) == ["index_rebuilding", "files_failed"]


def test_dead_letters_are_said_in_the_status_alone(world: World) -> None:
    world.exchange.dead_letters = [DeadLetters("work.dead", 2), DeadLetters("other.dead", 1)]
    status = world.health.status()
    (told,) = status["warnings"]
    assert (told["code"], status["state"]) == ("dead_letters", "ready")
    assert told["message"].startswith("2 messages in work.dead, and in 1 more topics: ")
    assert world.codes() == []


def test_a_daemon_without_its_interpreter_must_be_restarted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.pool.worker_fault = WorkerFault("cannot start: No such file or directory")
    (usual,) = world.health.warnings()
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    (found,) = world.health.warnings()
    assert found["code"] == usual["code"] == "chunk_worker"
    assert "restart the daemon" in found["remedy"] and "restart" not in usual["remedy"]


def test_each_path_that_waits_counts_once(world: World) -> None:
    hot, lost, broken = ((world.rig.root, name) for name in (b"d/hot.log", b"d/lost.txt", b"broken.txt"))
    for key in (hot, lost, broken):
        world.rig.put_pending(key[1])
    world.worker.files.add(hot)
    world.worker.unreadable.failed(broken, errno.EIO)
    assert world.pending() == (3, 3)
    for key in (hot, lost, broken):  # the next tries
        world.backlog.mark(key)
    world.backlog.mark((world.rig.root, b"new.txt"))
    assert world.pending() == (4, 4)
    world.backlog.mark((99, b"of another root"))
    assert world.pending() == (5, 4)


def test_what_is_committed_while_the_files_are_counted_is_not_called_done(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.root.state = "indexing"
    world.backlog.mark((world.rig.root, b"new.txt"), Mark(now=True))
    count = world.readers.counts

    def count_before_the_commit() -> Counts:
        counts = count()
        world.rig.put(b"new.txt", "new words")
        world.root.state = "online"
        world.backlog.done(world.backlog.take(1, lambda _key: False))
        return counts

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(world.readers, "counts", count_before_the_commit)
        status = world.health.status()
    (root,) = status["roots"]
    assert (status["files"], status["pending"], status["state"]) == (0, 1, "indexing")
    assert (root["files"], root["pending"], root["state"]) == (0, 1, "indexing")
    later = world.health.status()
    assert (later["files"], later["pending"], later["state"]) == (1, 0, "ready")
    assert later["generation"] == status["generation"] + 1


def test_what_was_wrong_with_a_root_before_an_answer_is_said_with_it(world: World) -> None:
    world.root.state = "denied"
    before = world.health.root_warnings()
    assert [item["code"] for item in world.health.warnings(1, before)] == ["root_denied", "files_failed"]
    world.root.state = "online"
    assert [item["code"] for item in world.health.warnings(1, before)] == ["root_denied", "files_failed"]
    assert world.codes() == []
