"""The thread that publishes for standing queries, over a real index and a real exchange, without a daemon.

Invariant: the thread is the daemon's own; it ends with `World.end`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from helpers.exchange_file import Queue
from helpers.fakes import online_root
from helpers.indexed_folder import Indexed
from helpers.support import wait_until
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


class TurnedIndex(Indexed):
    """An index whose commits are passed on before their turn ends, as the daemon's are."""

    def __init__(self, folder: Path, roots: tuple[str, ...]) -> None:
        super().__init__(folder, roots)
        self.turn = threading.RLock()

    def index(self, *paths: str) -> None:
        with self.turn:
            super().index(*paths)

    def remove(self, path: str) -> None:
        with self.turn:
            super().remove(path)


class World:
    """An index, an exchange, and the thread between them. Each commit is passed on at once, unless it is ``held``."""

    def __init__(self, folder: Path, config: str = "", roots: tuple[str, ...] = ("root",)) -> None:
        self.folder = folder
        self.indexed = TurnedIndex(folder, roots)
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
        """Wait for the end of the turn of the writing thread: what it committed is passed on."""
        self.turns += 1
        with self.indexed.turn:
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
        """Keep the thread from noting anything meanwhile."""
        exchange = PreciousDatabase(str(self.folder / "exchange.db"), SCHEMA)
        with closing(exchange) as other, other.transaction(durable=False):
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
