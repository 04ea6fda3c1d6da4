"""Gives a backend the vectors of its chunks, behind its documents.

Invariant: nothing is embedded for a backend, and what it lacks is asked, not remembered. A backend that cannot keep
vectors, or is behind with them, costs nothing but its own: searches compare with the daemon's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Final, Protocol, TypeVar

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins import Backend, VectorBackend, VectorModel
from livedex_indexing.plugins.registry import described
from livedex_indexing.vectors.nearest import VectorSource

T = TypeVar("T")

BATCH: Final = 64  # vectors of one call: a search waits for no more
PAGE: Final = 1_000  # keys asked for at once
REST: Final = 5  # times as long as the last look took, before the next
LONGEST_REST_S: Final = 5.0
FIRST_PAUSE_S: Final = 1.0  # after a fault; it doubles
LONGEST_PAUSE_S: Final = 30.0


class Call(Protocol):
    """Runs an action on the backend's thread. Raises BackendLost."""

    def __call__(self, action: Callable[[Backend], T]) -> T: ...


class _Refused(Exception):
    """The backend raised, or its answer is none; the message says what."""


class VectorFeed:
    """One backend's. ``note`` and ``has`` are for any thread, the rest for the one that fills the backend."""

    def __init__(self, source: Callable[[], VectorSource | None]) -> None:
        self.fault: str | None = None  # why it keeps no vectors; None: it does, or was never given any
        self._source = source
        self._due = True
        self._at = 0.0  # monotonic: no look before it
        self._pause_s = FIRST_PAUSE_S
        self._complete: VectorSource | None = None  # the backend has all that this had

    def note(self) -> None:
        """Note that the backend may lack vectors: it got documents, or there are new vectors."""
        self._due = True

    def has(self, model: VectorModel) -> bool:
        """Whether the backend has every vector of the model that there is."""
        complete = self._complete
        return complete is not None and complete.model == model and not self._due and self._source() == complete

    def wait_s(self) -> float | None:
        """Return how long to wait for the next look; None: until something is noted."""
        return max(0.0, self._at - time.monotonic()) if self._due else None

    def forget(self) -> None:
        """Begin again: the backend's object is another one."""
        self._due, self._at, self._complete = True, 0.0, None

    def run(self, call: Call, interrupted: Callable[[], bool]) -> None:
        """Send what the backend lacks and the source has, until ``interrupted``. Raises BackendLost."""
        began = time.monotonic()
        self._due, self._complete = False, None  # before the look: what is noted from now on is due again
        source = self._source()
        if source is None or not call(lambda backend: isinstance(backend, VectorBackend)):
            self.fault = None
            return
        try:
            if not self._send(source, call, interrupted):
                self._due = True
                return
            _tried(call, methodcaller("drop_other_vectors", source.model))
        except _Refused as refused:
            self.fault = str(refused)
            self._due, self._at = True, time.monotonic() + self._pause_s
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
            return
        except EmbedderUnavailable:  # our own cannot be read
            self._due, self._at = True, time.monotonic() + FIRST_PAUSE_S
            return
        except BaseException:
            self._due = True
            raise
        self.fault, self._pause_s = None, FIRST_PAUSE_S
        now = time.monotonic()
        self._at = now + min(REST * (now - began), LONGEST_REST_S)
        self._complete = source

    def _send(self, source: VectorSource, call: Call, interrupted: Callable[[], bool]) -> bool:
        """Return False if there was no time for all."""
        after = ""
        while not interrupted():
            keys = _lacking(call, source.model, after)
            found = list(source.of_texts([bytes.fromhex(key) for key in keys]).items())
            for start in range(0, len(found), BATCH):
                if interrupted():
                    return False
                part = {digest.hex(): vector for digest, vector in found[start : start + BATCH]}
                _tried(call, methodcaller("put_vectors", source.model, part))
            if len(keys) < PAGE:
                return True
            after = keys[-1]
        return False


def _tried(call: Call, action: Callable[[VectorBackend], T]) -> T:
    """Return what the action returns. Raises _Refused for what the backend raises, BackendLost if it hangs."""

    def run(backend: Backend) -> T | _Refused:
        try:
            return action(backend)  # type: ignore[arg-type]  # `run` has looked
        except _Refused as refused:
            return refused
        except BaseException as fault:  # a plugin may raise anything
            return _Refused(described(fault))

    answer = call(run)
    if isinstance(answer, _Refused):
        raise answer
    return answer


def _lacking(call: Call, model: VectorModel, after: str) -> Sequence[str]:
    """Return the next keys without a vector. Raises _Refused, also for keys that would be asked for again."""
    keys = _tried(call, lambda backend: _keys(backend.lacking_vectors(model, after, PAGE)))
    if keys and keys[0] <= after:
        raise _Refused("lacking_vectors returns keys that are not above `after`")
    return keys


def _keys(answer: object) -> Sequence[str]:
    """Return the keys if they are hex text in order. Raises _Refused."""
    try:
        keys = [bytes.fromhex(key).hex() for key in answer]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise _Refused("lacking_vectors does not return a list of keys") from None
    if keys != sorted(set(keys)):
        raise _Refused("lacking_vectors does not return the keys in order")
    return keys
