"""What becomes of a file that was submitted to be read: a job for a child process, or the final outcome.

Invariant: plain data; an outcome names its work, so that the worker can match it with what it submitted.
"""

from __future__ import annotations

import errno
import time
from typing import NamedTuple

import apsw
import msgspec

from livedex_daemon.watch.backlog import SETTLE_S
from livedex_daemon.write.walk import Work
from livedex_indexing.chunk.chunk_plan import ChunkSettings, Plan
from livedex_indexing.model import ChunkedContent, DocumentText, Stat


class Gone(NamedTuple):
    """The path no longer exists."""


class Hidden(NamedTuple):
    """A folder above the path denies access. That folder has a row that says so; nothing in it has one."""


class Unsettled(NamedTuple):
    """The file changed while it was read."""


class Unreadable(NamedTuple):
    """The system could not read the file, which is there."""

    errno: int


class Skipped(NamedTuple):
    reason: str


class NoWorker(NamedTuple):
    """No child can chunk anything here: the installation is broken, not the file."""

    reason: str


class Failed(NamedTuple):
    """``stage``: ``read``, ``chunk``, ``parse``, ``denied`` or ``quarantined``; the last two need no message."""

    stage: str
    message: str


def result_of(error: BaseException) -> Unreadable | Failed:
    """Return what an unexpected error says of the file that was being read: of a lack of memory, nothing."""
    if isinstance(error, MemoryError | apsw.NoMemError):
        return Unreadable(errno.ENOMEM)
    return Failed("read", type(error).__name__)


class Waiting(NamedTuple):
    """A document that its parser must convert first. ``parser`` is its name, ``suffix`` decides its format."""

    parser: str
    suffix: str


class Known(NamedTuple):
    """The index has this content already."""


Result = ChunkedContent | Known | Gone | Hidden | Unsettled | Unreadable | Skipped | NoWorker | Failed | Waiting


class Outcome(NamedTuple):
    work: Work
    result: Result
    stat: Stat | None = None
    content_hash: bytes | None = None
    plan: Plan | None = None

    def is_being_saved(self) -> bool:
        """Return True when a file with content became missing or empty so recently that an editor may be saving it."""
        work, stat = self.work, self.stat
        if work.row is None or work.cancelled:
            return False
        if stat is None:
            return isinstance(self.result, Gone)
        return stat.size == 0 < work.row.state.size and 0 <= time.time() - stat.ctime_ns / 1e9 < SETTLE_S


class Job(NamedTuple):
    """A file that was read and must be chunked. ``document``: what a parser made of it; its text is the ``data``."""

    work: Work
    stat: Stat
    content_hash: bytes
    plan: Plan
    settings: ChunkSettings  # that chose the plan; the policy may have changed by the time the file is chunked
    data: bytes
    plugin_fault: str | None = None  # why the plugin of the plan is not tried any more
    document: DocumentText | None = None

    def without_plugin(self, reason: str) -> Job:
        """Return the job for the built-in pipeline: with the plugin's, the child ended."""
        settings = msgspec.structs.replace(self.settings, plugins={})
        return self._replace(settings=settings, plugin_fault=f"its process ended: {reason}")

    def outcome(self, result: Result) -> Outcome:
        if self.document is not None and isinstance(result, ChunkedContent):
            result = msgspec.structs.replace(result, document=self.document)
        return Outcome(self.work, result, self.stat, self.content_hash, self.plan)
