"""Count the outcomes of a run, so that its caller learns what became of the files.

Invariant: it only counts; each stored outcome is counted once. Runs on the worker's thread only.
"""

from __future__ import annotations

import os

from livedex_daemon.write.outcomes import Failed, Gone, Known, NoWorker, Outcome, Skipped, Unreadable, Unsettled
from livedex_indexing.model import ChunkedContent


def count_outcome(outcome: Outcome) -> None:
    """Add a file's outcome to the progress of the run that it belongs to."""
    work, progress = outcome.work, outcome.work.entry.progress
    if progress is None:
        return
    progress.last = work.key
    progress.read_bytes += work.size
    result = outcome.result
    if isinstance(result, Known) and work.row is not None and work.row.content_hash == outcome.content_hash:
        progress.unchanged += 1
    elif isinstance(result, ChunkedContent | Known):
        progress.indexed += 1
    elif isinstance(result, Skipped):
        progress.skipped += 1
    elif isinstance(result, Unreadable):
        progress.failed.append((work.key, "read", os.strerror(result.errno)))
    elif isinstance(result, Failed):
        progress.failed.append((work.key, result.stage, result.message))
    elif isinstance(result, Unsettled):
        progress.failed.append((work.key, "unsettled", ""))
    elif isinstance(result, NoWorker):
        progress.no_worker = result.reason
    elif isinstance(result, Gone):
        progress.removed += 1
