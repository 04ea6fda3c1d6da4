"""Tells a page that what it shows has changed: standing queries of the daemon, a line of JSON for each change.

Invariant: the standing queries end with the stream, and the stream ends with its client or with the daemon.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence

from livedex_ipc.async_client import AsyncClient
from livedex_ipc.errors import LivedexError

MOST_SEARCHES = 8
# The page gets the hits by a search of its own, in their order.
_NO_HITS = {"limit": 1, "max_snippet_chars": 1, "timeout_ms": 20_000}


async def change_lines(
    connect: Callable[[], Awaitable[AsyncClient]], searches: Sequence[Mapping[str, object]]
) -> AsyncGenerator[bytes, None]:
    """Yield ``{"following": true}`` once the searches are followed, then ``{"added", "removed"}``: numbers of hits.

    The last line is ``{"error"}``.
    """
    try:
        async with await connect() as client:
            for params in searches:
                await client.call("search/subscribe", {**params, **_NO_HITS})
            yield _line(following=True)
            while True:
                _method, change = await client.notification()
                yield _line(added=len(change["added"]), removed=len(change["removed"]))
    except LivedexError as error:
        yield _line(error=error.to_wire())


def _line(**fields: object) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
