"""``livedex status``: shows what is indexed, pending and failing, once or as it changes; ``livedex socket``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from livedex_ipc.cli.context import Context
from livedex_ipc.cli.streams import Streams
from livedex_ipc.client import Client

if TYPE_CHECKING:
    from livedex_ipc.wire_results import StatusResult

_POLL_S = 0.5
_ANSWER_S = 60.0


def status(context: Context) -> int:
    """Print the status; with --watch, again whenever it changes, until interrupted or the pipe is closed."""
    with context.connect() as client:
        if context.values.get("watch"):
            _watch(context.streams, client)
        show_status(context.streams, client.call("status", timeout_s=_ANSWER_S))
    return 0


def socket(context: Context) -> int:
    """Print the socket's path, with a daemon behind it."""
    from livedex_ipc.paths import socket_path

    with context.connect():
        context.show({"socket": socket_path()}, lambda result: result["socket"] + "\n")
    return 0


def show_status(streams: Streams, answer: StatusResult) -> None:
    """Print one status."""
    if streams.json:
        streams.write_json(answer)
    else:
        from livedex_ipc.cli.render.status_text import status_text

        streams.write(status_text(answer, colour=streams.out_colour))


def _watch(streams: Streams, client: Client) -> None:
    """Print each new status until an exception: OutputClosedError, KeyboardInterrupt or the connection's error."""
    if not streams.json and streams.out_is_terminal and streams.can_animate:
        from livedex_ipc.cli.progress_bar import live_status

        live_status(streams, lambda: client.call("status", timeout_s=_ANSWER_S), _POLL_S)
    last: dict[str, object] | None = None
    while True:
        answer: StatusResult = client.call("status", timeout_s=_ANSWER_S)
        # A changed uptime alone is not printed.
        news = {name: value for name, value in answer.items() if name != "uptime_s"}
        if news != last:
            last = news
            show_status(streams, answer)
            streams.flush()
        time.sleep(_POLL_S)
