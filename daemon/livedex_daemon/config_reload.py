"""Applies a configuration: at start, after an edit, on SIGHUP and on request, while searches go on.

Invariant: a broken configuration changes nothing; a good one is applied as a whole, on the worker's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from livedex_daemon.backend.backend_switch import BackendSwitch
from livedex_daemon.config import settings as configuration
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.config.secret_variables import secret_variables, variables_of_plugins
from livedex_daemon.config.settings import Config, RootConfig
from livedex_daemon.documents.configured_parsers import parsers_of
from livedex_daemon.embedding.embedding_thread import EmbeddingThread
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.process import logs, tick
from livedex_daemon.process.daemon_thread import in_daemon_thread
from livedex_daemon.process.locations import Locations
from livedex_daemon.process.supervision import SupervisedTask
from livedex_daemon.subscriptions.standing_messages import StandingMessages
from livedex_daemon.upkeep.schedule import Schedule
from livedex_daemon.watch.backlog import Mark
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.watch.root_table import Root, Roots, RootTable
from livedex_daemon.write.file_encodings import FileEncodings
from livedex_daemon.write.policy import Policy
from livedex_daemon.write.power import PowerGate
from livedex_daemon.write.worker import Worker
from livedex_daemon.write.write_steps import WriteSteps
from livedex_indexing.child import child_starter
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.plugins import KNOWLEDGE_STORE, PIPELINE
from livedex_indexing.store.index_store import IndexDamaged, IndexUnwritable, Store
from livedex_ipc.errors import ConfigInvalid, Unavailable
from livedex_service import supervisor

log = logging.getLogger(__name__)

EDIT_SETTLE_S = 0.1  # editors write a file in several steps


def policy_of(config: Config, plugins: PluginHost, parsers: Mapping[str, str]) -> Policy:
    """Return the policy of a configuration. ``parsers``: the identity of each suffix's parser."""
    chunking = config.chunking
    by_root = tuple((os.fsencode(root.path), root.encoding) for root in config.roots if root.encoding)
    encodings = FileEncodings(by_root, tuple(config.index.encodings.items()))
    settings = ChunkSettings(
        tokenizer=chunking.tokenizer,
        chunk_size=chunking.chunk_size,
        overlap=chunking.overlap,
        pipelines=dict(chunking.pipelines),
        plugins=plugins.pipelines(frozenset(chunking.pipelines.values())),
        parsers=dict(parsers),
        encodings=encodings.as_settings(),
    )
    return Policy(settings, config.index.max_file_size, config.power.yield_to_load, encodings)


def _is_real(config: Config) -> bool:
    """Return False while the path of a root may still contain links, so that another root of the index may be meant."""
    return all(root.is_real for root in config.roots)


def _root_paths(config: Config) -> frozenset[bytes] | None:
    return frozenset(os.fsencode(root.path) for root in config.roots) if _is_real(config) else None


def _with_known_paths(config: Config, former: Config) -> Config:
    """Keep the former path of each root whose own could not be resolved now."""
    known = {root.configured: root.path for root in former.roots}
    roots = (
        root if root.is_real else replace(root, path=known.get(root.configured, root.path)) for root in config.roots
    )
    return replace(config, roots=tuple(roots))


class ConfigTargets(NamedTuple):
    """Everything that a configuration changes while the daemon runs."""

    store: Store
    worker: Worker
    steps: WriteSteps
    roots: Roots
    watching: EventSource
    power: PowerGate
    schedule: Schedule
    plugins: PluginHost
    embedding: EmbeddingThread
    backend: BackendSwitch
    standing: StandingMessages


class Reloader:
    """Reloads the configuration. Used on the event loop; it submits changes of roots and store to the worker."""

    def __init__(
        self, locations: Locations, current: CurrentConfig, targets: ConfigTargets, edited: asyncio.Event
    ) -> None:
        """``edited`` is set on the event loop when the file may have changed."""
        self.must_apply = False  # the index could not apply the configuration; try again
        self._locations = locations
        self._current = current
        self._targets = targets
        self._edited = edited
        self._parsers: Mapping[str, str] = {}
        self._is_replanned = False  # the configuration to apply cuts files otherwise than the former one
        self._lock = asyncio.Lock()
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.followers = (
            SupervisedTask("configuration", self._follow_edits),
            SupervisedTask("configuration", self._check_often),
        )
        self._seen: tuple[int, ...] | None = None  # the file's state when it was last read

    async def begin(self) -> None:
        """Apply the first configuration."""
        async with self._lock:
            await self._load_plugins(self._current.config)
            with contextlib.suppress(IndexUnwritable):  # it is applied later; until then the index is served as it is
                await self._apply(self._current.config, first=True)

    def start(self) -> None:
        """Read the file after each edit from now on."""
        for follower in self.followers:
            follower.start()

    async def _follow_edits(self) -> None:
        while True:
            await self._edited.wait()
            self._edited.clear()
            self.soon()

    async def _check_often(self) -> None:
        while True:
            await tick.tick()
            self.check()

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def soon(self) -> None:
        """Read the file, which may have changed, after a quiet moment. A fault goes to the status."""
        if self._closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(EDIT_SETTLE_S, self._start)

    def check(self) -> None:
        """Read the file again if it differs from the last one read: without a watch there is no event.

        Also read it while its configuration is pending, or refused: perhaps the file could not be read. And while
        the path of a root is not known to be real: the mount that it lies on may answer again. And while a link
        leads elsewhere than to its root, or did so to one that is missing.
        """
        refused = self._current.fault is not None
        roots = self._targets.roots
        other_link = any(root.leads_elsewhere or (root.config.is_link and root.state == "missing") for root in roots)
        waits = self.must_apply or refused or other_link or not _is_real(self._current.config)
        if self._timer is None and (waits or self._state_of_file() != self._seen):
            self.soon()

    def close(self) -> None:
        """Cancel a read that is due: the daemon ends."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for follower in self.followers:
            follower.cancel()
        for task in self._tasks:
            task.cancel()

    def _state_of_file(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self._locations.config_path)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def _start(self) -> None:
        self._timer = None
        self._keep(asyncio.get_running_loop().create_task(self._reload_quietly()))

    async def _reload_quietly(self) -> None:
        former = self._current.fault
        try:
            await self.reload(again=False)
        except Unavailable as error:
            if error.message != former:
                log.warning("reload_waits", extra={"cause": error.message})
        except ConfigInvalid as error:
            if error.message != former:  # log it once, not at each check
                log.warning("config_refused", extra={"faults": len((error.data or {}).get("faults", []))})
        except Exception:
            log.exception("reload_failed")

    async def reload(self, *, again: bool = True) -> None:
        """Read and apply the file. Raises ConfigInvalid with ``data.faults``, or Unavailable if the system cannot read
        it; then the former configuration stays.

        ``again``: try plugins that failed again, although the file was not saved since it was last read.
        """
        async with self._lock:
            with supervisor.reloading():
                await self._reload(again)

    async def _reload(self, again: bool) -> None:
        former, self._seen = self._seen, self._state_of_file()
        again |= former != self._seen
        try:
            config = await in_daemon_thread(self._load, "configuration")
        except ConfigInvalid as error:
            self._current.fault = error.message
            raise
        except BaseException as error:
            self._seen = None  # it was not read: look at it again
            if isinstance(error, Unavailable):
                self._current.fault = error.message
            raise
        self._current.fault = None
        config = _with_known_paths(config, self._current.config)
        other_plugins = await self._load_plugins(config, again=again)
        if other_plugins:
            self._targets.steps.pool.pipelines.forget()
        if config != self._current.config or self.must_apply or other_plugins:
            await self._apply(config, first=False)

    def _load(self) -> Config:
        accepted = {root.configured for root in self._current.config.roots}
        return configuration.load(self._locations.config_path, accepted=accepted)

    async def _load_plugins(self, config: Config, *, again: bool = False) -> bool:
        """Load plugins, which may take its time, on a thread; return whether anything changed."""
        plugins = self._targets.plugins

        def load() -> bool:
            changed = plugins.load(config, again=again)
            self._parsers = parsers_of(config, plugins)
            return changed

        return await in_daemon_thread(load, "plugins")

    async def _apply(self, config: Config, *, first: bool) -> None:
        targets, former = self._targets, self._current.config
        self._current.config = config
        self._withhold_keys(config)
        logs.set_level(config.log.level)
        targets.power.wait_on_battery = config.power.wait_on_battery
        targets.steps.presence.observer = config.watch.observer
        policy = policy_of(config, targets.plugins, self._parsers)
        self._is_replanned = policy.chunking != targets.steps.pool.policy.chunking
        targets.steps.pool.policy = policy
        if not first:
            targets.schedule.reschedule(config)
        self.must_apply = True
        try:
            await self._on_worker(lambda: self._apply_roots(config, former, first))
        except IndexDamaged:  # the worker has begun a new index, which has no roots yet
            await self._on_worker(lambda: self._apply_roots(config, former, first))
        targets.backend.use(config.index.backend)
        targets.plugins.used(KNOWLEDGE_STORE, [config.knowledge.backend])
        if config.knowledge.backend:  # it is opened by the first request only
            targets.plugins.report_unknown(KNOWLEDGE_STORE, config.knowledge.backend, "the built-in store is used")
        self.must_apply = False
        targets.embedding.changed()
        targets.standing.use(config.standing, _root_paths(config))
        log.info("config_applied", extra={"roots": len(config.roots)})

    def _withhold_keys(self, config: Config) -> None:
        """Let no child have keys. The processes that cut files run the plugins of pipelines, and get those plugins'."""
        registry = self._targets.plugins.registry
        owners = {registry.owner(PIPELINE, name) or "" for name in config.chunking.pipelines.values()}
        child_starter.withhold(secret_variables(config), variables_of_plugins(config, owners))

    async def _on_worker(self, action: Callable[[], None]) -> None:
        await asyncio.wrap_future(self._targets.worker.submit(action))

    def _apply_roots(self, config: Config, former: Config, first: bool) -> None:
        """Apply the roots, on the worker's thread. Raises IndexUnwritable or IndexDamaged; then call it again."""
        store, roots, watching = self._targets.store, self._targets.roots, self._targets.watching
        if not first and config.watch.observer != former.watch.observer:
            watching.stop()
            watching.start(config.watch.observer)
        known = {row.path: row for row in store.roots()}
        current = {root.path: root for root in roots}
        wanted = {os.fsencode(root.path): root for root in config.roots}
        admitted: list[Root] = []
        fault: IndexUnwritable | None = None
        for path, root_config in wanted.items():
            try:
                admitted.append(current.get(path) or self._admit(path, root_config, path in known))
            except IndexUnwritable as error:
                fault = error  # the other roots must not wait for this one
        self._regroup(admitted, current, first)
        for path, row in known.items():
            if path not in wanted and (path in current or _is_real(config)):
                self._targets.steps.inspector.leave(row.id)
                watching.forget_root(row.id)
                self._targets.steps.backlog.drop_root(row.id)
                with store.transaction():
                    store.drop_root(row.id)
        self._compare(config, former, first, wanted)
        if fault is not None:
            raise fault
        self._targets.worker.settle_forgotten()

    def _regroup(self, admitted: list[Root], current: dict[bytes, Root], first: bool) -> None:
        """Switch to another set of roots. Mark first what passes from one root to another.

        Rows and watches of a former root go later: no search may see a file in neither root without a walk to wait for.
        """
        steps = self._targets.steps
        nested = {root.id: root.nested for root in admitted}
        table = RootTable(admitted)
        for root in admitted:
            if root.path not in current:
                steps.presence.check(root)
            elif not first and root.present and root.nested != nested[root.id]:
                steps.backlog.mark((root.id, b""), Mark(tree=True, now=True))
        self._targets.roots.replace(table)

    def _admit(self, path: bytes, config: RootConfig, known: bool) -> Root:
        store = self._targets.store
        if not known:
            with store.transaction():
                store.put_root(path, 0, 0)
        row = next(row for row in store.roots() if row.path == path)
        root = Root(row, config, self._rules(path, config))
        chunking = self._targets.steps.pool.policy.chunking
        if row.planned == chunk_plan.fingerprint(chunking):
            root.planned = chunking
        self._targets.worker.keep_forgotten(root)
        return root

    def _rules(self, path: bytes, config: RootConfig) -> RuleTree:
        own_paths = (*self._locations.own_folders, self._locations.config_path)
        own = [os.fsencode(os.path.realpath(path)) for path in own_paths]
        return RuleTree(
            path,
            config.ignore,
            own_folders=own,
            user_file=self._locations.config_path,
            user_lines=config.ignore_lines,
        )

    def _compare(self, config: Config, former: Config, first: bool, wanted: dict[bytes, RootConfig]) -> None:
        """Mark the paths that the new configuration may affect."""
        steps = self._targets.steps
        everything = not first and (
            self._is_replanned or (config.index, config.watch.observer) != (former.index, former.watch.observer)
        )
        for root in self._targets.roots:
            wanted_now = wanted[root.path]
            rules_changed = root.config.ignore != wanted_now.ignore
            moved = root.config.ignore_lines != wanted_now.ignore_lines  # `why` names the lines
            root.config = wanted_now
            if rules_changed or moved:
                root.rules = self._rules(root.path, root.config)
            steps.presence.check(root, rewatch=not first and config.watch.observer != former.watch.observer)
            other_plan = not first and root.planned != steps.pool.policy.chunking  # of plugins, too
            if root.present and (everything or other_plan or rules_changed):
                steps.backlog.mark((root.id, b""), Mark(tree=True, now=True))
