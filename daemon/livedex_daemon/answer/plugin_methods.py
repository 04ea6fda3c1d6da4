"""The method ``plugins/list``, and the warnings about plugins and the names that the configuration uses.

Invariant: each plugin that is not loaded, and each name that gives no usable object, is one warning with its remedy.
"""

from __future__ import annotations

from typing import Final

from livedex_daemon.answer.freshness import Freshness
from livedex_daemon.backend.backend_switch import BackendSwitch
from livedex_daemon.backend.mirror import Mirror
from livedex_daemon.plugin_host.plugin_host import NameFault, PluginHost
from livedex_daemon.write.pipeline_faults import PipelineFault, PipelineFaults
from livedex_indexing.hits.answer_json import warning
from livedex_indexing.plugins import BACKEND, BUILT_IN, EMBEDDER, KNOWLEDGE_STORE, PARSER
from livedex_indexing.plugins.plugin_loader import LoadedPlugin
from livedex_indexing.plugins.registry import Provided
from livedex_ipc.request_params import NoParams
from livedex_ipc.server.rpc_server import Call, Handler
from livedex_ipc.wire_results import AnswerWarning, PluginFields, PluginsResult, ProvidedPart

_CHECK = "run `livedex plugins` for all plugins, and `livedex plugins check NAME` for what one lacks"

_HANGS = "it is called again once it returns, or correct it and restart the daemon: `livedex down`, then any command"


NOT_LOADED: Final = "has not loaded its plugins"


class PluginMethods:
    def __init__(self, host: PluginHost, freshness: Freshness) -> None:
        self._host = host
        self._freshness = freshness

    def table(self) -> dict[str, Handler]:
        return {"plugins/list": self.list}

    async def list(self, _call: Call, _params: NoParams) -> PluginsResult:
        await self._freshness.has_begun(NOT_LOADED)
        own = self._host.registry.provided_by(BUILT_IN)
        built_in: PluginFields = {"name": BUILT_IN, "source": "built-in", "state": "loaded", "provides": _parts(own)}
        return {"plugins": [built_in, *map(_fields, self._host.found)]}


def _fields(plugin: LoadedPlugin) -> PluginFields:
    fields: PluginFields = {
        "name": plugin.source.name,
        "source": plugin.source.target,
        "state": plugin.state,
        "provides": _parts(plugin.provides),
    }
    if plugin.reason is not None:
        fields["reason"] = plugin.reason
    return fields


def _parts(provided: tuple[Provided, ...]) -> list[ProvidedPart]:
    return [{"kind": one.kind, "name": one.name} for one in provided]


def plugin_warnings(host: PluginHost, pipelines: PipelineFaults, backend: BackendSwitch) -> list[AnswerWarning]:
    faults = [*map(_unavailable, host.faults()), *map(_failed, pipelines.faults())]
    filling = backend.filling
    if filling is not None and filling.fault is None:
        faults.append(_incomplete(filling))
    if backend.vector_fault is not None:
        faults.append(_without_vectors(*backend.vector_fault))
    return [*map(_refused, _not_loaded(host)), *faults]


def memory_warnings(host: PluginHost) -> list[AnswerWarning]:
    """Return why the configured store of agent memory is not in use; nothing if it is."""
    return [_unavailable(fault) for fault in host.faults() if fault.kind == KNOWLEDGE_STORE.name]


def _incomplete(mirror: Mirror) -> AnswerWarning:
    message = f"the backend {mirror.name!r} is being filled ({mirror.behind:,} files left); the former one answers"
    return warning("backend_unavailable", message, "nothing to do: livedex switches to it when it is complete")


def _without_vectors(name: str, reason: str) -> AnswerWarning:
    message = f"the backend {name!r} keeps no vectors: {reason}; searches compare with those on this machine"
    return warning("backend_vectors", message, "correct the server, as in docs/plugins.md; livedex tries it again")


def _failed(fault: PipelineFault) -> AnswerWarning:
    files = "a file" if fault.files == 1 else f"{fault.files:,} files"
    message = f"the pipeline {fault.pipeline!r} did not cut {files} ({fault.reason}); the built-in pipeline did"
    remedy = f"{_CHECK}; `livedex index --force` tries it again as it is"
    return warning("pipeline_unavailable", message, remedy)


def _not_loaded(host: PluginHost) -> list[LoadedPlugin]:
    return [plugin for plugin in host.found if plugin.state != "loaded"]


def _refused(plugin: LoadedPlugin) -> AnswerWarning:
    message = f"the plugin {plugin.source.name!r} is {plugin.state}: {plugin.reason}"
    without = "leave it out of plugins.paths" if plugin.source.place == "folder" else "uninstall it"
    again = "correct it and save the configuration again, or restart the daemon"
    return warning("plugin_refused", message, f"{again}; or {without}")


def _unavailable(fault: NameFault) -> AnswerWarning:
    """Name what livedex does without it. An embedder that is not used for anything else leaves keyword search."""
    remedy = _HANGS if fault.hangs else _CHECK
    if fault.kind == BACKEND.name:
        return warning("backend_unavailable", f"{fault.reason}; the built-in index answers", remedy)
    if fault.kind == EMBEDDER.name:
        named = fault.reason.replace("the embedder ", f"the embedder {fault.name!r} ", fault.name not in fault.reason)
        return warning("embedder_unavailable", f"{named}; new queries use keywords alone", remedy)
    if fault.kind == PARSER.name:
        return warning("parser_missing", fault.reason, remedy)
    if fault.kind == KNOWLEDGE_STORE.name:
        return warning("knowledge_unavailable", fault.reason, remedy)
    return warning("pipeline_unavailable", f"{fault.reason}; the built-in pipeline cuts its files", remedy)
