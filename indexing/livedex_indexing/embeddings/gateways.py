"""Embedders behind HTTP: Ollama, every OpenAI-compatible gateway, Cohere and Voyage.

Invariant: texts go to the configured host and nowhere else. A key is read from its variable when the embedder is made,
and is in no error, log or file. What an answer lacks is an error, never a vector.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable, EmbeddingSettings
from livedex_indexing.plugins import BaseEmbedder
from livedex_ipc.http_gateways import authorization

Vectors = list[list[float]]

_PROBE: Final = "livedex"
_QUERY, _DOCUMENT = "query", "document"
_MOST_CHARS: Final = 24_000  # of a text, about 8,000 tokens: gateways refuse longer ones


class Service(NamedTuple):
    """How one kind of gateway is asked. ``body`` makes a request of model, texts and purpose; ``vectors`` reads an
    answer. ``most`` is the largest number of texts in one request."""

    api_base: str
    path: str
    key_env: str
    most: int
    body: Callable[[str, list[str], str], dict[str, object]]
    vectors: Callable[[bytes], Vectors]


class _Embeddings(msgspec.Struct):
    embeddings: Vectors


class _Item(msgspec.Struct):
    index: int
    embedding: list[float]


class _Data(msgspec.Struct):
    data: list[_Item]


class _ByType(msgspec.Struct):
    float_: Vectors = msgspec.field(name="float")


class _Typed(msgspec.Struct):
    embeddings: _ByType


def _in_order(answer: bytes) -> Vectors:
    """Read the form of OpenAI: the items come in any order, each with its place."""
    items = sorted(msgspec.json.decode(answer, type=_Data).data, key=lambda item: item.index)
    if [item.index for item in items] != list(range(len(items))):
        raise msgspec.ValidationError("places are missing or double")
    return [item.embedding for item in items]


SERVICES: Final[Mapping[str, Service]] = {
    "ollama": Service(
        "http://localhost:11434",
        "/api/embed",
        "",
        512,
        lambda model, texts, _: {"model": model, "input": texts, "truncate": True},
        lambda answer: msgspec.json.decode(answer, type=_Embeddings).embeddings,
    ),
    "openai": Service(
        "https://api.openai.com/v1",
        "/embeddings",
        "OPENAI_API_KEY",
        2_048,
        lambda model, texts, _: {"model": model, "input": texts, "encoding_format": "float"},
        _in_order,
    ),
    "cohere": Service(
        "https://api.cohere.com/v2",
        "/embed",
        "CO_API_KEY",
        96,
        lambda model, texts, purpose: {
            "model": model,
            "texts": texts,
            "input_type": f"search_{purpose}",
            "embedding_types": ["float"],
        },
        lambda answer: msgspec.json.decode(answer, type=_Typed).embeddings.float_,
    ),
    "voyage": Service(
        "https://api.voyageai.com/v1",
        "/embeddings",
        "VOYAGE_API_KEY",
        128,
        lambda model, texts, purpose: {"model": model, "input": texts, "input_type": purpose},
        _in_order,
    ),
}


class GatewayEmbedder(BaseEmbedder):
    """An embedder behind HTTP. ``host`` and ``bytes_sent`` say where texts went, and how much."""

    def __init__(self, name: str, settings: EmbeddingSettings, environ: Mapping[str, str] = os.environ) -> None:
        """Raises EmbedderUnavailable without a model, or if the variable with the key is not set, or has none."""
        from livedex_indexing.embeddings.http_calls import Gateway  # 1.6 MiB, which other daemons do not need

        service = SERVICES[name]
        if not settings.model:
            raise EmbedderUnavailable(f"{name} needs a model: set embedding.model")
        api_base = settings.api_base or service.api_base
        variable = settings.api_key_env or ("" if settings.api_base else service.key_env)
        if variable and not environ.get(variable):
            raise EmbedderUnavailable(f"the environment variable {variable}, which is to hold the key, is not set")
        try:
            headers = authorization(environ[variable]) if variable else {}
        except ValueError as error:
            raise EmbedderUnavailable(
                f"the environment variable {variable}, which is to hold the key, {error}"
            ) from None
        self._service, self._settings = service, settings
        self._gateway = Gateway(api_base, headers)
        self.identity = f"{name}/{api_base}/{settings.model}/{_MOST_CHARS}"

    @property
    def host(self) -> str:
        return self._gateway.host

    @property
    def bytes_sent(self) -> int:
        return self._gateway.bytes_sent

    @cached_property
    def dimensions(self) -> int:
        """Asked once, with a word of livedex's own."""
        return len(self._answered([_PROBE], _DOCUMENT, self._settings.timeout)[0])

    def embed(self, text: str) -> list[float]:
        return self._answered([text], _QUERY, self._settings.timeout, tries=1)[0]

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        most = self._service.most
        parts = [texts[start : start + most] for start in range(0, len(texts), most)]
        return [vector for part in parts for vector in self._answered(part, _DOCUMENT, self._settings.timeout)]

    def _answered(self, texts: list[str], purpose: str, seconds: float, *, tries: int = 3) -> Vectors:
        clean = [text.encode("utf-8", "replace").decode()[:_MOST_CHARS] or " " for text in texts]
        body = msgspec.json.encode(self._service.body(self._settings.model, clean, purpose))
        answer = self._gateway.post(self._service.path, body, seconds, tries=tries)
        try:
            vectors = self._service.vectors(answer)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise EmbedderUnavailable(f"the gateway {self.host} answered something else than vectors") from error
        if len(vectors) != len(texts):
            raise EmbedderUnavailable(f"the gateway {self.host} answered {len(vectors)} vectors for {len(texts)} texts")
        return vectors
