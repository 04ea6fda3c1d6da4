"""Which files the pipelines of plugins could not cut, and why: the built-in ones cut them instead.

Invariant: a fault lasts until its file is cut as asked, leaves that pipeline, or other plugins are loaded.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

from livedex_daemon.watch.backlog import Key

_REMEMBERED = 1000  # files of one pipeline


class PipelineFault(NamedTuple):
    """``reason`` is that of the newest of the ``files``."""

    pipeline: str
    reason: str
    files: int


class PipelineFaults:
    """For the threads of the pool and whoever reports."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: dict[str, dict[Key, str]] = {}

    def note(self, pipeline: str, key: Key, reason: str | None) -> None:
        """Note what became of a file; None: it was cut."""
        with self._lock:
            files = self._failed.setdefault(pipeline, {})
            files.pop(key, None)
            if reason is not None and len(files) < _REMEMBERED:
                files[key] = reason

    def forget(self) -> None:
        with self._lock:
            self._failed.clear()

    def faults(self) -> list[PipelineFault]:
        with self._lock:
            return [
                PipelineFault(name, next(reversed(files.values())), len(files))
                for name, files in sorted(self._failed.items())
                if files
            ]
