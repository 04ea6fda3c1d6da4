"""Registers the backends that come as extras: ``postgres``, ``qdrant`` and ``semtools``.

Invariant: nothing of an engine is imported before its factory is called; without the engine the factory names the
extra.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from livedex_indexing.plugins import Backend, Registrar


def register(registry: Registrar) -> None:
    registry.register_backend("postgres", _postgres)
    registry.register_backend("qdrant", _qdrant)
    registry.register_backend("semtools", _semtools)


def _postgres(config: Mapping[str, object]) -> Backend:
    _need("psycopg", "postgres")
    from livedex_indexing.backends.postgres_backend import PostgresBackend

    return PostgresBackend(_settings(config))


def _qdrant(config: Mapping[str, object]) -> Backend:
    _need("qdrant_client", "qdrant")
    from livedex_indexing.backends.qdrant_backend import QdrantBackend

    return QdrantBackend(_settings(config))


def _semtools(config: Mapping[str, object]) -> Backend:
    from livedex_indexing.backends.semtools_backend import SemtoolsBackend

    return SemtoolsBackend(_settings(config))


def _settings(config: Mapping[str, object]) -> Mapping[str, object]:
    table = config.get("plugin")
    return table if isinstance(table, Mapping) else {}


def _need(module: str, extra: str) -> None:
    if find_spec(module) is None:
        raise ModuleNotFoundError(f"{module} is not installed: pip install 'livedex[{extra}]'")
