"""A pipeline of a plugin in the chunk process: made from its settings, run with a time limit, its spans checked.

Invariant: whatever the plugin does, its text is cut: spans that pass the check, or a ``PipelineFailed`` whose message
quotes no text of the file. Only the plugin that owns the pipeline is loaded.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import FrameType, MappingProxyType

import msgspec

from livedex_indexing.chunk import chonkie_steps
from livedex_indexing.chunk.chunk_limits import pipeline_time
from livedex_indexing.chunk.chunk_plan import PluginPipeline
from livedex_indexing.chunk.error_place import error_place
from livedex_indexing.plugins import BUILT_IN, PIPELINE, Pipeline, PluginUnavailable, Registry, Span
from livedex_indexing.plugins.plugin_loader import load_sources
from livedex_indexing.plugins.plugin_source import find
from livedex_indexing.span_check import span_fault

_REASON_CHARS = 300
_LOAD_S = 10.0


class PipelineFailed(Exception):
    """The pipeline gives no usable spans; the message says why, without text of the file."""


class _OutOfTime(BaseException):
    """No ``Exception``: a plugin that handles those must not go on."""


def cut(wanted: PluginPipeline, text: str, suffix: str) -> list[Span]:
    """Return the checked spans of a text. Raises PipelineFailed."""
    pipeline = _made(wanted)
    if isinstance(pipeline, str):
        raise PipelineFailed(pipeline)
    try:
        with _limited(pipeline_time(len(text))):
            spans = pipeline.chunk(text, suffix)
            reason = span_fault(spans, text)  # which may run code of the plugin: of a class of its own
    except _OutOfTime:
        raise PipelineFailed("it takes too long") from None
    except BaseException as fault:  # a plugin may raise anything
        raise PipelineFailed(error_place(fault)) from None
    if reason is not None:
        raise PipelineFailed(reason)
    return spans


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise _OutOfTime after so many seconds, unless C code holds the thread: then the daemon ends this process."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise _OutOfTime

    former = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


@lru_cache(maxsize=16)
def _made(wanted: PluginPipeline) -> Pipeline | str:
    """Return the pipeline, or why there is none: that, too, is found out once."""
    try:
        with _limited(_LOAD_S):
            return _create(wanted)
    except _OutOfTime:
        return "it takes too long to load"
    except PluginUnavailable as fault:
        late = isinstance(fault.__cause__, _OutOfTime)
        return "it takes too long to load" if late else str(fault)[:_REASON_CHARS]


def _create(wanted: PluginPipeline) -> Pipeline:
    registry = Registry()
    chonkie_steps.register(registry.owned_by(BUILT_IN))
    if wanted.owner != BUILT_IN:
        sources = [one for one in find(wanted.folders, frozenset((wanted.owner,))) if one.name == wanted.owner]
        plugins = load_sources(sources, registry, _LOAD_S)
        plugin = plugins.named(wanted.owner)
        if plugin is not None and plugin.reason is not None:
            raise PluginUnavailable(plugin.reason)
    settings = msgspec.json.decode(wanted.settings, type=dict[str, object])
    return registry.create(PIPELINE, wanted.name, MappingProxyType(settings))
