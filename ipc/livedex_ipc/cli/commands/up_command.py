"""``livedex up`` and ``livedex down``: starts the daemon and waits for the first index; stops the daemon.

``up`` returns once the first index is complete; ``down`` returns once the daemon has ended, and never starts one.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from livedex_ipc.amount import Amount
from livedex_ipc.cli.argument_values import wire_path
from livedex_ipc.cli.context import Context
from livedex_ipc.cli.process_end import has_ended
from livedex_ipc.cli.progress_bar import Progress
from livedex_ipc.client import WHO_S, Client, connect
from livedex_ipc.errors import NoDaemon, TimedOut, Unavailable

if TYPE_CHECKING:
    from livedex_ipc.wire_results import RootsResult, StatusResult, SyncResult

_POLL_S = 0.1
_ANSWER_S = 60.0
# After the first index: do not wait forever for a store that cannot be written or a file that keeps changing.
_STALLED_S = 30.0
BLOCKED_S = 5.0  # without progress while a warning says that the index cannot be written
_BLOCKING = ("disk_full", "store_busy", "backend_unavailable")
_STOP_S = 30.0
_FOREIGN_S = 1.0  # for what does not look like a daemon, although it says that it is one


def up(context: Context) -> int:
    """Add the command line's paths as roots, wait for the first index, print the status."""
    ignored = {"ignore": context.values["ignore"]} if "ignore" in context.values else {}
    folders: list[bytes] = context.values.get("paths", [])
    with context.connect() as client:
        advice: list[str] = []
        if folders:
            from livedex_ipc.cli.commands.up_advice import divided, why_empty

            with suppress(Unavailable):  # the daemon starts: to add a folder waits for that, advice need not
                before: RootsResult = client.call("roots/list", timeout_s=_ANSWER_S)
                advice += divided(folders, before["roots"])
        for path in folders:
            client.call("roots/add", {**ignored, **wire_path(path)}, timeout_s=_ANSWER_S)
        _first_index(context, client)
        status: StatusResult = client.call("status", timeout_s=_ANSWER_S)
        if folders and not context.streams.json:
            advice += why_empty(client, folders, status["roots"])
    for line in [] if context.streams.json else advice:
        context.streams.message(f"livedex: {line}")
    if not status["roots"]:
        context.streams.hint("livedex: no folder is watched yet: livedex up PATH")
    from livedex_ipc.cli.commands.status_command import show_status

    show_status(context.streams, status)
    return 0


def _first_index(context: Context, client: Client) -> None:
    """Wait until every root has its first index and later changes are in it. Raises TimedOut without progress.

    ``sync`` ends the wait, not a pending count of 0: while a program keeps writing, that count may never be seen.
    """
    moved: tuple[tuple[object, ...], float] = ((), 0.0)
    before: tuple[int, int] | None = None  # files and bytes that were done when the wait began
    with Progress(context.streams, "indexing") as progress:
        while True:
            status: StatusResult = client.call("status", timeout_s=_ANSWER_S)
            indexing = status["state"] == "starting" or any(root["state"] == "indexing" for root in status["roots"])
            if indexing:
                time.sleep(_POLL_S)
            elif _is_synced(client):
                return
            done, read = status["files"] + status["skipped"] + status["failed"], status["work"]["bytes_done"]
            before = before or (done, read)
            files, size = max(0, done - before[0]), read - before[1]
            progress.show(Amount(files, size), Amount(files + status["pending"], size + status["pending_bytes"]))
            figures = (indexing, done, status["pending"], *status["work"].values())
            cause = next((warning for warning in status["warnings"] if warning["code"] in _BLOCKING), None)
            if figures != moved[0] or (indexing and cause is None):
                moved = (figures, time.monotonic())
            elif cause is not None and time.monotonic() - moved[1] > BLOCKED_S:
                raise TimedOut(cause["message"], {"pending": status["pending"], "remedy": cause["remedy"]})
            elif time.monotonic() - moved[1] > _STALLED_S:
                raise TimedOut(
                    f"{status['pending']} changes are still pending, without progress for {_STALLED_S:.0f} s",
                    {"pending": status["pending"], "remedy": "livedex status"},
                )


def _is_synced(client: Client) -> bool:
    answer: SyncResult = client.call("sync", {"timeout_ms": int(_POLL_S * 1000)}, timeout_s=_ANSWER_S)
    return answer["synced"]


def down(context: Context) -> int:
    """Stop the daemon and wait until it has ended; do nothing if none runs. Raises TimedOut."""
    pid = stop_daemon()
    message = "no daemon was running\n" if pid is None else f"stopped the daemon (pid {pid})\n"
    context.show({}, lambda _: message)
    return 0


def stop_daemon() -> int | None:
    """Stop the daemon that runs, wait until it has ended, and return its pid; None if none ran. Raises TimedOut.

    One that does not answer, or has lost its socket, is ended by signals. Raises ForeignProgram if what answers is no
    daemon.
    """
    try:
        with connect(spawn=False) as client:
            (pid, may_be), foreign = _shut_down(client), client.stranger()
        ended = has_ended(pid, _STOP_S if may_be else _FOREIGN_S)
        if not may_be and not ended:
            raise foreign
    except (NoDaemon, TimedOut) as silence:
        from livedex_ipc.cli import silent_daemon
        from livedex_ipc.daemon_process import holder

        found = holder()
        if found is None:
            if isinstance(silence, NoDaemon):
                return None
            raise
        pid, ended = found, silent_daemon.end(found)
    if not ended:
        raise TimedOut(f"the daemon (pid {pid}) has not ended after {_STOP_S:.0f} s", {"pid": pid})
    return pid


def _shut_down(client: Client) -> tuple[int, bool]:
    """Ask the daemon to end; return its pid, and whether that process is a livedex daemon."""
    from livedex_ipc.daemon_process import is_daemon

    pid = client.who(WHO_S).get("pid")
    # Read before it ends: a process that ends has no command line a moment before it is gone.
    may_be = isinstance(pid, int) and is_daemon(pid)
    client.call("server/shutdown", timeout_s=WHO_S)
    client.refuse_nonsense()
    if not isinstance(pid, int):
        raise client.stranger()
    return pid, may_be
