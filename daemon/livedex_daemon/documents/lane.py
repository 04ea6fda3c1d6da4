"""The lanes of the slow work: each claims a conversion, has a child do it, and hands the text to the writing thread.

Invariant: a document that uses up its worker costs its neighbours at most one slot: its second try comes after theirs,
and there is no third. No lane blocks the end of the daemon.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from livedex_daemon.documents.conversion_log import ConversionLog, Task
from livedex_daemon.documents.conversions import Conversions, Document, ParseFailed, Result
from livedex_daemon.precious.precious_database import DatabaseUnusable
from livedex_daemon.process.supervision import SupervisedThread
from livedex_daemon.watch.backlog import Backlog, Mark
from livedex_indexing.disk import tree
from livedex_indexing.model import DocumentText
from livedex_indexing.parse.parse_process import Converted, Failure, NoParser, Request, convert
from livedex_ipc.errors import Unavailable

log = logging.getLogger(__name__)

TRIES: Final = 2  # workers that a document may use up
LEASE_GRACE_S: Final = 90  # over the time of a conversion: for the start of a child and the reading of the file
REST_S: Final = 5.0  # after a child could not be started, or a topic that others write to is full
LOOK_S: Final = 1.0  # while a document waits that no message asks for
READ_BYTES: Final = 1 << 30


class ParseSettings(NamedTuple):
    """``owner``, ``plugins`` and ``plugin_config``: what a child needs to load a plugin's parser."""

    timeout_s: float
    owner: str = ""
    plugins: tuple[str, ...] = ()
    plugin_config: Mapping[str, object] = MappingProxyType({})


class LaneTools(NamedTuple):
    """``settings`` (of a parser's name) and ``may_run`` are asked before each conversion. Copies lie in ``folder``."""

    conversions: Conversions
    backlog: Backlog
    settings: Callable[[str], ParseSettings]
    may_run: Callable[[], bool]
    folder: str


class Lane:
    """One thread that converts one document at a time."""

    def __init__(self, number: int, tools: LaneTools, messages: ConversionLog) -> None:
        self.fault: str | None = None  # why no document can be converted now; None: one can
        self._conversions, self._backlog, self._settings, self._may_run, self._folder = tools
        self._messages = messages
        self._stopping = False
        self._seen = 0  # the version of the conversions at the last look
        self.thread = SupervisedThread(f"documents-{number}", self._run)

    def start(self) -> None:
        self.thread.start()

    def stop(self, timeout_s: float) -> None:
        """Convert nothing more. A child under way is killed by the caller, which ends its conversion."""
        self._stopping = True
        with self._conversions.changed:
            self._conversions.changed.notify_all()
        self.thread.end(timeout_s)

    def _run(self) -> None:
        try:
            while not self._stopping:
                if not self._step():
                    self._wait()
        finally:
            self._messages.close()

    def _wait(self) -> None:
        conversions = self._conversions
        with conversions.changed:
            if not self._stopping and conversions.version == self._seen:
                conversions.changed.wait(LOOK_S if conversions.needs_lane() else None)

    def _step(self) -> bool:
        """Convert one document. Return False if there is nothing to do now."""
        conversions = self._conversions
        self._seen = conversions.version
        if not conversions.needs_lane() or not conversions.may_begin() or not self._may_run():
            return False
        try:
            task = self._next()
        except DatabaseUnusable as error:
            log.warning("documents_without_exchange", extra={"error": type(error).__name__})
            content = conversions.next_without_message()
            task = None if content is None else Task(content)
        except Unavailable as error:  # the topic is full of what others published
            log.warning("documents_wait", extra={"error": error.message})
            self.fault = error.message
            return False
        if task is None:
            return False
        self._serve(task)
        return True

    def _next(self) -> Task | None:
        for content, parser in self._conversions.unpublished():
            try:
                self._messages.publish(content, parser)
            except Unavailable:
                self._conversions.publish_again(content)
                raise
        published = self._conversions.published
        task = self._messages.claim(int(self._settings("").timeout_s) + LEASE_GRACE_S)
        if task is None and self._messages.is_empty():
            self._conversions.publish_again(unless_since=published)
        return task

    def _serve(self, task: Task) -> None:
        waiting = self._conversions.begin(task.content)
        if not waiting:  # converted meanwhile, or left over from a former run
            self._end_claim(task, "completed")
            return
        result: Result | None = None
        again = is_failed = False
        try:
            found = self._attempt(task, waiting)
            self.fault = None
            if isinstance(found, Failure) and found.is_exhausted and not self._stopping:
                again = task.claim is not None and task.tries + 1 < TRIES
                is_failed = True
            if not again:
                result = _result_of(found, waiting[0].parser)
        except NoParser as error:
            self.fault = str(error)
            log.warning("no_parser", extra={"reason": str(error)})
            self._conversions.end(task.content, None)
            self._end_claim(task, "failed")
            self._rest()
            return
        if self._stopping:
            self._conversions.end(task.content, None)
            return  # the claim runs out; the next daemon asks again
        for document in self._conversions.end(task.content, result, again=again):
            if not again:
                self._backlog.mark(document.key, Mark(now=True, force=document.force))
        self._end_claim(task, "failed" if is_failed or isinstance(found, Failure) else "completed", again=again)

    def _attempt(self, task: Task, waiting: list[Document]) -> Converted | Failure | None:
        """Convert the content of the first path that still has it; None if none has. Raises NoParser."""
        for document in waiting:
            try:
                data = tree.read_file(document.root.path, document.path, READ_BYTES).data
            except tree.TreeError:
                continue
            if hashlib.blake2b(data, digest_size=16).digest() == task.content[0]:
                settings = self._settings(document.parser)
                own = settings.owner, settings.plugins, settings.plugin_config
                request = Request(data, document.suffix, document.parser, settings.timeout_s, self._folder, *own)
                return convert(request)
        return None

    def _rest(self) -> None:
        until = time.monotonic() + REST_S
        with self._conversions.changed:
            self._conversions.changed.wait_for(lambda: self._stopping or time.monotonic() >= until, REST_S)
        self._conversions.publish_again()

    def _end_claim(self, task: Task, status: str, *, again: bool = False) -> None:
        try:
            self._messages.end(task, status, again=again)
        except DatabaseUnusable as error:
            log.warning("conversion_not_noted", extra={"error": type(error).__name__})


def _result_of(found: Converted | Failure | None, parser: str) -> Result | None:
    if found is None:
        return None
    if isinstance(found, Converted):
        return DocumentText(parser, found.text, found.pages)
    if found.is_exhausted:
        return ParseFailed("quarantined", f"parse: {found.message}, twice")
    return ParseFailed("parse", found.message)
