"""Builds everything the daemon is made of, and orders how it starts, reloads and stops.

Invariant: the socket answers while the first walk goes on, and nothing is lost by stopping at any instant.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from livedex_daemon.answer.freshness import Freshness
from livedex_daemon.answer.handlers import Handlers
from livedex_daemon.answer.status_report import FreshnessFigures, Health
from livedex_daemon.config import settings as configuration
from livedex_daemon.config.settings import Config
from livedex_daemon.config_reload import Reloader
from livedex_daemon.index_file.index_readers import Serving, Side
from livedex_daemon.index_file.opener import open_store
from livedex_daemon.index_file.rebuild import Rebuilder
from livedex_daemon.index_file.salvage import Remains
from livedex_daemon.process import logs, memory
from livedex_daemon.process.locations import Locations
from livedex_daemon.process.socket_guard import Door
from livedex_daemon.subscriptions.notifier import Standing
from livedex_daemon.upkeep.idle_maintenance import Tidying
from livedex_daemon.upkeep.schedule import Jobs
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.event_source import Watching
from livedex_daemon.watch.root_presence import Presence
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.commit import Storing
from livedex_daemon.write.crashes import Crashes
from livedex_daemon.write.inspector import Looker
from livedex_daemon.write.power import PowerGate
from livedex_daemon.write.search_priority import Precedence
from livedex_daemon.write.walk import Policy
from livedex_daemon.write.worker import Worker
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.store.database import IndexDamaged
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_ipc.server.rpc_server import Server
from livedex_service import supervisor

log = logging.getLogger(__name__)

BEGIN_S = 0.3  # the socket answers after that, however long catching up takes
STOP_S = 4.0
SELDOM = 2  # one of so many looks, 8 s apart, is also at what changes hardly ever: the index file (10 s are promised)


def policy_of(config: Config) -> Policy:
    chunking = config.chunking
    settings = ChunkSettings(
        tokenizer=chunking.tokenizer,
        chunk_size=chunking.chunk_size,
        overlap=chunking.overlap,
        pipelines=dict(chunking.pipelines),
    )
    return Policy(settings, config.index.max_file_size, config.power.yield_to_load)


class App:
    """One daemon. Made on the main thread with a checked configuration; ``run`` returns when it has stopped."""

    def __init__(self, locations: Locations, config: Config) -> None:
        self.locations = locations
        self.store, rebuilds = open_store(locations.index_db)
        self.marks = ForgottenFiles(locations.forgotten_db)
        self.crashes = Crashes(locations.data_dir)
        self.precedence = Precedence()
        self.serving = Serving(locations.index_db)
        self.figures = FreshnessFigures()
        self.power = PowerGate()
        self.backlog = Backlog(time.monotonic, self._wake_worker)
        self.watching = Watching(self.backlog, locations, lambda: self.worker.roots, self._config_edited)
        self.presence = Presence(self.store, self.backlog, self.watching)
        self.remains = Remains(lambda: self.worker.roots, self.marks)
        self.rebuilder = Rebuilder(self.store, self.serving, self.remains, self.backlog, under_way=rebuilds)
        self.worker = Worker(
            self.store,
            self.backlog,
            Looker(self.store, self.backlog, self.presence, self.watching),
            Storing(self.store, self.marks, lambda: self.worker.roots, self.precedence),
            self.presence,
            self.rebuilder,
            self.precedence,
            on_commit=self._committed,
        )
        self.pool = Pool(
            policy_of(config),
            self.serving.has_content,
            self.marks,
            self.worker.wake,
            self.precedence,
            may_run=self.power.bulk_may_run,
            crashes=self.crashes,
        )
        self.freshness = Freshness(lambda: self.watching.watcher, self.backlog, self.worker, self.rebuilder)
        self.health = Health(
            self.worker,
            self.freshness,
            self.figures,
            self.serving.counts,
            self.serving.chunks_of,
            locations.index_db,
            self.rebuilder,
        )
        self.standing = Standing(
            self.serving,
            lambda: self.worker.roots,
            lambda: self.rebuilder.under_way,
            lambda key: self.backlog.mark(key, now=True),
            self._mend_soon,
        )
        self.store.on_change = self.standing.changed
        self.rebuilder.on_rebuilt = self.standing.everything
        self.health.left_alone = len(self.crashes.left_alone)
        self.reloader = Reloader(self, config)
        self.handlers = Handlers(self)
        self.server = Server(self.handlers.table())
        self.tidying = Tidying(self.worker, self.backlog, self.pool, self.serving, self.precedence)
        self.jobs = Jobs(self, self.worker, self.backlog)
        self._looks = 0
        self._stopping: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    # -- life

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._stopping.set)
        self._loop.add_signal_handler(signal.SIGHUP, self._config_edited_soon)
        sockets = supervisor.inherited_sockets()
        door = self.health.door = Door(self.locations.socket_path, sockets[0] if sockets else None)
        keeping = asyncio.create_task(door.keep(self.server, self.stop))
        beat = asyncio.create_task(self._beat())
        try:
            # Clients that connect already wait in the socket's queue. Most trees are caught up with before the first
            # answer, which is then complete; a large one, or a root on a disk that hangs, keeps nobody waiting.
            beginning = asyncio.create_task(self._begin())
            await asyncio.wait([beginning], timeout=BEGIN_S)
            await self.server.start(door.sock)
            supervisor.ready("serving")
            log.info("daemon_started", extra={"pid": os.getpid()})
            logs.adopt_stderr(self.locations.log_path)
            await beginning
            memory.keep()
            await self._stopping.wait()
        finally:
            supervisor.stopping()
            beat.cancel()
            keeping.cancel()
            await self._stop(door)

    async def _begin(self) -> None:
        self.watching.start(self.reloader.config.watch.observer)
        self.worker.start(self.pool)
        await self.reloader.begin()
        self.freshness.begun.set()
        self.jobs.start(self.reloader.config)
        self.health.started = True
        await self.freshness.ensure(None, time.monotonic() + BEGIN_S)

    async def _stop(self, door: Door) -> None:
        log.info("daemon_stopping")
        self.jobs.stop()
        self.reloader.close()
        door.close()
        await self.server.close(STOP_S / 4)
        self.handlers.close()
        self.watching.stop()
        await asyncio.to_thread(self.standing.stop)
        await asyncio.to_thread(self.worker.stop)
        await asyncio.to_thread(self.pool.stop)
        self.serving.close()
        self.remains.close()
        self.marks.close()
        self.store.close()
        self.crashes.end()
        log.info("daemon_stopped")

    async def _beat(self) -> None:
        """Tells the supervisor's watchdog that the loop and the worker live."""
        interval = supervisor.watchdog_interval_s()
        while interval is not None:
            if self.worker.alive():
                supervisor.notify("WATCHDOG=1")
            await asyncio.sleep(interval)

    def stop(self) -> None:
        if self._stopping is not None:
            self._stopping.set()

    # -- called back

    def _wake_worker(self) -> None:
        self.worker.wake()  # made after the backlog that calls it

    def _committed(self, now: float, heard_at: list[float]) -> None:
        self.figures.add(now, heard_at)
        self.tidying.committed(now)

    def _config_edited(self) -> None:
        self._on_loop(self._config_edited_soon)

    def _config_edited_soon(self) -> None:
        self.reloader.soon()

    def _on_loop(self, action: Callable[[], object]) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended: so has the daemon
                self._loop.call_soon_threadsafe(action)

    # -- chores

    def look_at_roots(self) -> None:
        self.worker.order(self._look_at_roots).add_done_callback(_told)
        self.reloader.look()
        merging = self.tidying.merge(self._later)
        if merging is not None:
            merging.add_done_callback(_told)

    def _look_at_roots(self) -> None:
        self._looks += 1
        seldom = self._looks % SELDOM == 0
        if seldom:
            self.worker.mend()
        revived = self.watching.revive()
        if self.pool.worker_fault is not None:
            for key in self.worker.unsettled:
                self.backlog.mark(key)
        for root in self.worker.roots:
            self.presence.check(root, anew=revived)
            self.presence.drop_expired(root)
            self.watching.retry(root)
            if seldom and root.state == "online":
                changed = root.rules.outside_changed()  # a rule file out of sight: the repository's, the user's own
                for folder in changed:
                    self.backlog.mark((root.id, folder), tree=True)
        if seldom:
            self.marks.recreate()

    async def mend_index(self, side: Side, error: Exception) -> bool:
        """Somebody could not read the index by ``side``. True when there is another one to read now."""
        if self.serving.side is not side:
            return True
        damaged = isinstance(error, IndexDamaged)

        def mend() -> bool:
            return self.serving.side is not side or self.worker.mend(damaged=damaged)

        return await asyncio.wrap_future(self.worker.order(mend))

    def _mend_soon(self, side: Side, error: Exception) -> None:
        """The same, for a thread that does not wait for it."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self.mend_index(side, error), self._loop).add_done_callback(_told)

    def maintain(self) -> None:
        stepped = self.tidying.look(self._later)
        if stepped is not None:
            stepped.add_done_callback(_told)

    def _later(self, seconds: float, action: Callable[[], object]) -> None:
        self._on_loop(lambda: self._loop.call_later(seconds, action) if self._loop else None)

    def set_policy(self, config: Config) -> None:
        """What is read and chunked from now on follows ``config``."""
        self.pool.policy = policy_of(config)


def _told(order: Future[Any]) -> None:
    """A chore that failed is tried again; the log says why, since nobody waits for its end."""
    if order.cancelled() or order.exception() is None:
        return
    log.error("chore_failed", extra={"error": repr(order.exception())})


def load_config(locations: Locations) -> Config:
    return configuration.load(locations.config_path, own_folders=locations.own_folders)


def set_up_logs(locations: Locations, config: Config) -> None:
    logs.set_up(locations.log_path, config.log.level)
