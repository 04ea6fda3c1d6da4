"""Gets the vector of a query in time, or says why not.

Invariant: a search waits no longer than it allowed. After a failure the embedder rests for a while, so that a gateway
that is down costs each search nothing; a vector that came too late serves the next search.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Final

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.embeddings.vector_check import checked
from livedex_indexing.plugins import Embedder
from livedex_indexing.plugins.registry import described
from livedex_ipc.errors import Unavailable
from livedex_ipc.lasting_threads import LastingThreads

REST_S: Final = 5.0  # after a failure
_KEPT: Final = 256  # vectors of queries
_THREADS: Final = 2


class QueryVectors:
    """The vectors of queries by one embedder. Call it from any thread."""

    def __init__(self, embedder: Embedder, dimensions: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._dimensions = dimensions
        self._clock = clock
        self._known: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = threading.Lock()
        self._threads = LastingThreads(_THREADS, "query-vector")
        self._rests_until = 0.0
        self._reason = ""
        self._under_way: dict[str, Future[list[float]]] = {}

    @property
    def fault(self) -> str | None:
        """Why the last query got no vector; None if it got one."""
        return self._reason or None

    def vector(self, text: str, seconds: float) -> list[float]:
        """Return the vector of a query within ``seconds``. Raises EmbedderUnavailable."""
        with self._lock:
            known = self._known.get(text)
            if known is not None:
                self._known.move_to_end(text)
                return known
            if self._clock() < self._rests_until:
                raise EmbedderUnavailable(self._reason)
            future = self._under_way.get(text)
            if future is None:
                future = self._under_way[text] = self._begin(text)
        try:
            return future.result(max(0.0, seconds))
        except TimeoutError:
            return self._just_come(text, seconds)
        except CancelledError:
            raise EmbedderUnavailable("another embedder just took its place") from None

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)

    def _begin(self, text: str) -> Future[list[float]]:
        try:
            return self._threads.submit(self._make, text)
        except Unavailable as fault:
            raise EmbedderUnavailable(str(fault)) from fault

    def _make(self, text: str) -> list[float]:
        try:
            (vector,) = checked([self._embedder.embed(text)], 1, self._dimensions)
        except EmbedderUnavailable as fault:
            self._rest(fault)
            raise
        except Exception as error:  # a plugin may raise anything
            raised = EmbedderUnavailable(f"the embedder raises {described(error)}")
            self._rest(raised)
            raise raised from error
        else:
            with self._lock:
                self._known[text] = vector
                self._reason, self._rests_until = "", 0.0
                if len(self._known) > _KEPT:
                    self._known.popitem(last=False)
            return vector
        finally:
            with self._lock:
                self._under_way.pop(text, None)

    def _just_come(self, text: str, seconds: float) -> list[float]:
        """Return a vector that came when its time was over: then the embedder need not rest. Raises
        EmbedderUnavailable."""
        fault = EmbedderUnavailable(f"the embedder gave no vector in {max(0.0, seconds):.1f} s")
        until = self._clock() + REST_S
        with self._lock:
            if text in self._known:
                return self._known[text]
            self._reason, self._rests_until = str(fault), until
        raise fault

    def _rest(self, fault: EmbedderUnavailable) -> None:
        with self._lock:
            self._reason, self._rests_until = str(fault), self._clock() + max(REST_S, fault.again_s or 0.0)
