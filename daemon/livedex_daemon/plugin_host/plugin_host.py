"""The one registry of a daemon: built-in things and plugins, loaded at start and on reload, handed out by name.

Invariant: a plugin ends nothing. A name that gives no usable object is a reason, which ``faults`` keeps until the name
works or is used no more; the caller keeps the built-in part.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol, TypeVar

from livedex_daemon.config.setting_values import thawed
from livedex_daemon.config.settings import Config
from livedex_daemon.plugin_host.built_ins import BUILT_INS
from livedex_daemon.plugin_host.limited_embedder import READ_S, LimitedEmbedder
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import PluginPipeline
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable, settings_of
from livedex_indexing.plugins import BUILT_IN, EMBEDDER, PIPELINE, Embedder, PluginKind, PluginUnavailable, Registry
from livedex_indexing.plugins import plugin_source as sources
from livedex_indexing.plugins.plugin_loader import LoadedPlugin, Plugins, load_failed, load_sources
from livedex_indexing.plugins.plugin_source import PluginSource
from livedex_indexing.plugins.registry import described
from livedex_indexing.plugins.time_limit import LimitedCalls

log = logging.getLogger(__name__)

T = TypeVar("T")


class NameFault(NamedTuple):
    """A configured name that gives no usable object, and why. ``hangs``: a call of its object does not return."""

    kind: str
    name: str
    reason: str
    hangs: bool


class RunningCode(Protocol):
    """What notes whose code is running, so that a crash can be put down to it."""

    @property
    def avoided_code(self) -> frozenset[str]:
        """The keys of code that this run leaves out: the daemon crashed in it."""

    def running(self, key: str) -> AbstractContextManager[None]:
        """Wrap the running of code. Call from any thread."""

    def loading(self, key: str) -> AbstractContextManager[None]:
        """Wrap the loading of code. Call from any thread."""


class _NotNoted:
    avoided_code: frozenset[str] = frozenset()

    def running(self, key: str) -> AbstractContextManager[None]:
        return nullcontext()

    def loading(self, key: str) -> AbstractContextManager[None]:
        return nullcontext()


NOT_NOTED: Final = _NotNoted()
FACTORY_S: Final = 30.0  # for a factory: a model may have to be loaded
CRASHED: Final = "the daemon crashed in its code; change it, or restart the daemon with `livedex down`"


class _LoadedWith(NamedTuple):
    """What the loaded state was made from: if it is the same, nothing need be loaded."""

    found: tuple[PluginSource, ...]
    tables: Mapping[str, Mapping[str, object]]


class PluginHost:
    """Hands out what plugins and livedex provide. For any thread; ``load`` for one at a time."""

    def __init__(self, env: Mapping[str, str] = os.environ, crashes: RunningCode = NOT_NOTED) -> None:
        """``crashes`` notes whose code is running, and knows whose code the daemon crashed in."""
        self._env = env
        self._crashes = crashes
        self._calls: dict[tuple[str, str], LimitedCalls] = {}
        self._lock = threading.Lock()
        self._faults: dict[tuple[str, str], str] = {}
        self._config: Mapping[str, object] = MappingProxyType({})
        self._folders: tuple[str, ...] = ()
        self._loaded_with = _LoadedWith((), {})
        self._plugins = Plugins(_with_built_ins(), ())
        self.was_loaded = False
        self.generation = 0  # grows whenever what is loaded, or the settings of plugins, changed

    @property
    def found(self) -> tuple[LoadedPlugin, ...]:
        """Every plugin that was found, loaded or not."""
        return self._plugins.found

    @property
    def registry(self) -> Registry:
        """What can be named now; a reload replaces it."""
        return self._plugins.registry

    def load(self, config: Config, *, again: bool = False) -> bool:
        """Load what the configuration names, if it differs from what is loaded. Return whether anything changed.

        ``again``: if nothing differs, load those plugins again that raised. It runs code of plugins and may take
        seconds: not for the event loop. Objects that were handed out live on.
        """
        self._config, self._folders = config.effective, config.plugins.paths
        found = [self._unless_avoided(one) for one in sources.find(config.plugins.paths, sources.selected(self._env))]
        wanted = _LoadedWith(tuple(found), config.plugins.tables)
        self.was_loaded = True
        if wanted != self._loaded_with:
            self._plugins = load_sources(found, _with_built_ins(), noted=self._noted)
        elif not again or not self._load_failed():
            return False
        self._loaded_with = wanted
        with self._lock:
            self._calls = {}
        self.generation += 1
        for plugin in self._plugins.found:
            log.info("plugin", extra={"plugin": plugin.source.name, "state": plugin.state, "reason": plugin.reason})
        return True

    def _load_failed(self) -> bool:
        """Load those again that raised. Return whether one is loaded now."""
        if not any(plugin.raised for plugin in self._plugins.found):
            return False
        former, self._plugins = self._plugins, load_failed(self._plugins, self._noted)
        return any(now.state != before.state for now, before in zip(self._plugins.found, former.found, strict=True))

    def _noted(self, source: PluginSource) -> AbstractContextManager[None]:
        return self._crashes.loading(_key(source))

    def obtain(self, kind: PluginKind[T], name: str) -> T | None:
        """Return a new object for a configured name, or None: then keep the built-in part. The reason is kept.

        It runs the factory, which may take its time: never call it on the event loop or the writer's thread.
        """
        try:
            made = self.create(kind, name, self.config_for(kind, name))
        except PluginUnavailable as fault:
            self.report(kind, name, str(fault))
            return None
        self.report(kind, name, None)
        return made

    def create(self, kind: PluginKind[T], name: str, config: Mapping[str, object]) -> T:
        """Return a new object, within `FACTORY_S`. Raises PluginUnavailable."""
        try:
            return self.calls(kind, name).run(FACTORY_S, lambda: self.registry.create(kind, name, config))
        except TimeoutError as fault:
            raise PluginUnavailable(f"the {kind.shown} {name!r} cannot be made: {fault}") from fault

    def text_of(self, kind: PluginKind[T], name: str, made: T, attribute: str) -> str:
        """Return an attribute that an object may have as text, "" if it has none. Raises PluginUnavailable."""
        try:
            return self.calls(kind, name).run(READ_S, lambda: str(getattr(made, attribute, "")))
        except Exception as fault:  # a plugin may raise anything
            where = f"the {kind.shown} {name!r} cannot be used: its {attribute} cannot be had"
            raise PluginUnavailable(f"{where} ({described(fault)})") from fault

    def calls(self, kind: PluginKind[T], name: str) -> LimitedCalls:
        """Return what runs the code of the object of this name for limited times."""
        with self._lock:
            known = self._calls.get((kind.name, name))
            if known is None:
                known = self._calls[kind.name, name] = LimitedCalls(
                    f"{kind.name} {name}", lambda: self.running(kind, name)
                )
            return known

    def running(self, kind: PluginKind[T], name: str) -> AbstractContextManager[None]:
        """Note that code of the plugin that owns this name is running."""
        owner = self._plugins.named(self.registry.owner(kind, name) or "")
        return nullcontext() if owner is None else self._crashes.running(_key(owner.source))

    def obtain_embedder(self, name: str) -> Embedder:
        """Return a new embedder. Raises EmbedderUnavailable with the reason, which is kept."""
        try:
            made = self.embedder_with(name, self.config_for(EMBEDDER, name))
        except EmbedderUnavailable as fault:
            self.report(EMBEDDER, name, str(fault))
            raise
        self.report(EMBEDDER, name, None)
        return made

    def embedder_with(self, name: str, config: Mapping[str, object]) -> Embedder:
        """Return a new embedder made with this configuration. Raises EmbedderUnavailable with the reason."""
        try:
            made = self.create(EMBEDDER, name, config)
        except PluginUnavailable as fault:
            raise EmbedderUnavailable(str(fault)) from fault
        if self.registry.owner(EMBEDDER, name) == BUILT_IN:
            return made
        return LimitedEmbedder(made, self.calls(EMBEDDER, name), settings_of(config).timeout)

    def _unless_avoided(self, source: PluginSource) -> PluginSource:
        return source._replace(refused=CRASHED) if _key(source) in self._crashes.avoided_code else source

    def config_for(self, kind: PluginKind[T], name: str) -> Mapping[str, object]:
        """Return what the factory of this name gets. ``plugin`` is the table of the plugin that owns the name; for a
        name of livedex's own, the table of that name."""
        owner = self.registry.owner(kind, name)
        table = name if owner in (None, BUILT_IN) else owner
        return MappingProxyType({**self._config, "plugin": self._loaded_with.tables.get(table or "", _EMPTY)})

    def pipelines(self, names: Collection[str]) -> dict[str, PluginPipeline]:
        """Return what a chunk process needs for each of these pipelines that is not one of livedex's three.

        A name that nobody registered is a fault, once plugins were loaded. No factory is called: a pipeline lives in
        the chunk process alone.
        """
        wanted = sorted(set(names) - set(chunk_plan.PIPELINES))
        self.used(PIPELINE, wanted)
        found: dict[str, PluginPipeline] = {}
        for name in wanted:
            owner = self.registry.owner(PIPELINE, name)
            if owner is None:
                known = ", ".join(self.registry.names(PIPELINE))
                if self.was_loaded:
                    self.report(PIPELINE, name, f"there is no pipeline {name!r} (known: {known})")
                continue
            self.report(PIPELINE, name, None)
            found[name] = self._pipeline(name, owner)
        return found

    def _pipeline(self, name: str, owner: str) -> PluginPipeline:
        settings = json.dumps(thawed(self.config_for(PIPELINE, name)), sort_keys=True).encode()
        return PluginPipeline(name, owner, tuple(self._folders), settings, self.identity(PIPELINE, name))

    def identity(self, kind: PluginKind[T], name: str) -> str:
        """Return what changes with the code and the settings of the plugin that owns this name."""
        plugin = self._plugins.named(self.registry.owner(kind, name) or "")
        own = json.dumps(thawed(self.config_for(kind, name)["plugin"]), sort_keys=True)
        return f"{BUILT_IN if plugin is None else plugin.source.stamp}\0{own}"

    def report(self, kind: PluginKind[T], name: str, reason: str | None) -> None:
        """Note why the object of this name cannot be used now; None: it works."""
        with self._lock:
            former = self._faults.pop((kind.name, name), None)
            if reason is not None:
                self._faults[kind.name, name] = reason
        if reason is not None and reason != former:
            log.warning("plugin_unavailable", extra={"kind": kind.name, "name_used": name, "reason": reason})

    def report_unknown(self, kind: PluginKind[T], name: str, instead: str) -> None:
        """Note a name that nobody registered. Whether the object of another name works shows when it is made."""
        if self.was_loaded and self.registry.owner(kind, name) is None:
            self.report(kind, name, f"{self.registry.unknown(kind, name)}; {instead}")

    def used(self, kind: PluginKind[T], names: Collection[str]) -> None:
        """Drop what was noted about other names of this kind: the configuration uses only these."""
        with self._lock:
            self._faults = {key: why for key, why in self._faults.items() if key[0] != kind.name or key[1] in names}

    def faults(self) -> list[NameFault]:
        """Return the configured names that give no usable object now."""
        with self._lock:
            hanging = {key for key, calls in self._calls.items() if calls.hangs}
            return [NameFault(*key, reason, key in hanging) for key, reason in sorted(self._faults.items())]


def _key(source: PluginSource) -> str:
    """Return a name for the code of a plugin that changes with it."""
    return f"plugin {source.name} {source.stamp}"


_EMPTY: Mapping[str, object] = MappingProxyType({})


def _with_built_ins() -> Registry:
    registry = Registry()
    for register in BUILT_INS:
        register(registry.owned_by(BUILT_IN))
    return registry
