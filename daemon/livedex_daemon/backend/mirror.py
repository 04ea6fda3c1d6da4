"""Keeps one backend of a plugin equal to the index: each commit's files, all of them after a start or a loss.

Invariant: what a commit changed stays noted until the backend has taken it. A backend that raises, hangs or is
restarted loses nothing: it is made again and compared with the index.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

from livedex_daemon.backend.backend_calls import BackendCalls, BackendLost
from livedex_daemon.backend.documents import document_of, indexed, text_of
from livedex_daemon.backend.vector_feed import VectorFeed
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.process.supervision import SupervisedThread
from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Roots
from livedex_indexing import relpath
from livedex_indexing.model import Place
from livedex_indexing.plugins import BACKEND, Backend, Hit, Query, VectorBackend, VectorModel
from livedex_indexing.search.foreign_ranking import RankingFailed, checked
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.vectors.nearest import VectorSource
from livedex_ipc.errors import LivedexError, NotFound

log = logging.getLogger(__name__)

T = TypeVar("T")

OPEN_S: Final = 30.0  # for a factory
CALL_S: Final = 30.0  # for one document
SEARCH_S: Final = 10.0
MOST_HUNG: Final = 3  # objects whose calls hang: no more are made until one returns
PROBE: Final = Query("livedex", limit=1)
FIRST_PAUSE_S: Final = 0.5  # after a loss; it doubles
LONGEST_PAUSE_S: Final = 10.0


class Stored(NamedTuple):
    """What a backend remembers over a restart: where ``load`` and ``save`` keep the plan that its chunks follow."""

    load: Callable[[], str | None]
    save: Callable[[str | None], None]


class Origin(NamedTuple):
    """What a backend is filled from. ``plan`` names what decides how contents are cut; ``vectors`` gives those that
    searches use now, None if there are none."""

    readers: IndexReaders
    roots: Roots
    plan: Callable[[], str]
    vectors: Callable[[], VectorSource | None]


class Mirror:
    """One backend by its configured name. ``changed`` is for the writer, ``vectors_changed`` for any thread, ``search``
    and ``nearest`` for the threads of searches."""

    def __init__(
        self, name: str, host: PluginHost, origin: Origin, stored: Stored, is_used: Callable[[], bool]
    ) -> None:
        """``is_used``: whether searches use this mirror: only then it gets vectors, since the former one may fill the
        same tables."""
        self.name = name
        self.ready = False  # it was equal to the index once: searches may use it
        self.fault: str | None = None
        self.sent = 0
        self.feed = VectorFeed(origin.vectors)
        self._host, self._readers, self._roots = host, origin.readers, origin.roots
        self._plan, self._stored, self._is_used = origin.plan, stored, is_used
        self._wake = threading.Condition()
        self._dirty: dict[Key, None] = {}
        self._all = True  # everything must be compared
        self._working = 0  # files taken out of ``_dirty`` and not sent yet
        self._compared: str | None = None  # the plan that everything was compared under; None once it changed
        self._stopping = False
        self._calls: BackendCalls | None = None
        self._given_up: list[BackendCalls] = []  # those that may hang
        self.thread = SupervisedThread(f"backend {name}", self._run, recover=self.compare)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        """End, and wait for nothing: the backend may hang."""
        with self._wake:
            self._stopping = True
            calls, self._calls = self._calls, None
            self._wake.notify_all()
        if calls is not None:
            calls.close()

    # -- the writer

    def changed(self, files: Iterable[Key], roots: Iterable[int]) -> None:
        """Note what a commit changed."""
        with self._wake:
            self._dirty.update(dict.fromkeys(files))
            self._all |= bool(set(roots))
            self._wake.notify_all()

    def compare(self) -> None:
        """Compare everything with the index: after a rebuild, a loss, or a failure of our own."""
        with self._wake:
            self._all = True
            self._wake.notify_all()

    def vectors_changed(self) -> None:
        """Note that there are new vectors, or others."""
        with self._wake:
            self.feed.note()
            self._wake.notify_all()

    # -- searches

    @property
    def behind(self) -> int:
        """Return how many files are not sent yet; 1 at least while everything is being compared."""
        return len(self._dirty) + self._working + int(self._all)

    def search(self, query: Query, until: float) -> list[Hit]:
        """Return the backend's hits, once it has every commit. ``until``: monotonic. Raises BackendLost."""
        return self._call_for_search(lambda backend: _found(backend, query), until)

    def nearest(self, query: Query, model: VectorModel, vector: Sequence[float], until: float) -> list[Hit] | None:
        """Return the hits nearest to a vector, as `search` does; None if the backend lacks vectors of the model."""
        if not self.feed.has(model):
            return None

        def found(backend: Backend) -> list[Hit] | None:  # it may lack some since then
            return _near(backend, query, model, vector) if self.feed.has(model) else None

        return self._call_for_search(found, until)

    def _call_for_search(self, action: Callable[[Backend], T], until: float) -> T:
        with self._wake:
            caught_up = self._wake.wait_for(lambda: self.behind == 0 or self.fault is not None, _left(until))
        calls = self._calls
        if not caught_up or self.fault is not None or calls is None:
            raise BackendLost(self.fault or f"{self.behind} files are not sent yet")
        try:
            return calls.call(action, min(SEARCH_S, _left(until)))
        except BackendLost as lost:
            self.lose(calls, str(lost))
            raise

    def lose(self, calls: BackendCalls | None, reason: str) -> None:
        """Give up the object: it failed. It is made again, and compared with the index."""
        with self._wake:
            if calls is None or calls is not self._calls:
                return
            self._calls, self._all = None, True
            self._set_fault(reason)
            self._wake.notify_all()
        self._give_up(calls)

    def _give_up(self, calls: BackendCalls) -> None:
        calls.close()
        self._given_up.append(calls)

    def _set_fault(self, reason: str | None) -> None:
        self.fault = reason
        if self._stopping:
            return  # its name may be another object's by now
        message = None if reason is None else f"the backend {self.name!r} is lost: {reason}"
        self._host.report(BACKEND, self.name, message)

    # -- the thread

    def _run(self) -> None:
        pause_s = FIRST_PAUSE_S
        while self._wait():
            try:
                self._open()
                if self.behind:
                    self._step()
                else:
                    self._feed_vectors()
                pause_s = FIRST_PAUSE_S
            except BackendLost as lost:
                log.warning("backend_lost", extra={"backend": self.name, "reason": str(lost)})
                self.lose(self._calls, str(lost))
                with self._wake:
                    self._set_fault(str(lost))
                    self._wake.notify_all()
                    self._wake.wait_for(lambda: self._stopping, pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _wait(self) -> bool:
        """Wait for something to send. Return False at the end."""
        with self._wake:
            while not self._stopping and not self.behind:
                wait_s = self.feed.wait_s() if self.ready and self._is_used() else None
                if wait_s == 0:
                    break
                self._wake.wait(wait_s)
            return not self._stopping

    def _open(self) -> None:
        if self._calls is not None:
            return
        host, name = self._host, self.name
        self._given_up = [one for one in self._given_up if not one.ended]
        if len(self._given_up) >= MOST_HUNG:
            number = len(self._given_up)
            raise BackendLost(f"{number} calls of it hang: correct it, and restart the daemon (`livedex down`)")
        calls = BackendCalls(
            name,
            lambda: host.registry.create(BACKEND, name, host.config_for(BACKEND, name)),
            lambda: host.running(BACKEND, name),
        )
        try:
            calls.open(OPEN_S)
        except BackendLost:
            self._give_up(calls)
            raise
        self.feed.forget()
        with self._wake:
            if not self._stopping:
                self._calls = calls
                return
        calls.close()
        raise BackendLost("it was given up while it was made")

    def _feed_vectors(self) -> None:
        """Send vectors until a commit comes. If they are refused, see whether the backend still answers."""
        self.feed.run(self._call, lambda: self._stopping or self.behind > 0)
        if self.feed.fault is not None:
            self._probe()

    def _call(self, action: Callable[[Backend], T], seconds: float | None = None) -> T:
        calls = self._calls
        if calls is None:
            raise BackendLost(self.fault or "it was given up")
        return calls.call(action, CALL_S if seconds is None else seconds)

    def _probe(self) -> None:
        """Search once: it may take documents and not find any. Raises BackendLost."""
        self._call(lambda backend: _found(backend, PROBE), SEARCH_S)

    def _step(self) -> None:
        """Send what is noted; compare everything first if that is due."""
        with self._wake:
            compare, self._all = self._all, False
            files, self._dirty = list(self._dirty), {}
            self._working = len(files) + int(compare)
        try:
            if compare:
                files = list(dict.fromkeys([*files, *self._differences()]))
            elif not self._is_as_compared():
                # A file that is cut anew keeps its hash: after a crash no comparison would show that it was not sent.
                self._compared = None
                self._stored.save(None)
            self._send(files)
        except BaseException:
            with self._wake:
                self._dirty.update(dict.fromkeys(files))
                self._all |= compare
            raise
        finally:
            with self._wake:
                self._working = 0
                self._wake.notify_all()
        if self.fault is not None or not self.ready:
            self._probe()
        with self._wake:
            if self.behind == 0 and not self._stopping:
                if self._is_as_compared():
                    self._stored.save(self._compared)
                self.ready = True
                self._set_fault(None)
                self._wake.notify_all()

    def _is_as_compared(self) -> bool:
        """Whether the plan is still the one that everything was compared under."""
        return self._compared == self._plan()

    def _send(self, files: list[Key]) -> None:
        for number, key in enumerate(files):
            if self._stopping:
                return
            self._send_one(Place(*key))
            with self._wake:
                self._working = len(files) - number - 1

    def _send_one(self, place: Place) -> None:
        roots = self._roots.paths()
        root = roots.get(place.root_id)
        path = text_of(relpath.absolute(root, place.path)) if root is not None else None
        if path is None:
            return
        try:
            document = self._read(lambda reader: document_of(reader, place, roots))
        except NotFound:
            self._call(lambda backend: backend.delete(path))
            return
        if document is not None:  # else it has changed, and its next commit is about to come
            self.feed.note()
            self._call(lambda backend: backend.index(document))
            self.sent += 1

    def _differences(self) -> list[Key]:
        """Delete what the index does not have; return what the backend does not have as the index has it."""
        plan = self._compared = self._plan()
        fresh = self._stored.load() == plan
        if not fresh:
            self._stored.save(None)
        roots = self._roots.paths()
        files = {(root_id, path): digest for root_id in roots for path, digest in self._indexed(root_id).items()}
        wanted = {text_of(relpath.absolute(roots[key[0]], key[1])): key for key in files}
        has: dict[str, str | None] = {}
        for path, digest in self._call(_listed):
            if path in wanted:
                has[path] = digest
            else:
                self._call(lambda backend, path=path: backend.delete(path))  # type: ignore[misc]
        return [key for path, key in wanted.items() if path is not None and not (fresh and has.get(path) == files[key])]

    def _indexed(self, root_id: int) -> dict[bytes, str]:
        return self._read(lambda reader: indexed(reader, root_id))

    def _read(self, action: Callable[[Reader], T]) -> T:
        """Read the index; while it cannot be read, as during a rebuild, all is compared again later."""
        try:
            with self._readers.current.readers.connection(deadline=time.monotonic() + CALL_S, cancelled=bool) as reader:
                return action(reader)
        except NotFound:
            raise
        except LivedexError as fault:
            raise BackendLost(f"the index cannot be read: {fault.message}") from fault


def _listed(backend: Backend) -> list[tuple[str, str | None]]:
    """Return path and content hash of what a backend has. Raises BackendLost for nonsense."""
    listed = [(record.path, record.content_hash) for record in backend.list_files()]
    if not all(isinstance(path, str) and isinstance(digest, str | None) for path, digest in listed):
        raise BackendLost("list_files does not return a list of FileRecord")
    return listed


def _found(backend: Backend, query: Query) -> list[Hit]:
    return _sound(lambda: backend.search(query), query.limit)


def _near(backend: Backend, query: Query, model: VectorModel, vector: Sequence[float]) -> list[Hit]:
    if not isinstance(backend, VectorBackend):
        raise BackendLost("it keeps no vectors any more")
    return _sound(lambda: backend.nearest(model, vector, query), query.limit)


def _sound(answer: Callable[[], list[Hit]], most: int) -> list[Hit]:
    """Return the hits of a backend's answer. Raises BackendLost for nonsense."""
    try:
        return checked(answer(), most)
    except RankingFailed as nonsense:
        raise BackendLost(str(nonsense)) from nonsense


def _left(until: float) -> float:
    return max(0.0, until - time.monotonic())
