"""Loads plugins: runs their modules and ``register(registry)``, and notes what became of each.

Invariant: a plugin that raises, or does not return in time, registers nothing and hinders no other; livedex goes on
without it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Literal, NamedTuple

from livedex_indexing.plugins import installed_modules, owned_files, plugin_source
from livedex_indexing.plugins.plugin_source import PluginSource
from livedex_indexing.plugins.registry import BUILT_IN, Provided, Registrar, Registry, described
from livedex_indexing.plugins.time_limit import within
from livedex_ipc.standard_files import open_standard_files

PluginState = Literal["loaded", "refused", "failed"]

LOAD_S = 10.0  # for one plugin: a module imports what is slow in its factories


class LoadedPlugin(NamedTuple):
    """One plugin. ``reason`` says why it was refused or failed, None if it is loaded."""

    source: PluginSource
    state: PluginState
    provides: tuple[Provided, ...] = ()
    reason: str | None = None
    raised: bool = False  # it failed by itself, at once: with what it lacks it may load


class Plugins(NamedTuple):
    """All plugins that were found, with the registry of those that are loaded."""

    registry: Registry
    found: tuple[LoadedPlugin, ...]

    def named(self, name: str) -> LoadedPlugin | None:
        """Return the plugin of this name that is loaded, else the first of the name, else None."""
        of_name = [plugin for plugin in self.found if plugin.source.name == name]
        return next((plugin for plugin in of_name if plugin.state == "loaded"), of_name[0] if of_name else None)


def load(folders: Sequence[str], registry: Registry, env: Mapping[str, str] = os.environ) -> Plugins:
    """Load what the folders and the installed packages have into ``registry``, which may hold built-in names."""
    return load_sources(plugin_source.find(folders, plugin_source.selected(env)), registry)


def load_sources(
    sources: Sequence[PluginSource],
    registry: Registry,
    limit_s: float = LOAD_S,
    noted: Callable[[PluginSource], AbstractContextManager[None]] = nullcontext,  # type: ignore[assignment]
) -> Plugins:
    """Load these sources, in order. Each may take ``limit_s`` seconds; ``noted`` is around the code of each."""
    loaded: dict[str, PluginSource] = {}
    found: list[LoadedPlugin] = []
    for source in sources:
        former = loaded.get(source.name)
        if source.refused is not None:
            found.append(LoadedPlugin(source, "refused", reason=source.refused))
        elif source.name == BUILT_IN:
            reason = f"the name {BUILT_IN!r} is that of what comes with livedex: give the plugin another one"
            found.append(LoadedPlugin(source, "failed", reason=reason))
        elif former is not None:
            reason = f"the plugin {source.name!r} of {source.target} is already that of {former.target}"
            found.append(LoadedPlugin(source, "failed", reason=reason))
        else:
            with noted(source):
                plugin = _loaded(source, registry, limit_s)
            found.append(plugin)
            if plugin.state == "loaded":
                loaded[source.name] = source
    return Plugins(registry, tuple(found))


def load_failed(
    plugins: Plugins,
    noted: Callable[[PluginSource], AbstractContextManager[None]] = nullcontext,  # type: ignore[assignment]
) -> Plugins:
    """Load those again that raised: what they lacked, such as another package, may be there now. Not one whose name
    another one has by now: what is registered under it is that one's."""
    registry = plugins.registry.copy()
    found = list(plugins.found)
    for place, plugin in enumerate(found):
        same_name = (other.state for other in found if other.source.name == plugin.source.name)
        if plugin.raised and "loaded" not in same_name:
            with noted(plugin.source):
                found[place] = _loaded(plugin.source, registry, LOAD_S)
    return Plugins(registry, tuple(found))


def _loaded(source: PluginSource, registry: Registry, limit_s: float) -> LoadedPlugin:
    registrar = registry.owned_by(source.name)
    try:
        try:
            within(limit_s, lambda: _register_of(source)(registrar), f"plugin {source.name}")
        finally:
            open_standard_files()
    except owned_files.Refused as fault:
        return LoadedPlugin(source, "refused", reason=str(fault))
    except BaseException as fault:  # a plugin may raise anything
        registrar.close()
        registry.drop(source.name)
        return LoadedPlugin(source, "failed", reason=described(fault), raised=not isinstance(fault, TimeoutError))
    return LoadedPlugin(source, "loaded", registry.provided_by(source.name))


def _register_of(source: PluginSource) -> Callable[[Registrar], object]:
    """Return the plugin's ``register``. An entry point names the function itself, or a module that has it."""
    if source.place == "folder":
        module: object = _module_of_file(source)
        attributes = ["register"]
    else:
        module_name, _, path = source.target.partition(":")
        module = installed_modules.load(module_name.strip(), source)
        attributes = path.split("[")[0].strip().split(".") if path.strip() else ["register"]
    found = module
    for attribute in attributes:
        found = getattr(found, attribute, None)
    if isinstance(found, ModuleType):
        found = getattr(found, "register", None)
    if not callable(found):
        raise TypeError(f"{source.target} has no function register(registry)")
    return found


def _module_of_file(source: PluginSource) -> ModuleType:
    """Run the text that was checked; no byte code is read or written."""
    text = owned_files.read(source.target)
    module = ModuleType(f"livedex_plugin_{source.name}")
    module.__file__ = source.target
    former = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module  # dataclasses and pickle look a class's module up
    try:
        exec(compile(text, source.target, "exec"), module.__dict__)
    except BaseException:
        if former is None:
            del sys.modules[module.__name__]
        else:
            sys.modules[module.__name__] = former
        raise
    return module
