"""``livedex watch``: prints the hits of a standing query and each change, until interrupted or the pipe is closed.

The printed events add up to the current hits: one change is printed as a whole, removed hits before added ones.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from livedex_ipc.cli.commands.search_command import WHOLE_HIT, scope_params
from livedex_ipc.cli.context import Context, deadline_s
from livedex_ipc.cli.streams import OutputClosedError
from livedex_ipc.client import Client
from livedex_ipc.errors import NoDaemon, Unavailable

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields, RemovedHit, SearchChanged, SubscribeResult

_FIRST_MS = 10_000  # for the first answer: it goes through all that the query matches


def watch(context: Context) -> int:
    """Print the query's current hits, then each change; ends only with an exception."""
    params = {"timeout_ms": _FIRST_MS, **_params(context.values)}
    streams = context.streams
    show = _show_json if streams.json else _show_text
    with context.connect() as client:
        answer: SubscribeResult[HitFields] = client.call(
            "search/subscribe", params, timeout_s=deadline_s(params, _FIRST_MS)
        )
        show(context, "current", answer["hits"], answer["generation"])
        if streams.json and "reason" in answer:
            streams.write_json({"event": "not_fresh", "reason": answer["reason"], "generation": answer["generation"]})
        streams.flush()
        context.print_state(answer, answer["pending"], answer["warnings"])
        while True:
            change = _next_change(client)
            show(context, "removed", change["removed"], change["generation"])
            show(context, "added", change["added"], change["generation"])
            if change.get("fresh"):
                _show_fresh(context, change["generation"])
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


def _show_fresh(context: Context, generation: int) -> None:
    if context.streams.json:
        context.streams.write_json({"event": "fresh", "generation": generation})
    else:
        context.streams.message("livedex: fresh now")


def _show_json(context: Context, event: str, hits: Sequence[HitFields | RemovedHit], generation: int) -> None:
    for hit in hits:
        context.streams.write_json({"event": event, "hit": hit, "generation": generation})


def _show_text(context: Context, event: str, hits: Sequence[Any], generation: int) -> None:
    from livedex_ipc.cli.render.watch_text import hit_event_text, removed_text

    view = context.view()
    for hit in hits:
        context.streams.write(removed_text(hit, view) if event == "removed" else hit_event_text(event, hit, view))


def _params(values: Mapping[str, Any]) -> dict[str, object]:
    params = {**scope_params(values), "query": " ".join(values["query"])}
    if values.get("form") == "full":
        params.setdefault("max_snippet_chars", WHOLE_HIT)
    return params
