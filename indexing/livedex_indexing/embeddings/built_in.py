"""Registers the embedders that come with livedex.

Invariant: to register imports no model and opens no connection; a factory only checks what it can check without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from livedex_indexing.embeddings.embedding_settings import settings_of
from livedex_indexing.embeddings.gateways import SERVICES, GatewayEmbedder
from livedex_indexing.embeddings.models import FASTEMBED, STATIC
from livedex_indexing.embeddings.process_embedder import ProcessEmbedder, StaticInProcess
from livedex_indexing.plugins import Registrar


def register(registrar: Registrar) -> None:
    """Register every built-in embedder."""
    registrar.register_embedder(STATIC, _static)
    registrar.register_embedder(FASTEMBED, _fastembed)
    for name in SERVICES:
        registrar.register_embedder(name, partial(_gateway, name))


def _static(config: Mapping[str, object]) -> StaticInProcess:
    return StaticInProcess(settings_of(config))


def _fastembed(config: Mapping[str, object]) -> ProcessEmbedder:
    return ProcessEmbedder(FASTEMBED, settings_of(config))


def _gateway(name: str, config: Mapping[str, object]) -> GatewayEmbedder:
    return GatewayEmbedder(name, settings_of(config))
