"""How far a long method has come, as ``$/progress`` says it.

Invariant: ``done`` is never more than ``total``; while more is found, both grow.
"""

from __future__ import annotations

from typing import Literal

from livedex_ipc.amount import Amount
from livedex_ipc.wire_results import ProgressValue


def progress_value(
    kind: Literal["begin", "report", "end"], done: Amount, total: Amount, path: str | None = None
) -> ProgressValue:
    """``path``: the file that was finished last."""
    files, size = max(total.files, done.files), max(total.size, done.size)
    share = 100 * done.size // size if size else 100 * done.files // files if files else 0
    return {
        "kind": kind,
        "message": f"{done.files} of {files} files",
        "percentage": 100 if kind == "end" else share,
        "done": done.files,
        "total": files,
        "done_bytes": done.size,
        "total_bytes": size,
        "path": path,
    }
