"""``livedex watch``: prints the hits of a standing query and each change, until interrupted or the pipe is closed.

The printed events add up to the current hits: one change is printed as a whole, removed hits before added ones.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from livedex_ipc.cli.argument_values import wire_path, wire_paths
from livedex_ipc.cli.context import Context, deadline_s, print_state
from livedex_ipc.cli.streams import OutputClosedError, Streams
from livedex_ipc.client import Client
from livedex_ipc.errors import NoDaemon, Unavailable

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields, RemovedHit, SearchChanged, SubscribeResult

_FIRST_MS = 10_000  # for the first answer: it goes through all that the query matches


def watch(context: Context) -> int:
    """Print the query's current hits, then each change; ends only with an exception."""
    params = {"timeout_ms": _FIRST_MS, **_params(context.values)}
    streams = context.streams
    with context.connect() as client:
        answer: SubscribeResult[HitFields] = client.call(
            "search/subscribe", params, timeout_s=deadline_s(params, _FIRST_MS)
        )
        _show(streams, "current", answer["hits"], answer["generation"])
        streams.flush()
        print_state(streams, answer, answer["pending"], answer["warnings"])
        while True:
            change = _next_change(client)
            _show_removed(streams, change["removed"], change["generation"])
            _show(streams, "added", change["added"], change["generation"])
            streams.flush()


def _next_change(client: Client) -> SearchChanged[HitFields]:
    """Return the next change. Raises OutputClosedError if the pipe is closed, NoDaemon if the daemon has gone."""
    if not client.has_buffered:
        _wait(client)
    try:
        change: SearchChanged[HitFields] = client.notification()[1]
    except Unavailable as error:
        raise NoDaemon(f"{error.message}; run `livedex watch` again", error.data) from error
    return change


def _wait(client: Client) -> None:
    """Wait for a message of the daemon. Also notice a closed pipe at once, not only at the next change."""
    poll = select.poll()
    poll.register(client, select.POLLIN)
    if sys.stdout is not None:
        poll.register(sys.stdout, 0)
    if any(descriptor != client.fileno() for descriptor, _ in poll.poll()):
        raise OutputClosedError


def _show(streams: Streams, event: str, hits: Sequence[HitFields], generation: int) -> None:
    for hit in hits:
        if streams.json:
            streams.write_json({"event": event, "hit": hit, "generation": generation})
        else:
            from livedex_ipc.cli.render.watch_text import hit_event_text

            streams.write(hit_event_text(event, hit, colour=streams.out_colour))


def _show_removed(streams: Streams, hits: Sequence[RemovedHit], generation: int) -> None:
    for hit in hits:
        if streams.json:
            streams.write_json({"event": "removed", "hit": hit, "generation": generation})
        else:
            from livedex_ipc.cli.render.watch_text import removed_text

            streams.write(removed_text(hit, colour=streams.out_colour))


def _params(values: Mapping[str, Any]) -> dict[str, object]:
    params: dict[str, object] = {**values, "query": " ".join(values["query"])}
    if "path" in values:
        params.update(wire_path(values["path"]))
    if "roots" in values:
        del params["roots"]
        params.update(wire_paths(values["roots"], "roots"))
    return params
