"""``livedex index``, ``audit`` and ``sync``: indexes again, verifies the index, waits for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from livedex_ipc.cli.argument_values import wire_paths
from livedex_ipc.cli.context import Context, deadline_s
from livedex_ipc.cli.progress_bar import Progress
from livedex_ipc.constants import SYNC_TIMEOUT_MS
from livedex_ipc.errors import TimedOut

if TYPE_CHECKING:
    from livedex_ipc.wire_results import AuditResult, IndexRunResult, ProgressValue, SyncResult


def index(context: Context) -> int:
    """Index the command line's paths, or everything, and print the counts. Exit code 0 even if files failed."""
    with context.connect() as client, Progress(context.streams, "indexing") as progress:
        result: IndexRunResult = client.call("index/run", _params(context), on_progress=_shown(context, progress))

    def render(answer: IndexRunResult) -> str:
        from livedex_ipc.cli.render.files_text import index_lines

        return index_lines(answer)

    context.show(result, render)
    if not result["removed"]:
        context.name_missing(context.values.get("paths", ()))
    return 0


def audit(context: Context) -> int:
    """Compare the index with the disk; exit code 1 if they differ."""
    with context.connect() as client, Progress(context.streams, "reading every file") as progress:
        result: AuditResult = client.call("index/audit", _params(context), on_progress=_shown(context, progress))

    def render(answer: AuditResult) -> str:
        from livedex_ipc.cli.render.files_text import audit_lines

        return audit_lines(answer)

    context.show(result, render)
    if not result["differences"]:
        context.name_missing(context.values.get("paths", ()))
    return 1 if result["differences"] else 0


def sync(context: Context) -> int:
    """Wait until the index reflects every earlier write. Raises TimedOut if that takes too long."""
    params = context.values
    with context.connect() as client:
        result: SyncResult = client.call("sync", params, timeout_s=deadline_s(params, SYNC_TIMEOUT_MS))

    def render(answer: SyncResult) -> str:
        from livedex_ipc.cli.render.files_text import sync_lines

        return sync_lines(answer)

    if result["synced"] or context.streams.json:
        context.show(result, render)
    if not result["synced"]:
        context.streams.flush()
        message = f"the index is not up to date after {result['waited_ms']:.0f} ms: {result['pending']:,} pending"
        raise TimedOut(message, {"pending": result["pending"]})
    return 0


def _shown(context: Context, progress: Progress) -> Callable[[ProgressValue], None]:
    """Return what shows the progress: on the terminal, or with --json and --progress as an object a line."""
    if not (context.streams.json and context.values.get("progress")):
        return progress.report

    def write(value: ProgressValue) -> None:
        context.streams.write_json({"progress": value})
        context.streams.flush()

    return write


def _params(context: Context) -> Mapping[str, object]:
    params = {name: value for name, value in context.values.items() if name not in ("paths", "progress")}
    return {**params, **wire_paths(context.values.get("paths", []))}
