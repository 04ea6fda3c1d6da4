"""``livedex index``, ``audit`` and ``sync``: indexes again, verifies the index, waits for it."""

from __future__ import annotations

from typing import Any

from livedex_ipc.cli.argument_values import wire_paths
from livedex_ipc.cli.context import Context, deadline_s
from livedex_ipc.cli.progress_bar import Progress
from livedex_ipc.constants import SYNC_TIMEOUT_MS
from livedex_ipc.errors import TimedOut


def index(context: Context) -> int:
    """Index the command line's paths, or everything, and print the counts. Exit code 0 even if files failed."""
    with context.connect() as client, Progress(context.streams, "indexing") as progress:
        result = client.call("index/run", _params(context), on_progress=progress.report)
    context.show(result, lambda answer: _lines("index_lines", answer))
    return 0


def audit(context: Context) -> int:
    """Compare the index with the disk; exit code 1 if they differ."""
    with context.connect() as client, Progress(context.streams, "reading every file"):
        result = client.call("index/audit", _params(context))
    context.show(result, lambda answer: _lines("audit_lines", answer))
    return 1 if result["differences"] else 0


def sync(context: Context) -> int:
    """Wait until the index reflects every earlier write. Raises TimedOut if that takes too long."""
    params = context.values
    with context.connect() as client:
        result = client.call("sync", params, timeout_s=deadline_s(params, SYNC_TIMEOUT_MS))
    context.show(result, lambda answer: _lines("sync_lines", answer))
    if not result["synced"]:
        context.streams.flush()
        raise TimedOut(f"the index is not up to date yet: {result['pending']} pending", {"pending": result["pending"]})
    return 0


def _params(context: Context) -> dict[str, Any]:
    params = {name: value for name, value in context.values.items() if name != "paths"}
    return {**params, **wire_paths(context.values.get("paths", []))}


def _lines(name: str, answer: dict[str, Any]) -> str:
    from livedex_ipc.cli.render import files_text

    text: str = getattr(files_text, name)(answer)
    return text
