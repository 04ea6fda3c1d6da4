"""What a plugin may replace: the Protocols, their data, the registry that names them, and where plugins come from."""

from livedex_indexing.plugins.chonkie_adapter import ChonkiePipeline
from livedex_indexing.plugins.plugin_bases import BaseBackend, BaseEmbedder
from livedex_indexing.plugins.plugin_data import Chunk, Document, FileRecord, Hit, Query, QueryTerm, Span, VectorModel
from livedex_indexing.plugins.protocols import Backend, Embedder, KnowledgeBackend, Parser, Pipeline, VectorBackend
from livedex_indexing.plugins.registry import (
    BACKEND,
    BUILT_IN,
    EMBEDDER,
    KNOWLEDGE_STORE,
    PARSER,
    PIPELINE,
    NameTaken,
    PluginKind,
    PluginUnavailable,
    Registrar,
    Registry,
)

__all__ = [
    "BACKEND",
    "BUILT_IN",
    "EMBEDDER",
    "KNOWLEDGE_STORE",
    "PARSER",
    "PIPELINE",
    "Backend",
    "BaseBackend",
    "BaseEmbedder",
    "ChonkiePipeline",
    "Chunk",
    "Document",
    "Embedder",
    "FileRecord",
    "Hit",
    "KnowledgeBackend",
    "NameTaken",
    "Parser",
    "Pipeline",
    "PluginKind",
    "PluginUnavailable",
    "Query",
    "QueryTerm",
    "Registrar",
    "Registry",
    "Span",
    "VectorBackend",
    "VectorModel",
]
