"""The embedder of a plugin, called for limited times.

Invariant: each call ends in time, with what the plugin returned or with EmbedderUnavailable, whatever the plugin does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins import BaseEmbedder, Embedder
from livedex_indexing.plugins.registry import described
from livedex_indexing.plugins.time_limit import LimitedCalls

T = TypeVar("T")

READ_S: Final = 10.0  # for an attribute, and for its end


class LimitedEmbedder(BaseEmbedder):
    """``identity``, ``dimensions`` and ``host`` are asked once, ``bytes_sent`` after each call. Vectors are checked by
    the caller."""

    def __init__(self, embedder: Embedder, calls: LimitedCalls, timeout_s: float) -> None:
        """``timeout_s``: for one call that embeds. Raises EmbedderUnavailable."""
        self._embedder = embedder
        self._calls = calls
        self._timeout_s = timeout_s
        self._dimensions: int = self._limited(READ_S, lambda: embedder.dimensions)
        named = self._limited(READ_S, lambda: getattr(embedder, "identity", ""))
        host = self._limited(READ_S, lambda: getattr(embedder, "host", None))
        self.host = str(host) if isinstance(host, str) else None  # that texts are sent to, if the plugin names one
        self.bytes_sent = 0
        kind = type(embedder)
        identity = str(named) if isinstance(named, str) and named else f"{kind.__module__}.{kind.__name__}"
        self.identity = identity.encode("utf-8", "backslashreplace").decode()  # half a character cannot be stored

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, text: str) -> list[float]:
        return self._embedded(lambda: _plain(self._embedder.embed(text)))

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        return self._embedded(lambda: _all_plain(self._embedder.embed_batch(texts)))

    def close(self) -> None:
        """Close the embedder if it can be closed."""
        self._calls.close(READ_S, self._embedder)

    def _embedded(self, action: Callable[[], T]) -> T:
        def embed() -> tuple[T, object]:
            return action(), getattr(self._embedder, "bytes_sent", 0)

        found, sent = self._limited(self._timeout_s, embed)
        self.bytes_sent = sent if isinstance(sent, int) else 0
        return found

    def _limited(self, seconds: float, action: Callable[[], T]) -> T:
        try:
            return self._calls.run(seconds, action)
        except EmbedderUnavailable:
            raise
        except TimeoutError as fault:
            raise EmbedderUnavailable(f"the embedder hangs: {fault}") from fault
        except Exception as fault:  # a plugin may raise anything
            raise EmbedderUnavailable(f"the embedder fails: {described(fault)}") from fault


def _all_plain(vectors: list[list[float]]) -> list[list[float]]:
    return [_plain(vector) for vector in vectors] if isinstance(vectors, list | tuple) else vectors


def _plain(vector: Iterable[float]) -> list[float]:
    """Take an answer apart within its call: that, too, may run code of the plugin. What is no vector becomes None,
    which the caller refuses."""
    try:
        return [float(value) for value in vector]
    except (TypeError, ValueError, OverflowError):
        return None  # type: ignore[return-value]  # as the plugin's own answer was none
