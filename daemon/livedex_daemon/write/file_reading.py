"""Read one file and decide what becomes of it: chunk its bytes, or an outcome that needs no child process.

Invariant: it never raises; whatever goes wrong with a file is that file's outcome.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable

from livedex_daemon.documents.conversions import Conversions
from livedex_daemon.write.crashes import Crashes
from livedex_daemon.write.outcomes import (
    Failed,
    Gone,
    Hidden,
    Job,
    Known,
    Outcome,
    Skipped,
    Unreadable,
    Unsettled,
    Waiting,
    result_of,
)
from livedex_daemon.write.policy import Policy
from livedex_daemon.write.second_look import is_hidden
from livedex_daemon.write.walk import Work
from livedex_indexing.child.code_version import failure_signature
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings, Plan
from livedex_indexing.disk import tree
from livedex_indexing.model import DocumentText, Stat
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.text import decoder

log = logging.getLogger(__name__)

HEAD_BYTES = 8192  # examined to tell text from binary and to find a shebang
AVOIDED = "the daemon crashed several times while it read the file"


class FileReader:
    """Call from any thread. ``files_read``: how many files' bytes were read."""

    def __init__(
        self,
        known: Callable[[bytes, bytes], bool],
        forgotten: ForgottenFiles,
        crashes: Crashes | None = None,
        conversions: Conversions | None = None,
    ) -> None:
        """``known(content_hash, signature)``: whether the index has the content already."""
        self._conversions = Conversions() if conversions is None else conversions
        self.files_read = 0
        self._known = known
        self._forgotten = forgotten
        self._crashes = crashes

    def classify(self, work: Work, policy: Policy) -> Outcome | Job:
        """Read one file, unless the daemon crashed on it several times."""
        work.read_at = time.time()
        try:
            if self._crashes is None:
                return self._read(work, policy)
            path = work.root.absolute(work.path)
            if path in self._crashes.avoided and not work.force:
                return Outcome(work, Failed("quarantined", AVOIDED), tree.stat(work.root.path, work.path))
            with self._crashes.reading(path):
                return self._read(work, policy)
        except Exception as error:  # one file must never end the thread that all other files need
            result = result_of(error)
            if isinstance(result, Failed):
                log.exception("read_failed")
            return Outcome(work, result)

    def _read(self, work: Work, policy: Policy) -> Outcome | Job:
        if work.cancelled:
            return Outcome(work, Gone())
        try:
            snapshot = tree.read_file(work.root.path, work.path, policy.max_file_size)
        except tree.Vanished:
            return Outcome(work, Gone())
        except tree.Denied:
            return Outcome(work, Hidden() if is_hidden(work.root, work.path) else Failed("denied", ""))
        except tree.Unsettled:
            return Outcome(work, Unsettled())
        except tree.TooLarge as fault:
            return Outcome(work, Skipped("too_large"), fault.stat)
        except tree.NotRegular as fault:
            if fault.kind == "folder":  # no file is there; the folder is an entry of its own
                return Outcome(work, Gone())
            return Outcome(work, Skipped("symlink" if fault.kind == "symlink" else "special"))
        except tree.ReadFailed as fault:
            return Outcome(work, Unreadable(fault.errno))
        self.files_read += 1
        return self._decide(work, snapshot, policy)

    def _decide(self, work: Work, snapshot: tree.Snapshot, policy: Policy) -> Outcome | Job:
        """Return a job to chunk, or the outcome when no chunking is needed."""
        data, stat = snapshot
        head = data[:HEAD_BYTES]
        content_hash = hashlib.blake2b(data, digest_size=16).digest()
        if not work.force and self._forgotten.is_forgotten(work.root.path, work.path, content_hash):
            return Outcome(work, Skipped("forgotten"), stat, content_hash)
        settings = policy.settings_of(work.root.path, work.path)
        chosen = chunk_plan.choose(work.path.rpartition(b"/")[2], head, settings)
        if chosen.parser is not None:
            return self._document(work, stat, content_hash, chosen, settings)
        if decoder.is_binary(head):
            return Outcome(work, Skipped("binary"), stat, content_hash)
        quarantined = None if work.force else _quarantined(work, content_hash, chosen)
        if quarantined is not None:
            return Outcome(work, quarantined, stat, content_hash, chosen)
        if not work.force and self._known(content_hash, chosen.signature):
            return Outcome(work, Known(), stat, content_hash, chosen)
        return Job(work, stat, content_hash, chosen, settings, data)

    def _document(
        self, work: Work, stat: Stat, content_hash: bytes, chosen: Plan, settings: ChunkSettings
    ) -> Outcome | Job:
        """Return a job to chunk what a parser has made of the document, or the outcome."""
        result = self._conversions.result((content_hash, chosen.signature))
        if isinstance(result, DocumentText):
            return Job(work, stat, content_hash, chosen, settings, result.text, document=result)
        if result is not None:
            return Outcome(work, Failed(*result), stat, content_hash, chosen)
        failed = None if work.force else _quarantined(work, content_hash, chosen, ("parse", "quarantined"))
        if failed is not None:
            return Outcome(work, failed, stat, content_hash, chosen)
        if not work.force and self._known(content_hash, chosen.signature):
            return Outcome(work, Known(), stat, content_hash, chosen)
        suffix = chunk_plan.suffix_of(work.path.rpartition(b"/")[2], settings)
        return Outcome(work, Waiting(chosen.parser or "", suffix), stat, content_hash, chosen)


def _quarantined(
    work: Work, content_hash: bytes, chosen: Plan, stages: tuple[str, ...] = ("quarantined",)
) -> Failed | None:
    """Return the failure, in one of these stages, of a file whose content is unchanged since; None for any other.

    The verdict of another version of livedex, or about another plan, is void: the file is tried again.
    """
    row = work.row
    if row is None or row.status != "failed" or row.content_hash != content_hash:
        return None
    if row.signature != failure_signature(chosen.signature):
        return None
    stage, _, message = (row.reason or "").partition(": ")
    return Failed(stage, message) if stage in stages else None
