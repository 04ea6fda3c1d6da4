"""Builds all parts of the daemon, and starts and stops them in order.

Invariant: the socket answers while the first walk goes on, and a stop at any instant loses nothing. Each part receives
its dependencies when it is created, and no part knows the app.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial

from livedex_daemon.answer.audit import Audits
from livedex_daemon.answer.audit_pass import AuditSources
from livedex_daemon.answer.backend_change import BackendChange
from livedex_daemon.answer.exchange_answers import ExchangeMethods
from livedex_daemon.answer.exchange_thread import ExchangeThread
from livedex_daemon.answer.file_answers import FileMethods
from livedex_daemon.answer.file_search import FileSearch
from livedex_daemon.answer.fresh_reads import FreshReads, SearchMethod
from livedex_daemon.answer.freshness import Freshness
from livedex_daemon.answer.handlers import IndexMethods, RootMethods, ServerMethods
from livedex_daemon.answer.index_run import IndexRun
from livedex_daemon.answer.knowledge_answers import KnowledgeMethods, KnowledgeThread
from livedex_daemon.answer.matching_files_method import MatchingFilesMethod
from livedex_daemon.answer.memory_search import MemorySearch
from livedex_daemon.answer.plugin_methods import NOT_LOADED, PluginMethods
from livedex_daemon.answer.root_changes import answered_by_one_table
from livedex_daemon.answer.status_checks import DaemonState
from livedex_daemon.answer.status_report import Health
from livedex_daemon.answer.stuck_check import StuckCheck
from livedex_daemon.answer.subscription_methods import SubscriptionMethods
from livedex_daemon.backend.backend_switch import BackendSwitch
from livedex_daemon.backend.mirror import Origin
from livedex_daemon.config import settings as configuration
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.config.settings import Config
from livedex_daemon.config_reload import ConfigTargets, Reloader, policy_of
from livedex_daemon.documents.configured_parsers import parse_settings
from livedex_daemon.documents.conversion_log import ConversionLog
from livedex_daemon.documents.conversions import Conversions
from livedex_daemon.documents.lane import Lane, LaneTools, ParseSettings
from livedex_daemon.embedding.embedding_thread import EmbeddingThread
from livedex_daemon.embedding.vector_set import VectorFiles
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.index_file.opener import open_store
from livedex_daemon.index_file.rebuild import IndexFile, Rebuilder
from livedex_daemon.index_file.salvage import Salvage
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.process import descriptors, logs, memory
from livedex_daemon.process.event_loop import on_loop
from livedex_daemon.process.home_lock import HomeLock
from livedex_daemon.process.locations import Locations
from livedex_daemon.process.restart import EXIT_CODE, OwnCode, Restart
from livedex_daemon.process.socket_guard import SocketGuard
from livedex_daemon.process.stopping import SignalThread, StopDeadline
from livedex_daemon.process.supervision import Part, SupervisedTask
from livedex_daemon.process.supervisor_reports import SupervisorReports
from livedex_daemon.subscriptions.notifier import ChangeNotifier
from livedex_daemon.subscriptions.standing_messages import Sources, StandingMessages
from livedex_daemon.upkeep.chores import DaemonChores
from livedex_daemon.upkeep.idle_maintenance import IdleMaintenance
from livedex_daemon.upkeep.pending_rows import PendingRows
from livedex_daemon.upkeep.root_check import RootCheck, RowUpkeep
from livedex_daemon.upkeep.schedule import Schedule
from livedex_daemon.watch.backlog import Backlog, Key
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.watch.root_presence import Presence
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.commit import Committer
from livedex_daemon.write.commit_latency import CommitLatency
from livedex_daemon.write.crashes import Crashes
from livedex_daemon.write.file_reading import FileReader
from livedex_daemon.write.inspector import Inspector
from livedex_daemon.write.power import PowerGate
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.worker import Worker
from livedex_daemon.write.write_steps import WriteSteps
from livedex_indexing.child import child_starter
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.parse.parse_process import remove_copies
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.store.index_store import IndexDamaged, Store
from livedex_ipc.server.rpc_server import Handler, Server
from livedex_service import supervisor

log = logging.getLogger(__name__)

SOCKET_NAME = "livedex"  # of the socket that a supervisor passes, if it passes several
BEGIN_S = 0.3  # the socket answers after this, however long catching up takes
GRACE_S = 1.0  # for running requests when the daemon stops
LANES = 2  # documents converted at once: one that hangs leaves the other to its neighbours
NOTIFIER_S, WORKER_S, POOL_S = 0.3, 1.0, 0.3  # for their threads; what hangs is left behind


async def run(locations: Locations, config: Config, code: OwnCode, lock: HomeLock) -> int:
    """Run one daemon with a checked configuration, on the main thread; return the exit code when it has stopped."""
    app = App(locations, config, code, lock)
    await app.run()
    return app.exit_code


class App:
    """One daemon. Create it on its event loop."""

    def __init__(self, locations: Locations, config: Config, code: OwnCode, lock: HomeLock) -> None:
        # What the parts share
        self._locations, self._config, self._lock = locations, CurrentConfig(config), lock
        self._edited, self._stopping, wake = asyncio.Event(), asyncio.Event(), threading.Event()
        self._forgotten, self._crashes = ForgottenFiles(locations.forgotten_db), Crashes(locations.data_dir)
        roots, store_health, latency = Roots(), StoreHealth(), CommitLatency()
        self._plugins = PluginHost(crashes=self._crashes)
        priority, power = SearchPriority(), PowerGate()
        # EventSource
        self._backlog = backlog = Backlog(time.monotonic, wake.set)
        edited = on_loop(asyncio.get_running_loop(), self._edited.set)
        self._watching = watching = EventSource(backlog, locations, roots, edited)
        # The index file
        readers = IndexReaders(locations.index_db, wake)
        self._backend = self._made_backend(readers, roots)
        self._notifier = ChangeNotifier(readers, roots, store_health, backlog, self._could_not_read)
        store, rebuilds = self._opened_store(config)
        self._index = index = IndexFile(store, readers, Salvage(roots, self._forgotten), store_health)
        rebuilder = Rebuilder(index, backlog, self._all_changed, lock.renew, under_way=rebuilds)
        # Writing
        conversions = Conversions()
        presence = Presence(store, store_health, backlog, watching)
        self._pool = pool = Pool(
            policy_of(config, self._plugins, {}),
            FileReader(readers.has_content, self._forgotten, self._crashes, conversions),
            wake.set, priority, may_run=power.bulk_may_run,
        )  # fmt: skip
        inspector = Inspector(store, backlog, presence, watching, pool)
        committer = Committer(store, self._forgotten, roots, priority)
        steps = WriteSteps(backlog, presence, inspector, pool, committer, rebuilder, conversions)
        self._worker = worker = Worker(index, steps, roots, priority, latency, wake)
        self._embedding = readers.semantics = self._vectors(roots, power)
        self._lanes = self._made_lanes(conversions, power)
        self._exchange = ExchangeThread(locations.exchange_db, self._config)
        self._knowledge = KnowledgeThread(locations.knowledge_db, self._config, self._plugins, self._plugins_loaded)
        self._standing = self._standing_messages(roots, store_health)
        # Upkeep
        upkeep = RowUpkeep(self._forgotten, PendingRows(store, backlog, roots, worker.files, conversions))
        root_check = RootCheck(worker, steps, roots, watching, upkeep)
        chores = DaemonChores(root_check, IdleMaintenance(worker, index, backlog, pool, priority, latency))
        self._schedule = Schedule(chores, roots, backlog)
        shared = (self._schedule, self._plugins, self._embedding, self._backend, self._standing)
        targets = ConfigTargets(store, worker, steps, roots, watching, power, *shared)
        self._reloader = Reloader(locations, self._config, targets, self._edited)
        # Answering
        self._ending, self._signals = self._hear_signals(edited)  # a client that sees the socket may send one
        self._socket_guard = SocketGuard(locations.socket_path, supervisor.inherited_socket(SOCKET_NAME))
        self._freshness = Freshness(watching, backlog, roots, worker, pool, store_health)
        self._restart = Restart(self._is_idle, self._ending.begin, lambda: pool.other_version, code)
        self._reports = SupervisorReports(worker, backlog.pending)
        self._tasks = self._supervised_tasks()
        stuck = StuckCheck(backlog, worker.files, pool, latency)
        self._health = Health(DaemonState(
            index, roots, worker, pool, self._socket_guard, self._config, self._crashes, self._forgotten,
            self._freshness, latency, watching, self._all_parts(), stuck, self._restart, self._plugins, self._embedding,
            self._backend, self._lanes, self._standing, self._exchange, self._knowledge,
        ))  # fmt: skip
        self._reads = FreshReads(index, self._freshness, roots, priority, worker, self._backend)
        methods = self._methods(steps, roots, store_health)
        self._server = Server(answered_by_one_table(methods, roots), limits=descriptors.raised_limits())

    def _opened_store(self, config: Config) -> tuple[Store, bool]:
        """Open the index, as ``open_store``. Raises ConfigInvalid if the configuration was emptied: it has roots."""
        store, is_new = open_store(self._locations.index_db, self._changed)
        if not config.roots:
            with contextlib.suppress(IndexDamaged):  # it will be noticed, and rebuilt
                known = [os.fsdecode(root.path) for root in store.roots()]
                configuration.load(self._locations.config_path, accepted=known)
        return store, is_new

    def _made_backend(self, readers: IndexReaders, roots: Roots) -> BackendSwitch:
        origin = Origin(readers, roots, self._plan, lambda: self._embedding.source)
        return BackendSwitch(self._plugins, origin, self._locations.backend_mark)

    def _vectors(self, roots: Roots, power: PowerGate) -> EmbeddingThread:
        files = VectorFiles(self._locations.vectors_dir, self._locations.knowledge_db)
        made = EmbeddingThread(self._index, roots, self._config, self._plugins, files, may_run=power.bulk_may_run)
        made.on_vectors = self._backend.vectors_changed
        return made

    def _methods(self, steps: WriteSteps, roots: Roots, store_health: StoreHealth) -> dict[str, Handler]:
        index, worker, reads, health = self._index, self._worker, self._reads, self._health
        audits = Audits(AuditSources(index, worker, steps, roots, self._freshness, self._forgotten))
        config_path = self._locations.config_path
        reload = partial(self._reloader.reload, again=False)
        change = BackendChange(self._backend, reload, config_path)
        runs = IndexRun(worker, self._backlog, roots, store_health, change)
        groups = (
            ServerMethods(self._watching, self._reloader.reload, self._ending.begin, self._restart, config_path),
            SearchMethod(reads, health, MemorySearch(self._knowledge, self._embedding)),
            MatchingFilesMethod(reads, health),
            SubscriptionMethods(reads, self._notifier, health),
            RootMethods(reads, health, worker, reload, config_path),
            IndexMethods(reads, index.store, roots, runs, audits),
            FileMethods(reads, health, roots, worker),
            FileSearch(reads, health),
            ExchangeMethods(self._exchange),
            KnowledgeMethods(self._knowledge, self._embedding, self._plugins),
            PluginMethods(self._plugins, self._freshness),
        )
        return {name: handler for group in groups for name, handler in group.table().items()}

    def _all_parts(self) -> tuple[Part, ...]:
        threads: list[Part] = [
            self._notifier.thread,
            self._standing.thread,
            self._embedding.thread,
            self._schedule.checks,
            self._schedule.beginning,
        ]
        return (*threads, *[lane.thread for lane in self._lanes], *self._reloader.followers, *self._tasks)

    def _standing_messages(self, roots: Roots, store_health: StoreHealth) -> StandingMessages:
        woken = on_loop(asyncio.get_running_loop(), self._exchange.waiters.wake)
        sources = Sources(
            self._index.readers, roots, store_health, self._backlog, self._worker.submit, self._could_not_read, woken
        )
        return StandingMessages(sources, self._locations.exchange_db, self._config)

    def _made_lanes(self, conversions: Conversions, power: PowerGate) -> list[Lane]:
        folder = self._locations.data_dir
        tools = LaneTools(conversions, self._backlog, self._parse_settings, power.bulk_may_run, folder)
        path = self._locations.exchange_db
        return [Lane(number, tools, ConversionLog(path, self._config)) for number in range(LANES)]

    def _parse_settings(self, parser: str) -> ParseSettings:
        return parse_settings(self._config.config, self._plugins, parser)

    def _supervised_tasks(self) -> list[SupervisedTask]:
        reports = self._reports
        runs: dict[str, Callable[[], Awaitable[None]]] = {
            "home_lock": partial(self._lock.keep, self._ending.begin),
            "socket": self._watch_socket,
            "watchdog": reports.feed_watchdog,
            "restart": self._restart.run,
            "status_line": reports.follow_status,
            "log": logs.keep_trying,
            "exchange": self._exchange.keep_checking,
            "knowledge": self._knowledge.keep_checking,
        }
        return [SupervisedTask(name, run) for name, run in runs.items()]

    @property
    def exit_code(self) -> int:
        """A supervisor starts again only what fails; without one, the next client starts a daemon."""
        return EXIT_CODE if self._restart.ends and supervisor.is_present() else 0

    def _plan(self) -> str:
        return str(chunk_plan.fingerprint(self._pool.policy.chunking))

    def _changed(self, files: dict[Key, bytes | None], root_ids: set[int]) -> None:
        self._notifier.changed(files, root_ids)
        self._standing.changed(files, root_ids)
        self._embedding.changed()
        self._backend.changed(files, root_ids)

    def _all_changed(self) -> None:
        self._notifier.mark_all_changed()
        self._standing.all_changed()
        self._backend.mark_all_changed()

    async def _plugins_loaded(self) -> None:
        await self._freshness.has_begun(NOT_LOADED)

    def _could_not_read(self, paths: dict[Key, int]) -> None:
        self._worker.could_not_read(paths)

    def _is_idle(self) -> bool:
        """Return True while no client and no change needs this daemon: another one may take its place."""
        works = self._backlog.pending() > 0 and not (self._pool.is_paused or self._pool.other_version)
        return not (works or self._server.busy or self._notifier.subscribed or self._index.health.rebuilding)

    async def _watch_socket(self) -> None:
        await self._socket_guard.watch(self._server, self._ending.begin)

    def _hear_signals(self, edited: Callable[[], None]) -> tuple[StopDeadline, SignalThread]:
        ending = StopDeadline(on_loop(asyncio.get_running_loop(), self._stopping.set), self._close_socket)
        actions = {signal.SIGTERM: ending.begin, signal.SIGINT: ending.begin, signal.SIGHUP: edited}
        return ending, SignalThread(actions)

    def _close_socket(self) -> None:
        self._socket_guard.close()

    async def run(self) -> None:
        beginning = asyncio.create_task(self._begin())
        try:
            # Early clients wait in the socket's queue. Most trees are up to date before the first answer, which is then
            # complete; a large tree, or a root on a disk that hangs, delays no client.
            await asyncio.wait([beginning], timeout=BEGIN_S)
            await self._server.start(self._socket_guard.sock)
            # Not earlier: clients in the queue of a socket that is bound again would be dropped.
            for task in self._tasks:
                task.start()
            self._reports.ready()
            log.info("daemon_started", extra={"pid": os.getpid()})
            logs.adopt_stderr()
            stopped = asyncio.create_task(self._stopping.wait())
            await asyncio.wait([beginning, stopped], return_when=asyncio.FIRST_COMPLETED)
            if beginning.done():
                beginning.result()
                memory.freeze()
                await stopped
        finally:
            self._ending.begin()
            supervisor.stopping()
            beginning.cancel()
            for task in self._tasks:
                task.cancel()
            await self._stop()
            self._signals.close()

    async def _begin(self) -> None:
        self._watching.start(self._config.config.watch.observer)
        REMOTE.on_return = self._worker.mount_returned
        self._worker.start()
        remove_copies(self._locations.data_dir)
        for lane in self._lanes:
            lane.start()
        await self._reloader.begin()
        self._freshness.begun.set()
        self._schedule.start(self._config.config)
        self._reloader.start()
        self._embedding.start()
        await self._freshness.ensure(None, time.monotonic() + BEGIN_S)

    async def _stop(self) -> None:
        """Stop each part. Blocking the loop is right here: nothing else is served, and its helpers may hang."""
        log.info("daemon_stopping")
        self._schedule.stop()
        self._reloader.close()
        self._socket_guard.close()
        await self._server.close(GRACE_S)
        self._reads.close()
        self._exchange.close()
        self._knowledge.close()
        self._watching.stop()
        self._notifier.stop(NOTIFIER_S)
        self._standing.stop(NOTIFIER_S)
        self._backend.stop()
        worker_ended = self._worker.stop(WORKER_S)
        for lane in self._lanes:
            lane.stop(0.0)
        child_starter.kill_all()
        self._pool.stop(POOL_S)
        self._embedding.stop()
        self._index.readers.close()
        self._index.salvage.close()
        if worker_ended:
            self._forgotten.close()
            self._index.store.close()
        self._crashes.end()
        log.info("daemon_stopped", extra={"worker_ended": worker_ended})


def load_config(locations: Locations) -> Config:
    REMOTE.renew()  # before a root's path is touched
    return configuration.load(locations.config_path)


def set_up_logs(locations: Locations, config: Config) -> None:
    logs.set_up(locations.log_path, config.log.level)
