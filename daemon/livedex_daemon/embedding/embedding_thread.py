"""The thread that gives each chunk its vector, behind the index, and what searches get of it.

Invariant: the index never waits for it: it reads through the pool of the searches, writes files of its own, and rests
while a root is indexed for the first time. Vectors of another model are built next to those in use, which serve until
the new ones are complete. Whatever fails is a reason that the status names, and is tried again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

import apsw

from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.embedding.vector_set import VectorFiles, VectorSet, former_settings, others
from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.knowledge.entry_vectors import has_entries
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.process.supervision import SupervisedThread
from livedex_daemon.watch.root_table import Roots
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable, EmbeddingSettings, settings_of
from livedex_indexing.plugins import EMBEDDER, Embedder
from livedex_indexing.search.meaning import Fusion, Vectors
from livedex_indexing.store.database import DAMAGED
from livedex_indexing.store.read_pool import PoolClosed
from livedex_indexing.vectors import vector_database
from livedex_indexing.vectors.nearest import LOST, VectorSource
from livedex_indexing.vectors.token_frequencies import chunks_in
from livedex_indexing.vectors.vector_database import SqliteVecMissing
from livedex_ipc.errors import LivedexError

log = logging.getLogger(__name__)

AGAIN_S: Final = (1.0, 2.0, 5.0, 15.0, 60.0)  # after each failure in a row
COMPARE_S: Final = 60.0  # at least, between two comparisons of the whole index
IDLE_S: Final = 5.0  # a child that embedded nothing for so long ends
_BUSY_S: Final = 0.5
_JOIN_S: Final = 0.5

_FAULTS = (EmbedderUnavailable, SqliteVecMissing, LivedexError, apsw.Error, OSError)


class EmbeddingThread:
    """Start it once the configuration was applied. The properties and ``vectors`` are for any thread."""

    def __init__(
        self, index: IndexFile, roots: Roots, config: CurrentConfig, plugins: PluginHost, files: VectorFiles,
        may_run: Callable[[], bool],
    ) -> None:  # fmt: skip
        """``may_run``: whether bulk work may run now."""
        self._index, self._roots, self._config, self._plugins = index, roots, config, plugins
        self._files, self._may_run = files, may_run
        self._wake, self._ended = threading.Event(), threading.Event()
        self._active: tuple[EmbeddingSettings, int] | None = None  # what the present embedder was made from
        self._used: VectorSet | None = None  # by searches
        self._next: VectorSet | None = None  # under construction
        self._failures, self._again_at = 0, 0.0  # in a row, and when it is tried again
        self._compared, self._compared_at = 0.0, -1  # when the whole index was compared, and its generation then
        self._looked = -1  # the generation whose contents are known here
        self._embedded = 0  # by vectors that were closed
        self._sent: Counter[str] = Counter()  # bytes, by their embedders to each host
        self._unmade = 0  # chunks, while there is no set
        self.fault: str | None = None
        self.on_vectors: Callable[[], object] = bool  # called when `source` is another
        self._noted: VectorSource | None = None  # the source when it was called last
        self.thread = SupervisedThread("embedding", self._run, recover=self._drop_all)

    # What the status and searches ask

    @property
    def name(self) -> str | None:
        """The embedder that is configured; None for none."""
        return self._settings().embedder or None

    @property
    def pending(self) -> int | None:
        """How many chunks have no vector yet; None without an embedder."""
        settings = self._settings()
        if not settings.embedder:
            return None
        active, looked = self._active, self._looked
        filling = self._filling(settings)
        known = self._unmade if filling is None else filling.pending
        is_same = looked == self._looked == self._index.store.generation  # before and after what is known was read
        is_known = active is not None and active[0] == settings and is_same
        return known if is_known else max(known, 1)

    @property
    def embedded(self) -> int:
        """How many texts were embedded since the start."""
        return self._embedded + sum(one.embedded for one in self._sets())

    @property
    def gateways(self) -> list[tuple[str, int]]:
        """The hosts that texts are sent to, and how many bytes were sent to each since the start."""
        sent = self._sent.copy()
        for one in self._sets():
            sent.update(_sent_by(one.embedder))
        return list(sent.items())

    @property
    def source(self) -> VectorSource | None:
        """The vectors that searches use now; None if there are none."""
        used = self._used
        if used is None or not used.usable or used.store.index.damaged:
            return None
        index = used.store.index
        return VectorSource(used.model, index.vectors_of_texts, index.texts_version)

    def vectors(self, text: str, seconds: float) -> Vectors | None:
        """Return what a search compares with; None without an embedder, or before the first vectors. Raises
        EmbedderUnavailable."""
        used = self._used
        if self.name is None:
            return None
        if used is None or not used.usable:
            if self.fault is not None:
                raise EmbedderUnavailable(self.fault)
            return None
        if used.store.index.damaged:
            self._wake.set()
            raise EmbedderUnavailable(LOST)
        embedding = self._config.config.embedding
        fusion: Fusion = "rrf" if embedding.fusion == "rrf" else "score"
        until = time.monotonic() + seconds
        try:
            vector = used.queries.vector(text, seconds)
        except EmbedderUnavailable:
            if used is self._used:
                raise
            return self.vectors(text, until - time.monotonic())  # others just took the place of these
        return Vectors(used.store.index, vector, embedding.weight, fusion, used.model)

    # The thread

    def start(self) -> None:
        self.thread.start()

    def changed(self) -> None:
        """Note that the index or the configuration changed. Call it from any thread."""
        self._wake.set()

    def entries_added(self) -> None:
        """Note that agent memory has new entries. Call it from any thread."""
        for one in self._sets():
            one.entries.look()
        self._wake.set()

    def stop(self) -> None:
        self._ended.set()
        self._wake.set()
        if self.thread.end(_JOIN_S):
            self._drop_all()

    def _run(self) -> None:
        while not self._ended.is_set():
            self._wake.clear()
            wait = self._turn()
            if self.source != self._noted:
                self._noted = self.source
                self.on_vectors()
            if wait is None or wait > 0:
                self._wake.wait(wait)

    def _turn(self) -> float | None:
        """Do one step. Return for how long to rest; None: until something changes."""
        wanted = (self._settings(), self._plugins.generation)
        if wanted != self._active:
            self._looked, self._active = -1, wanted
            self._change(wanted[0])
        if not wanted[0].embedder:
            return None
        if self._is_busy():
            return _BUSY_S
        try:
            self._drop_lost()
            rest = self._again_at - time.monotonic()
            if self._failures and rest > 0:
                return rest  # changes of files do not mend an embedder
            wait = self._step()
        except PoolClosed:
            return _BUSY_S  # the index was replaced: the next turn reads the new one
        except _FAULTS as fault:
            if isinstance(fault, DAMAGED):
                self._note_damage()
            where = f"the vectors in {self._files.folder} cannot be used: " if isinstance(fault, apsw.Error) else ""
            self._fail(f"{where}{fault}", getattr(fault, "again_s", None))
            return self._again_at - time.monotonic()
        self._failures, self.fault = 0, None
        self._plugins.report(EMBEDDER, wanted[0].embedder, None)
        return wait

    def _step(self) -> float | None:
        generation = self._index.store.generation
        settings = self._settings()
        filling = self._filling(settings)
        if filling is None or filling.plugin != self._plugins.identity(EMBEDDER, settings.embedder):
            if not chunks_in(self._index.readers.current.readers) and not self._has_entries():
                self._unmade, self._looked = 0, generation
                return None
            filling = self._next = self._made(settings)
            self._use_former(filling)
        filling.follow(generation)
        if self._used is not None and self._used is not filling:
            self._used.follow(generation)
        self._looked = generation
        if self._remembers() and filling.entries.step():
            return 0.0
        assert filling.filler is not None
        if filling.filler.step():
            if self._used is None:
                self._used = filling
            return 0.0
        self._complete(filling)
        return self._rest(filling, generation)

    def _rest(self, filling: VectorSet, generation: int) -> float | None:
        """Do what is due while nothing waits. Return for how long to rest; None: until something changes."""
        if filling.outgrown:
            made, self._looked = self._made(filling.settings), -1
            self._next = made
            return 0.0
        now = time.monotonic()
        if generation != self._compared_at and now - self._compared >= COMPARE_S:
            filling.compare()
            self._compared, self._compared_at = now, generation
            if filling.pending:
                return 0.0
        rest = getattr(filling.embedder, "rest", None)
        if rest is not None and rest(IDLE_S):
            return 2 * IDLE_S
        return COMPARE_S if generation != self._compared_at else None

    def _complete(self, filling: VectorSet) -> None:
        """Use what is complete, and remove all other files."""
        if filling is not self._next:
            return
        former, self._used, self._next = self._used, filling, None
        if former is not None and former is not filling:
            self._forget(former)
        for path in others(self._files.folder, filling.store.path):
            vector_database.remove(path)
        log.info("vectors_complete", extra={"embedder": filling.settings.embedder, "chunks": filling.store.counts()[0]})

    def _made(self, settings: EmbeddingSettings) -> VectorSet:
        embedder = self._plugins.obtain_embedder(settings.embedder)
        plugin = self._plugins.identity(EMBEDDER, settings.embedder)
        return self._opened(embedder, settings, plugin)

    def _opened(self, embedder: Embedder, settings: EmbeddingSettings, plugin: str = "") -> VectorSet:
        made = VectorSet(self._files, embedder, settings, self._index.readers, self._roots.paths, plugin)
        made.store.index.on_fault = self._wake.set
        return made

    def _use_former(self, new: VectorSet) -> None:
        """Use the complete vectors of the embedder before, until the new ones are complete."""
        if new.store.complete or self._used is not None:
            return
        for path in others(self._files.folder, new.store.path):
            settings = former_settings(path)
            if settings is None:
                continue
            try:
                config = {**self._plugins.config_for(EMBEDDER, settings.embedder), "embedding": settings.as_dict()}
                embedder = self._plugins.embedder_with(settings.embedder, config)
                if _is_elsewhere(embedder, settings, new.settings):
                    continue
                former = self._opened(embedder, settings)
            except Exception as fault:  # whatever it is: searches compare words until the new ones are there
                log.info("former_vectors", extra={"reason": type(fault).__name__})
                continue
            if former.store.path == path:
                self._used = former
                return
            former.close()

    def _change(self, settings: EmbeddingSettings) -> None:
        """Begin with other settings. What is complete serves until the new is, unless there is to be none."""
        self._failures, self.fault = 0, None
        unfinished, self._next = self._next, None
        if unfinished is not None and unfinished is not self._used:
            self._forget(unfinished)
        self._plugins.used(EMBEDDER, [settings.embedder] if settings.embedder else [])
        used = self._used
        if not settings.embedder or (used is not None and _is_elsewhere(used.embedder, used.settings, settings)):
            self._drop_all()

    def _forget(self, one: VectorSet) -> None:
        """Close vectors that are neither used nor under construction any more."""
        self._embedded += one.embedded
        self._sent.update(_sent_by(one.embedder))
        one.close()

    def _drop_all(self) -> None:
        sets = self._sets()
        self._looked = -1  # first: what is pending is not known without them
        self._used = self._next = None
        for one in sets:
            self._forget(one)

    def _note_damage(self) -> None:
        """One of the files cannot be read; which one is not known."""
        for one in self._sets():
            one.store.index.damaged = True

    def _drop_lost(self) -> None:
        """Give up files that were damaged or removed: they are derived, and made again. One that another file took the
        place of is opened again."""
        losses = {one.store.path: loss for one in self._sets() if (loss := one.store.loss()) is not None}
        if losses:
            self._drop_all()
        for path, loss in losses.items():
            log.warning("vectors_lost", extra={"path": path, "loss": loss})
            if loss != "replaced":
                vector_database.remove(path)

    def _fail(self, reason: str, rest_s: float | None) -> None:
        """Rest before the next try: for ``rest_s``, what a gateway wants, and longer after each failure in a row."""
        pause = AGAIN_S[min(self._failures, len(AGAIN_S) - 1)]
        self._again_at = time.monotonic() + max(pause, rest_s or 0.0)
        self._failures += 1
        self.fault = reason
        self._plugins.report(EMBEDDER, self._settings().embedder, reason)
        if self._filling(self._settings()) is None:
            try:
                self._unmade = chunks_in(self._index.readers.current.readers)
                self._looked = self._index.store.generation
            except _FAULTS:
                self._unmade = max(1, self._unmade)

    def _sets(self) -> list[VectorSet]:
        """Return the vectors that searches use, and those under construction."""
        return list({id(one): one for one in (self._used, self._next) if one is not None}.values())

    def _filling(self, settings: EmbeddingSettings) -> VectorSet | None:
        """Return the vectors that are or were made with these settings; None if there are none yet."""
        filling = self._next or self._used
        return filling if filling is not None and filling.settings == settings else None

    def _is_busy(self) -> bool:
        """Whether a root is indexed for the first time, the index is being replaced, or bulk work waits for power."""
        indexing = any(root.present and not root.first_indexed for root in self._roots)
        return indexing or self._index.health.rebuilding or not self._may_run()

    def _remembers(self) -> bool:
        """Whether agent memory is in the built-in store: a plugin's ranks by itself."""
        return not self._config.config.knowledge.backend

    def _has_entries(self) -> bool:
        return self._remembers() and has_entries(self._files.memory)

    def _settings(self) -> EmbeddingSettings:
        return settings_of(self._config.config.effective)


def _sent_by(embedder: Embedder) -> dict[str, int]:
    """Return how many bytes an embedder sent, by host; nothing for one that sends none."""
    host = getattr(embedder, "host", None)
    return {} if host is None else {host: getattr(embedder, "bytes_sent", 0)}


def _is_elsewhere(embedder: Embedder, made_from: EmbeddingSettings, wanted: EmbeddingSettings) -> bool:
    """Whether an embedder sends texts to a gateway that is no longer configured."""
    is_same = (made_from.embedder, made_from.api_base) == (wanted.embedder, wanted.api_base)
    return not is_same and getattr(embedder, "host", None) is not None
