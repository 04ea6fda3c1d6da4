"""Counts what one ``index/run`` did, in files, and in bytes where they are read.

Invariant: every file that the run visited is counted once.
"""

from __future__ import annotations


class RunProgress:
    """The counts of one run. The worker's thread writes them; any thread reads them to show progress."""

    def __init__(self) -> None:
        self.scanned = self.indexed = self.unchanged = self.skipped = self.removed = 0
        self.failed: list[tuple[tuple[int, bytes], str, str]] = []  # root id and path, stage, message
        self.no_worker: str | None = None  # why no child could chunk a file, which waits therefore
        self.expected = self.expected_bytes = 0  # files to read and their size, as far as they are known
        self.read_bytes = 0  # of those that are finished
        self.last: tuple[int, bytes] | None = None  # the file that was finished last
