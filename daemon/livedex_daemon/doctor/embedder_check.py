"""The doctor's check of the embedder that the configuration names.

Invariant: nothing of an embedder is loaded where none is configured, and one that hangs is given up.
"""

from __future__ import annotations

from collections.abc import Iterator

from livedex_daemon.config import settings
from livedex_daemon.doctor.check_result import Check, ok, warning
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.process.locations import locate
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable, settings_of
from livedex_indexing.embeddings.vector_check import check_dimensions, checked
from livedex_indexing.plugins.registry import described
from livedex_indexing.plugins.time_limit import within
from livedex_ipc.errors import ConfigInvalid, Unavailable

LIMIT_S = 30.0  # a model may have to be loaded
_TEXT = "livedex"
_FIX = "correct the table [embedding] (docs: semantic); until then searches compare words alone"


def embedder() -> Iterator[Check]:
    """Does the configured embedder give a vector? A gateway is sent one word."""
    try:
        config = settings.load(locate().config_path)
    except (ConfigInvalid, Unavailable):
        return  # the check of the configuration says so
    wanted = settings_of(config.effective)
    if not wanted.embedder:
        yield ok("embedder", "none: searches compare words")
        return
    host = PluginHost()
    host.load(config)
    try:
        dimensions = within(LIMIT_S, lambda: _tried(host, wanted.embedder), "embedder")
    except (EmbedderUnavailable, TimeoutError) as fault:
        yield warning("embedder", f"{wanted.embedder}: {fault}", _FIX)
    except Exception as fault:  # a plugin may raise anything
        yield warning("embedder", f"{wanted.embedder} raises {described(fault)}", _FIX)
    else:
        yield ok("embedder", f"{wanted.embedder} gives vectors of {dimensions} numbers")


def _tried(host: PluginHost, name: str) -> int:
    """Return the size of the embedder's vectors. Raises EmbedderUnavailable, or what a plugin raises."""
    made = host.obtain_embedder(name)
    dimensions = check_dimensions(made.dimensions)
    checked([made.embed(_TEXT)], 1, dimensions)
    return dimensions
